/** What questions over many sessions are answered from: the ledger of the cache, sums in every direction, tool calls, and sessions. All derived. */
export const usageLedger = /* sql */ `
-- What the cache did for a call. Computed from the order of the calls of its session.
CREATE TABLE usageLedger (
  call        INTEGER PRIMARY KEY,
  hit         INTEGER NOT NULL,
  -- 1 if the call had to pay again for what the cache held; the first call of a conversation misses nothing.
  miss        INTEGER NOT NULL,
  cause       TEXT,
  lostTokens  INTEGER,
  lostCost    REAL,
  windowLimit INTEGER,
  waitMs      INTEGER
);

-- Sums of a session's calls by quarter of an hour, agent, subagent, model and first-parent run.
CREATE TABLE usageSlice (
  project    INTEGER NOT NULL,
  session    TEXT NOT NULL,
  quarter    INTEGER NOT NULL,
  agent      TEXT NOT NULL,
  subagent   TEXT NOT NULL,
  model      TEXT NOT NULL,
  run        INTEGER NOT NULL,
  calls      INTEGER NOT NULL,
  input      INTEGER NOT NULL,
  cacheRead  INTEGER NOT NULL,
  cacheWrite INTEGER NOT NULL,
  output     INTEGER NOT NULL,
  -- The number of calls with each count, with a price, and with a known wait.
  inputs     INTEGER NOT NULL,
  outputs    INTEGER NOT NULL,
  priced     INTEGER NOT NULL,
  cost       REAL NOT NULL,
  hits       INTEGER NOT NULL,
  misses     INTEGER NOT NULL,
  lostTokens INTEGER NOT NULL,
  lostCost   REAL NOT NULL,
  waits      INTEGER NOT NULL,
  waitMs     INTEGER NOT NULL,
  PRIMARY KEY (project, session, quarter, agent, subagent, model, run)
) WITHOUT ROWID;

-- What the ledger and the slices of a session were computed from. Another mark in \`usageSum\` means that they are out of date.
CREATE TABLE usageSliced (
  project INTEGER NOT NULL,
  session TEXT NOT NULL,
  mark    TEXT NOT NULL,
  PRIMARY KEY (project, session)
) WITHOUT ROWID;

-- One row per tool call. The number is a hash of the session and the entry's key, so that a copy is stored once.
CREATE TABLE usageTool (
  no           INTEGER PRIMARY KEY,
  project      INTEGER NOT NULL,
  context      INTEGER NOT NULL,
  key          TEXT NOT NULL,
  callId       TEXT,
  name         TEXT NOT NULL,
  -- What the tool does, such as \`edit\`; null for an unknown tool.
  class        TEXT,
  path         TEXT,
  -- The beginning of a shell command.
  command      TEXT,
  -- A hash of the arguments: equal calls have equal hashes.
  digest       INTEGER NOT NULL,
  at           INTEGER NOT NULL,
  endedAt      INTEGER,
  -- Null without a result.
  isError      INTEGER,
  tokens       INTEGER NOT NULL,
  resultTokens INTEGER,
  model        TEXT
);
CREATE INDEX usageToolContext ON usageTool(context);

-- Sums of the tool calls of a session by day in UTC, agent, model and tool.
CREATE TABLE usageToolSlice (
  project INTEGER NOT NULL,
  session TEXT NOT NULL,
  quarter INTEGER NOT NULL,
  name    TEXT NOT NULL,
  model   TEXT NOT NULL,
  agent   TEXT NOT NULL,
  calls   INTEGER NOT NULL,
  errors  INTEGER NOT NULL,
  results INTEGER NOT NULL,
  ms      INTEGER NOT NULL,
  tokens  INTEGER NOT NULL,
  PRIMARY KEY (project, session, quarter, name, model, agent)
) WITHOUT ROWID;

-- The sessions as \`session.list\` shows them.
CREATE TABLE usageSession (
  project    INTEGER NOT NULL,
  session    TEXT NOT NULL,
  parent     TEXT,
  agent      TEXT NOT NULL,
  subagent   TEXT,
  title      TEXT NOT NULL,
  repository TEXT,
  person     TEXT,
  startedAt  INTEGER,
  endedAt    INTEGER NOT NULL,
  turns      INTEGER NOT NULL,
  branches   INTEGER NOT NULL,
  calls      INTEGER NOT NULL,
  errors     INTEGER NOT NULL,
  peakTokens INTEGER,
  windowLimit INTEGER,
  cost       REAL,
  isArchived INTEGER NOT NULL,
  tip        TEXT,
  PRIMARY KEY (project, session)
) WITHOUT ROWID;

-- The session of commits whose own row names none; null for a deleted commit.
CREATE TABLE usageCommit (
  context INTEGER PRIMARY KEY,
  session TEXT
);
`;
