/** Jobs of the runner, and what happened in them. */
export const jobs = /* sql */ `
CREATE TABLE job (
  no         INTEGER PRIMARY KEY,
  project    INTEGER NOT NULL,
  jobId      TEXT NOT NULL,
  what       TEXT NOT NULL,
  -- What only one running job may work for, such as an agent.
  holds      TEXT NOT NULL,
  performer  TEXT NOT NULL,
  limits     TEXT NOT NULL,
  status     TEXT NOT NULL,
  -- A running job belongs to its process until this time, which the process keeps moving.
  leaseUntil INTEGER NOT NULL,
  calls      INTEGER NOT NULL DEFAULT 0,
  tokens     INTEGER,
  cost       REAL,
  error      TEXT,
  commits    TEXT NOT NULL DEFAULT '[]',
  startedAt  INTEGER NOT NULL,
  endedAt    INTEGER
);
CREATE UNIQUE INDEX jobName ON job(project, jobId);
CREATE UNIQUE INDEX jobHolds ON job(project, holds) WHERE status = 'running';

CREATE TABLE jobEvent (
  job    INTEGER NOT NULL REFERENCES job(no),
  number INTEGER NOT NULL,
  at     INTEGER NOT NULL,
  event  TEXT NOT NULL,
  PRIMARY KEY (job, number)
) WITHOUT ROWID;
`;
