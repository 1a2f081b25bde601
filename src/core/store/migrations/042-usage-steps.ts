/** Calls that a provider makes in steps, and the totals that agents write. Derived from commits, so that the calls are read again. */
export const usageSteps = /* sql */ `
-- The input of the last step of a call whose counts are those of several steps; null for any other call.
ALTER TABLE usageCall ADD COLUMN windowTokens INTEGER;

-- What an agent wrote as the sum of a session's calls of a model, the latest of each. An empty model stands for all of them.
CREATE TABLE usageTotal (
  project    INTEGER NOT NULL,
  session    TEXT NOT NULL,
  model      TEXT NOT NULL,
  -- The commit that contains the record. Calls in later commits are not in the total.
  context    INTEGER NOT NULL,
  input      INTEGER,
  cacheRead  INTEGER,
  cacheWrite INTEGER,
  output     INTEGER,
  cost       REAL,
  PRIMARY KEY (project, session, model)
) WITHOUT ROWID;
`;
