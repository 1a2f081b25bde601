/** Cards, boxes, profiles, and the agents and turns that hand them on. Every row carries its project's number. */
export const cards = /* sql */ `
CREATE TABLE card (
  no         INTEGER PRIMARY KEY,
  project    INTEGER NOT NULL,
  -- Unique across all projects of the database.
  cardId     TEXT NOT NULL UNIQUE,
  -- {kind, …} as JSON
  content    TEXT NOT NULL,
  toolCalls  TEXT,
  toolCallId TEXT,
  ttlSeconds INTEGER,
  expiresAt  INTEGER,
  deletedAt  INTEGER,
  metadata   TEXT NOT NULL,
  authorId   TEXT NOT NULL,
  createdAt  INTEGER NOT NULL,
  repairedAt INTEGER,
  -- The chain entry that the card was made from.
  entryKey   TEXT,
  type       TEXT NOT NULL GENERATED ALWAYS AS (metadata ->> '$.type') VIRTUAL,
  role       TEXT NOT NULL GENERATED ALWAYS AS (metadata ->> '$.role') VIRTUAL
);
CREATE INDEX cardTime ON card(project, createdAt);
CREATE INDEX cardType ON card(project, type, createdAt);
-- A tool call has one result. Only a fork of a history may hold another.
CREATE UNIQUE INDEX cardResult ON card(project, toolCallId) WHERE type = 'tool.result' AND toolCallId IS NOT NULL AND entryKey IS NULL;

-- A card as it was before a change.
CREATE TABLE cardVersion (
  no      INTEGER PRIMARY KEY,
  project INTEGER NOT NULL,
  card    INTEGER NOT NULL REFERENCES card(no),
  at      INTEGER NOT NULL,
  author  TEXT,
  what    TEXT NOT NULL,
  before  TEXT NOT NULL
);
CREATE INDEX cardVersionCard ON cardVersion(card);

CREATE TABLE box (
  no        INTEGER PRIMARY KEY,
  project   INTEGER NOT NULL,
  boxId     TEXT NOT NULL,
  createdAt INTEGER NOT NULL,
  updatedAt INTEGER NOT NULL,
  replaces  INTEGER REFERENCES box(no),
  -- Why each card is in the box, if a handover packed it.
  packed    TEXT,
  -- Number of open turns that read the box.
  readers   INTEGER NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX boxId ON box(project, boxId);
CREATE INDEX boxReplaces ON box(replaces) WHERE replaces IS NOT NULL;

-- The card ids of a box as JSON lists, in order: the initial list, then one per append.
CREATE TABLE boxPart (
  box     INTEGER NOT NULL REFERENCES box(no),
  place   INTEGER NOT NULL,
  project INTEGER NOT NULL,
  cardIds TEXT NOT NULL,
  PRIMARY KEY (box, place)
) WITHOUT ROWID;

CREATE TABLE profile (
  no        INTEGER PRIMARY KEY,
  project   INTEGER NOT NULL,
  -- The name in lower case: lookup ignores case.
  key       TEXT NOT NULL,
  name      TEXT NOT NULL,
  box       INTEGER NOT NULL REFERENCES box(no),
  updatedAt INTEGER NOT NULL
);
CREATE UNIQUE INDEX profileKey ON profile(project, key);

CREATE TABLE agent (
  no          INTEGER PRIMARY KEY,
  project     INTEGER NOT NULL,
  agentId     TEXT NOT NULL,
  displayName TEXT NOT NULL,
  profile     INTEGER REFERENCES box(no),
  owner       TEXT,
  spawnedBy   TEXT,
  derivedFrom TEXT,
  createdAt   INTEGER NOT NULL,
  -- What the agent does now. The epoch rises whenever the writer changes; an answer with an older epoch is late.
  status      TEXT NOT NULL DEFAULT 'idle',
  epoch       INTEGER NOT NULL DEFAULT 0,
  turn        INTEGER REFERENCES agentTurn(no),
  lastOutput  INTEGER REFERENCES box(no),
  -- The newest commit of the agent's chain.
  tip         INTEGER REFERENCES context(seq)
);
CREATE UNIQUE INDEX agentId ON agent(project, agentId);

-- Tasks that were dispatched together.
CREATE TABLE batch (
  no        INTEGER PRIMARY KEY,
  project   INTEGER NOT NULL,
  batchId   TEXT NOT NULL,
  source    TEXT NOT NULL,
  status    TEXT NOT NULL,
  failFast  INTEGER NOT NULL,
  deadline  INTEGER,
  createdAt INTEGER NOT NULL,
  endedAt   INTEGER
);
CREATE UNIQUE INDEX batchId ON batch(project, batchId);

CREATE TABLE agentTurn (
  no          INTEGER PRIMARY KEY,
  project     INTEGER NOT NULL,
  agentTurnId TEXT NOT NULL,
  agent       INTEGER NOT NULL REFERENCES agent(no),
  -- queued, dispatched, running, suspended; then success, failed, canceled, timeout or partial
  status      TEXT NOT NULL,
  depth       INTEGER NOT NULL,
  context     INTEGER NOT NULL REFERENCES box(no),
  output      INTEGER NOT NULL REFERENCES box(no),
  profile     INTEGER REFERENCES box(no),
  -- Who handed the task over, by which call, and in which of their turns.
  source      TEXT,
  tool        TEXT NOT NULL,
  strategy    TEXT NOT NULL,
  parentTurn  INTEGER REFERENCES agentTurn(no),
  batch       INTEGER REFERENCES batch(no),
  taskIndex   INTEGER,
  -- The calls that it waits for and their results, as JSON.
  waiting     TEXT,
  -- The source's commit at the handover; the commit with the turn's input; its last commit.
  fromCommit  INTEGER REFERENCES context(seq),
  startCommit INTEGER REFERENCES context(seq),
  endCommit   INTEGER REFERENCES context(seq),
  -- Number of committed cards of the output box.
  committed   INTEGER NOT NULL DEFAULT 0,
  error       TEXT,
  createdAt   INTEGER NOT NULL,
  startedAt   INTEGER,
  endedAt     INTEGER
);
CREATE UNIQUE INDEX agentTurnId ON agentTurn(project, agentTurnId);
CREATE INDEX agentTurnAgent ON agentTurn(agent, status);
CREATE INDEX agentTurnBatch ON agentTurn(batch) WHERE batch IS NOT NULL;
CREATE INDEX agentTurnContext ON agentTurn(context);
CREATE INDEX agentTurnOutput ON agentTurn(output);
`;
