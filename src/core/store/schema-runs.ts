/** Turns that Stemma itself had a model answer: what was asked, so that it can be built again and proved. */
export const modelRuns = /* sql */ `
CREATE TABLE modelRun (
  -- The commit that holds the reply.
  context  INTEGER PRIMARY KEY REFERENCES context(seq),
  project  INTEGER NOT NULL,
  base     INTEGER NOT NULL REFERENCES context(seq),
  -- The turn that was run again.
  turn     INTEGER REFERENCES context(seq),
  provider TEXT NOT NULL,
  wire     TEXT NOT NULL,
  model    TEXT NOT NULL,
  -- The recorded call whose very messages were sent first.
  likeCall TEXT,
  -- All of the body but its messages, as JSON.
  shape    INTEGER NOT NULL REFERENCES artifact(no),
  -- [{digest, replies, messages, at, ms, tokens, cost, stop}] as JSON.
  calls    TEXT NOT NULL
);
CREATE INDEX modelRunTurn ON modelRun(turn) WHERE turn IS NOT NULL;
`;
