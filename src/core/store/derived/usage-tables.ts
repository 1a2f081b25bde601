/** The tables of the facts of usage, which are a part of derived data. */
export const usageDefinitions = /* sql */ `-- Where the answer of a call begins, for calls without a record of their own (requests/rebuild/stored-answers.ts).
CREATE TABLE usageAnswer (
  project  INTEGER NOT NULL,
  at       INTEGER NOT NULL,
  context  INTEGER NOT NULL,
  -- The number of the entry in the commit's delta; -1 for a commit whose content could not be read.
  place    INTEGER NOT NULL,
  -- The agent's record of the answer: a UUID as its 16 bytes, any other as text.
  record   BLOB NOT NULL,
  -- The messages that were sent for it, and whether the whole context is of one format.
  messages INTEGER NOT NULL,
  isPure   INTEGER NOT NULL,
  PRIMARY KEY (project, at, context, place)
) WITHOUT ROWID;

-- One row for each call, however many commits and files contain its reply. \`call\` is the agent's id of the reply (usage/facts.ts).
CREATE TABLE usageCall (
  no           INTEGER PRIMARY KEY,
  project      INTEGER NOT NULL,
  call         TEXT NOT NULL,
  -- The first commit that contains the reply, and the reply's first entry.
  context      INTEGER NOT NULL,
  key          TEXT NOT NULL,
  -- The session, the subagent, the agent and the model are numbers of names in \`usageName\`.
  session      INTEGER NOT NULL,
  -- The part of the commit's template that names a subagent; empty for a main conversation.
  subagent     INTEGER NOT NULL,
  agent        INTEGER NOT NULL,
  model        INTEGER,
  at           INTEGER NOT NULL,
  endedAt      INTEGER,
  askedAt      INTEGER,
  -- Tokens as the provider counted them; null where the count was not recorded or cannot be right (\`flaw\` says why).
  input        INTEGER,
  cacheRead    INTEGER,
  cacheWrite   INTEGER,
  cacheWrite1h INTEGER,
  output       INTEGER,
  reasoning    INTEGER,
  flaw         TEXT,
  -- The prompt before the reply, and the first tool that the reply calls.
  prompt       TEXT,
  does         TEXT,
  -- In the currency of the price list; null for a model without a price.
  cost         REAL,
  -- Set once the price was looked up.
  priced       INTEGER,
  -- Set for a call that a session repeats and did not make. It is in no sum.
  replayed     INTEGER,
  -- The context window that the agent recorded.
  windowLimit  INTEGER,
  -- JSON: the speed, the service tier, the uses of the provider's tools, and whether an advisor made the call.
  terms        TEXT,
  -- The input of the last step of a call whose counts are those of several steps; null for any other call.
  windowTokens INTEGER
);
CREATE INDEX usageCallReplayed ON usageCall(project, session) WHERE replayed IS NOT NULL;
CREATE INDEX usageCallUnpriced ON usageCall(project) WHERE priced IS NULL;
CREATE UNIQUE INDEX usageCallId ON usageCall(project, call);
CREATE INDEX usageCallContext ON usageCall(context);
CREATE INDEX usageCallCost ON usageCall(cost);
CREATE INDEX usageCallSession ON usageCall(project, session);
CREATE INDEX usageCallTime ON usageCall(project, at, context);
CREATE INDEX usageCallModel ON usageCall(project, model, at, context);

-- The branch of git that was checked out when a commit was recorded, as its agent wrote it there or in a commit before.
CREATE TABLE usageBranch (
  context INTEGER PRIMARY KEY,
  branch  TEXT NOT NULL
);

-- The session of commits whose own row names none; null for a deleted commit.
CREATE TABLE usageCommit (
  context INTEGER PRIMARY KEY,
  session TEXT
);

-- The turns and the measures of the context of a commit, as JSON. Every 64th commit of a long conversation has them (usage/context-sums.ts).
CREATE TABLE usageContext (
  context INTEGER PRIMARY KEY,
  -- The rules by which it was measured.
  version INTEGER NOT NULL,
  data    TEXT NOT NULL
);

-- Further commits that contain the reply of a call: copies of a history in other files and branches.
CREATE TABLE usageCopy (
  context INTEGER NOT NULL,
  call    INTEGER NOT NULL,
  key     TEXT NOT NULL,
  PRIMARY KEY (context, call)
) WITHOUT ROWID;

-- A number for each entry of a delta, as a JSON list: its tokens, flags, role and kind (formats/shared/outline.ts).
CREATE TABLE usageEntry (
  artifact INTEGER NOT NULL,
  format   TEXT NOT NULL,
  -- The rules by which outlines were made.
  version  INTEGER NOT NULL,
  numbers  TEXT NOT NULL,
  PRIMARY KEY (artifact, format)
) WITHOUT ROWID;

-- Tokens per unit of a measure of content, for a model, when it had \`calls\` calls.
CREATE TABLE usageFactor (
  project INTEGER NOT NULL,
  model   TEXT NOT NULL,
  measure TEXT NOT NULL,
  factor  REAL NOT NULL,
  calls   INTEGER NOT NULL,
  PRIMARY KEY (project, model, measure)
) WITHOUT ROWID;

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
CREATE INDEX usageLedgerCause ON usageLedger(call) WHERE cause IS NOT NULL;

-- The sums of Usage as one JSON text, which takes long to write. A change of any of them deletes it (analysis/sums.ts).
CREATE TABLE usagePacked (
  project INTEGER PRIMARY KEY,
  data    TEXT NOT NULL
);

-- Names of sessions, agents and models, which many calls repeat. Rows of calls hold their numbers.
CREATE TABLE usageName (
  no   INTEGER PRIMARY KEY,
  name TEXT NOT NULL
);
CREATE UNIQUE INDEX usageNameText ON usageName(name);

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
  inputs     INTEGER NOT NULL DEFAULT 0,
  cacheReads INTEGER NOT NULL DEFAULT 0,
  cacheWrites INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (project, quarter, session, agent, subagent, model)
) WITHOUT ROWID;
CREATE INDEX usageQuarterSession ON usageQuarter(project, session);

-- The sessions as \`session.list\` shows them.
CREATE TABLE usageSession (
  project    INTEGER NOT NULL,
  session    TEXT NOT NULL,
  -- The first run of its cluster.
  cluster    INTEGER NOT NULL,
  parent     TEXT,
  agent      TEXT NOT NULL,
  subagent   TEXT,
  title      TEXT NOT NULL,
  repository TEXT,
  person     TEXT,
  branch     TEXT,
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
CREATE INDEX usageSessionCluster ON usageSession(project, cluster);

-- Sums of the calls of a session by day in UTC, agent, model and subagent.
CREATE TABLE usageSlice (
  project    INTEGER NOT NULL,
  session    TEXT NOT NULL,
  -- Days since 1970.
  day        INTEGER NOT NULL,
  agent      TEXT NOT NULL,
  model      TEXT NOT NULL,
  subagent   TEXT NOT NULL,
  calls      INTEGER NOT NULL,
  input      INTEGER NOT NULL,
  cacheRead  INTEGER NOT NULL,
  cacheWrite INTEGER NOT NULL,
  output     INTEGER NOT NULL,
  -- The number of calls with a counted input, a counted output, and a price.
  inputs     INTEGER NOT NULL,
  outputs    INTEGER NOT NULL,
  priced     INTEGER NOT NULL,
  cost       REAL NOT NULL,
  misses     INTEGER NOT NULL,
  lostCost   REAL NOT NULL,
  waitMs     INTEGER NOT NULL,
  PRIMARY KEY (project, session, day, agent, model, subagent)
) WITHOUT ROWID;

-- What the ledger and the slices of a session were computed from. Another mark in \`usageSum\` means that they are out of date.
CREATE TABLE usageSliced (
  project INTEGER NOT NULL,
  session TEXT NOT NULL,
  mark    TEXT NOT NULL,
  PRIMARY KEY (project, session)
) WITHOUT ROWID;

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
  -- The quarter of an hour of the first call. A session within one day or month then needs no look at its quarters.
  first      INTEGER NOT NULL DEFAULT 0,
  inputs     INTEGER NOT NULL DEFAULT 0,
  cacheReads INTEGER NOT NULL DEFAULT 0,
  cacheWrites INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (project, session, agent, subagent, model)
) WITHOUT ROWID;

-- One row for each tool call. The number is a hash of the session and the entry's key, so that a copy is stored once.
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
  -- The number of its name in \`usageName\`.
  model        INTEGER
);
CREATE INDEX usageToolContext ON usageTool(context);
CREATE INDEX usageToolError ON usageTool(isError, at);

-- Sums of the tool calls of a session by day in UTC, agent, model and tool.
CREATE TABLE usageToolSlice (
  project INTEGER NOT NULL,
  session TEXT NOT NULL,
  day     INTEGER NOT NULL,
  agent   TEXT NOT NULL,
  model   TEXT NOT NULL,
  name    TEXT NOT NULL,
  calls   INTEGER NOT NULL,
  results INTEGER NOT NULL,
  errors  INTEGER NOT NULL,
  ms      INTEGER NOT NULL,
  PRIMARY KEY (project, session, day, agent, model, name)
) WITHOUT ROWID;

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
  -- The part of the cache writes that is kept for an hour, and the searches; null where the agent did not write them.
  cacheWrite1h INTEGER,
  webSearch    INTEGER,
  PRIMARY KEY (project, session, model)
) WITHOUT ROWID;

`;
