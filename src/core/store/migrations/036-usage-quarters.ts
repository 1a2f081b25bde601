/** Sums of usage in two orders: by session, and by time. All of them are derived from `usageCall`. */
export const usageQuarters = /* sql */ `
-- Sums of calls by quarter of an hour, the finest step in which time zones differ.
CREATE TABLE usageQuarter (
  project    INTEGER NOT NULL,
  quarter    INTEGER NOT NULL,
  session    TEXT NOT NULL,
  agent      TEXT NOT NULL,
  subagent   TEXT NOT NULL,
  model      TEXT NOT NULL,
  calls      INTEGER NOT NULL,
  input      INTEGER NOT NULL,
  cacheRead  INTEGER NOT NULL,
  cacheWrite INTEGER NOT NULL,
  output     INTEGER NOT NULL,
  -- The number of calls with an output count, and with a price.
  outputs    INTEGER NOT NULL,
  priced     INTEGER NOT NULL,
  cost       REAL NOT NULL,
  PRIMARY KEY (project, quarter, session, agent, subagent, model)
) WITHOUT ROWID;
INSERT INTO usageQuarter
SELECT project, quarter, session, agent, subagent, model, calls, input, cacheRead, cacheWrite, output, outputs, priced, cost FROM usageSum;
CREATE INDEX usageQuarterSession ON usageQuarter(project, session);
DROP TABLE usageSum;

-- Sums of all calls of a session.
CREATE TABLE usageSum (
  project    INTEGER NOT NULL,
  session    TEXT NOT NULL,
  agent      TEXT NOT NULL,
  subagent   TEXT NOT NULL,
  model      TEXT NOT NULL,
  -- The quarter of an hour of the latest call.
  quarter    INTEGER NOT NULL,
  calls      INTEGER NOT NULL,
  input      INTEGER NOT NULL,
  cacheRead  INTEGER NOT NULL,
  cacheWrite INTEGER NOT NULL,
  output     INTEGER NOT NULL,
  outputs    INTEGER NOT NULL,
  priced     INTEGER NOT NULL,
  cost       REAL NOT NULL,
  PRIMARY KEY (project, session, agent, subagent, model)
) WITHOUT ROWID;
INSERT INTO usageSum
SELECT project, session, agent, subagent, model, MAX(quarter), SUM(calls), SUM(input), SUM(cacheRead), SUM(cacheWrite), SUM(output), SUM(outputs),
       SUM(priced), SUM(cost)
  FROM usageQuarter GROUP BY 1, 2, 3, 4, 5;
`;
