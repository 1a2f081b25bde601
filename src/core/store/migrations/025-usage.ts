/** What providers counted for each model call, and sums of it. Everything here is derived from commits. */
export const usage = /* sql */ `
-- One row per model call, however many commits and files contain its reply. \`call\` is the agent's id of the reply.
CREATE TABLE usageCall (
  no           INTEGER PRIMARY KEY,
  project      INTEGER NOT NULL,
  call         TEXT NOT NULL,
  -- The first commit that contains the reply, and the reply's first entry.
  context      INTEGER NOT NULL,
  key          TEXT NOT NULL,
  session      TEXT NOT NULL,
  -- The part of the commit's template that names a subagent; empty for a main conversation.
  subagent     TEXT NOT NULL,
  agent        TEXT NOT NULL,
  model        TEXT,
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
  priced       INTEGER
);
CREATE INDEX usageCallUnpriced ON usageCall(project) WHERE priced IS NULL;
CREATE UNIQUE INDEX usageCallId ON usageCall(project, call);
CREATE INDEX usageCallContext ON usageCall(context);
CREATE INDEX usageCallSession ON usageCall(project, session);

-- Further commits that contain the reply of a call: copies of a history in other files and branches.
CREATE TABLE usageCopy (
  context INTEGER NOT NULL,
  call    INTEGER NOT NULL,
  key     TEXT NOT NULL,
  PRIMARY KEY (context, call)
) WITHOUT ROWID;

-- Sums of a session's calls by quarter of an hour, the finest step in which time zones differ.
CREATE TABLE usageSum (
  project    INTEGER NOT NULL,
  session    TEXT NOT NULL,
  agent      TEXT NOT NULL,
  subagent   TEXT NOT NULL,
  model      TEXT NOT NULL,
  quarter    INTEGER NOT NULL,
  calls      INTEGER NOT NULL,
  input      INTEGER NOT NULL,
  cacheRead  INTEGER NOT NULL,
  cacheWrite INTEGER NOT NULL,
  output     INTEGER NOT NULL,
  -- The number of calls with an output count, and with a price.
  outputs    INTEGER NOT NULL,
  priced     INTEGER NOT NULL,
  cost       REAL NOT NULL,
  PRIMARY KEY (project, session, agent, subagent, model, quarter)
) WITHOUT ROWID;
CREATE INDEX requestReplyRecord ON request(project, replyRecord) WHERE replyRecord IS NOT NULL;
`;
