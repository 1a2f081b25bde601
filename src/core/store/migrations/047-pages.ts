/** What pages of long lists are found by: sums of runs for the graph, and calls by time. All derived. */
export const pages = /* sql */ `
-- The commits of a run with the same session, as sums: a graph finds the runs of a page without reading all commits. Filled on demand (chain/families.ts).
CREATE TABLE runSum (
  project   INTEGER NOT NULL,
  run       INTEGER NOT NULL,
  -- Empty for commits of no session.
  sessionId TEXT NOT NULL,
  commits   INTEGER NOT NULL,
  -- Commits that were made by a fork in Stemma.
  forks     INTEGER NOT NULL,
  -- The last commit in recorded order, and the times of the earliest and the latest.
  last      INTEGER NOT NULL,
  oldest    INTEGER NOT NULL,
  newest    INTEGER NOT NULL,
  PRIMARY KEY (project, run, sessionId)
) WITHOUT ROWID;

-- What the entries of a delta measure, by kind of content. Derived from the object (usage/delta-measures.ts).
CREATE TABLE usageMeasure (
  artifact INTEGER NOT NULL,
  format   TEXT NOT NULL,
  -- The rules by which it was measured.
  version  INTEGER NOT NULL,
  data     TEXT NOT NULL,
  PRIMARY KEY (artifact, format)
) WITHOUT ROWID;

-- Forks are few.
CREATE INDEX contextForked ON context(project) WHERE forked = 1;
CREATE INDEX usageCallTime ON usageCall(project, at, context, no);
`;
