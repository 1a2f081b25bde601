/** Experiments: turns that are rerun in several ways, with their results. */
export const experiments = /* sql */ `
CREATE TABLE experiment (
  no           INTEGER PRIMARY KEY,
  project      INTEGER NOT NULL,
  experimentId TEXT NOT NULL,
  createdAt    INTEGER NOT NULL
);
CREATE UNIQUE INDEX experimentId ON experiment(project, experimentId);

-- The definition of an experiment, one row per save. The newest is valid.
CREATE TABLE experimentVersion (
  no         INTEGER PRIMARY KEY,
  experiment INTEGER NOT NULL REFERENCES experiment(no),
  at         INTEGER NOT NULL,
  -- {title, note, checks, cases, removed} as JSON.
  definition TEXT NOT NULL
);
CREATE INDEX experimentVersionOf ON experimentVersion(experiment, no);

-- One reply, or the problem that prevented it.
CREATE TABLE experimentResult (
  no         INTEGER PRIMARY KEY,
  project    INTEGER NOT NULL,
  resultId   TEXT NOT NULL,
  experiment INTEGER NOT NULL REFERENCES experiment(no),
  caseId     TEXT NOT NULL,
  round      INTEGER NOT NULL,
  sample     INTEGER NOT NULL,
  at         INTEGER NOT NULL,
  -- The case as it was run, as JSON.
  ran        TEXT NOT NULL,
  context    INTEGER REFERENCES context(seq),
  -- [{words, passed, why}] as JSON, by the current checks.
  checks     TEXT NOT NULL,
  problem    TEXT
);
CREATE UNIQUE INDEX experimentResultId ON experimentResult(project, resultId);
CREATE INDEX experimentResultOf ON experimentResult(experiment, no);

-- A person's verdicts on a reply. The newest is valid.
CREATE TABLE experimentVerdict (
  no      INTEGER PRIMARY KEY,
  result  INTEGER NOT NULL REFERENCES experimentResult(no),
  at      INTEGER NOT NULL,
  by      TEXT,
  verdict TEXT,
  note    TEXT
);
CREATE INDEX experimentVerdictOf ON experimentVerdict(result, no);
`;
