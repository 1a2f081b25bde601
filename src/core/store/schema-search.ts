/** Full text over entries: built off the commit path, made again from the chain at any time. */
export const search = /* sql */ `
-- The rowid of an entry's words: commit by commit, entry by entry.
CREATE TABLE searchEntry (
  no      INTEGER PRIMARY KEY,
  project INTEGER NOT NULL,
  context INTEGER NOT NULL REFERENCES context(seq),
  place   INTEGER NOT NULL,
  kind    TEXT NOT NULL
);

-- Commits up to this one are in the index.
CREATE TABLE searchState (
  project INTEGER PRIMARY KEY,
  upTo    INTEGER NOT NULL
);

CREATE VIRTUAL TABLE searchWords USING fts5(words, content='', tokenize="unicode61 remove_diacritics 2 tokenchars '_'");
`;

/** Words are gathered in memory up to so many bytes before they are sorted in: the usual megabyte is sorted in eight times as often. */
export const searchRoom = /* sql */ `
INSERT INTO searchWords (searchWords, rank) VALUES ('hashsize', 8388608);
`;
