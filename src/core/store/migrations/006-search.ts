/** Full-text index over entries. Built outside of commits; it can be rebuilt from the chain at any time. */
export const search = /* sql */ `
-- Maps the rowid of indexed words to an entry of a commit.
CREATE TABLE searchEntry (
  no      INTEGER PRIMARY KEY,
  project INTEGER NOT NULL,
  context INTEGER NOT NULL REFERENCES context(seq),
  place   INTEGER NOT NULL,
  kind    TEXT NOT NULL
);

-- Commits up to this one are indexed.
CREATE TABLE searchState (
  project INTEGER PRIMARY KEY,
  upTo    INTEGER NOT NULL
);

CREATE VIRTUAL TABLE searchWords USING fts5(words, content='', tokenize="unicode61 remove_diacritics 2 tokenchars '_'");
`;
