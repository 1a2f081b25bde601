/** Replicas. */
export const tiers = /* sql */ `
-- Replicas of the project: where they are, without credentials.
CREATE TABLE tier (
  project INTEGER NOT NULL,
  name    TEXT NOT NULL,
  -- Kind, place and which objects it takes, as JSON.
  place   TEXT NOT NULL,
  PRIMARY KEY (project, name)
) WITHOUT ROWID;
`;
