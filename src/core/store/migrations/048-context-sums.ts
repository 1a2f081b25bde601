/** What questions about long contexts and long lists start from: sums up to some commits, and where answers begin. Derived. */
export const contextSums = /* sql */ `
-- The entries, tokens and measures of the context of a commit, as JSON. Every 64th commit of a conversation has them (usage/context-sums.ts).
CREATE TABLE usageContext (
  context INTEGER PRIMARY KEY,
  -- The rules by which it was measured.
  version INTEGER NOT NULL,
  data    TEXT NOT NULL
);

-- What the list of fillers needs of the entries of a delta, as JSON, compressed if it is long. Derived from the object (usage/filler-facts.ts).
CREATE TABLE usageFiller (
  artifact INTEGER NOT NULL,
  format   TEXT NOT NULL,
  -- The rules by which it was made.
  version  INTEGER NOT NULL,
  data     TEXT NOT NULL,
  PRIMARY KEY (artifact, format)
) WITHOUT ROWID;

-- Where the answer of a call begins, for calls without a record of their own (requests/rebuild/stored-answers.ts).
CREATE TABLE usageAnswer (
  project  INTEGER NOT NULL,
  at       INTEGER NOT NULL,
  context  INTEGER NOT NULL,
  -- The number of the entry in the commit's delta; -1 for a commit whose content could not be read.
  place    INTEGER NOT NULL,
  -- The agent's record of the answer.
  record   TEXT NOT NULL,
  -- The messages that were sent for it, and whether the whole context is of one format.
  messages INTEGER NOT NULL,
  isPure   INTEGER NOT NULL,
  PRIMARY KEY (project, at, context, place)
) WITHOUT ROWID;
`;
