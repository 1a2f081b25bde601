/** Turns that a model answered for Stemma itself, with everything needed to rebuild and verify the calls. */
export const modelRuns = /* sql */ `
CREATE TABLE modelRun (
  -- The commit that holds the reply.
  context  INTEGER PRIMARY KEY REFERENCES context(seq),
  project  INTEGER NOT NULL,
  base     INTEGER NOT NULL REFERENCES context(seq),
  -- The turn that was rerun.
  turn     INTEGER REFERENCES context(seq),
  provider TEXT NOT NULL,
  wire     TEXT NOT NULL,
  model    TEXT NOT NULL,
  -- The recorded call whose messages were sent first.
  likeCall TEXT,
  -- The request body without its messages, as JSON.
  shape    INTEGER NOT NULL REFERENCES artifact(no),
  -- [{digest, replies, messages, at, ms, tokens, cost, stop}] as JSON.
  calls    TEXT NOT NULL
);
CREATE INDEX modelRunTurn ON modelRun(turn) WHERE turn IS NOT NULL;
`;
