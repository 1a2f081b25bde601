/** Spaces as people and agents share them: who is there, what was said, and the runs that it started. */
export const spaces = /* sql */ `
CREATE TABLE entity (
  no        INTEGER PRIMARY KEY,
  project   INTEGER NOT NULL,
  entityId  TEXT NOT NULL,
  name      TEXT NOT NULL,
  -- human, agent, service
  type      TEXT NOT NULL,
  createdAt INTEGER NOT NULL
);
CREATE UNIQUE INDEX entityId ON entity(project, entityId);

CREATE TABLE space (
  no        INTEGER PRIMARY KEY,
  project   INTEGER NOT NULL,
  spaceId   TEXT NOT NULL,
  name      TEXT,
  createdAt INTEGER NOT NULL
);
CREATE UNIQUE INDEX spaceId ON space(project, spaceId);

-- A mark keeps its place as well as its message, so that a message which goes does not reset it.
CREATE TABLE membership (
  no               INTEGER PRIMARY KEY,
  project          INTEGER NOT NULL,
  space            INTEGER NOT NULL REFERENCES space(no),
  entity           INTEGER NOT NULL REFERENCES entity(no),
  joinedAt         INTEGER NOT NULL,
  -- An agent's mark: moved only by a run of it that completed.
  processedSeq     INTEGER NOT NULL DEFAULT 0,
  processedMessage TEXT,
  -- A human's mark: moved only by a read receipt.
  seenSeq          INTEGER NOT NULL DEFAULT 0,
  seenMessage      TEXT
);
CREATE UNIQUE INDEX membershipOf ON membership(space, entity);
CREATE INDEX membershipEntity ON membership(entity);

CREATE TABLE run (
  no          INTEGER PRIMARY KEY,
  project     INTEGER NOT NULL,
  runId       TEXT NOT NULL,
  entity      INTEGER NOT NULL REFERENCES entity(no),
  status      TEXT NOT NULL,
  -- Why it was started, as the agent reads it: JSON.
  "trigger"   TEXT NOT NULL,
  chainDepth  INTEGER NOT NULL,
  activeSpace INTEGER REFERENCES space(no),
  createdAt   INTEGER NOT NULL,
  invokedAt   INTEGER NOT NULL,
  -- What its last call was given beside the history, which is read from the messages again: JSON.
  frame       TEXT,
  endedAt     INTEGER,
  -- While it waits: the message that it waits on, in which space, for whom, until when.
  waitMessage TEXT,
  waitSpace   INTEGER REFERENCES space(no),
  waitFor     TEXT,
  waitUntil   INTEGER,
  waitMs      INTEGER,
  waits       INTEGER NOT NULL DEFAULT 0,
  -- How its last wait ended: JSON.
  resumed     TEXT,
  context     INTEGER REFERENCES context(seq)
);
CREATE UNIQUE INDEX runId ON run(project, runId);
CREATE INDEX runEntity ON run(entity, status);
CREATE INDEX runWaiting ON run(waitSpace) WHERE waitSpace IS NOT NULL;

-- What a run has had before it of a space, and where its agent's mark stood when the run began there.
CREATE TABLE runSeen (
  run         INTEGER NOT NULL REFERENCES run(no),
  space       INTEGER NOT NULL REFERENCES space(no),
  project     INTEGER NOT NULL,
  seq         INTEGER NOT NULL,
  markSeq     INTEGER NOT NULL,
  markMessage TEXT,
  PRIMARY KEY (run, space)
) WITHOUT ROWID;

CREATE TABLE spaceMessage (
  no           INTEGER PRIMARY KEY,
  project      INTEGER NOT NULL,
  space        INTEGER NOT NULL REFERENCES space(no),
  -- Its place in the space, from 1.
  seq          INTEGER NOT NULL,
  messageId    TEXT NOT NULL,
  sender       INTEGER NOT NULL REFERENCES entity(no),
  at           INTEGER NOT NULL,
  text         TEXT NOT NULL,
  replyTo      TEXT,
  expectsReply INTEGER NOT NULL,
  chainDepth   INTEGER NOT NULL,
  -- Why an agent wrote it where nobody had asked it: JSON.
  origin       TEXT,
  run          INTEGER REFERENCES run(no)
);
CREATE UNIQUE INDEX spaceMessageId ON spaceMessage(project, messageId);
CREATE UNIQUE INDEX spaceMessageSeq ON spaceMessage(space, seq);
CREATE INDEX spaceMessageRun ON spaceMessage(run) WHERE run IS NOT NULL;

CREATE TABLE goal (
  no          INTEGER PRIMARY KEY,
  project     INTEGER NOT NULL,
  entity      INTEGER NOT NULL REFERENCES entity(no),
  description TEXT NOT NULL,
  priority    REAL NOT NULL,
  longTerm    INTEGER NOT NULL
);
CREATE INDEX goalEntity ON goal(entity);

CREATE TABLE memory (
  no        INTEGER PRIMARY KEY,
  project   INTEGER NOT NULL,
  entity    INTEGER NOT NULL REFERENCES entity(no),
  topic     TEXT,
  content   TEXT NOT NULL,
  updatedAt INTEGER NOT NULL
);
CREATE INDEX memoryEntity ON memory(entity);

CREATE TABLE plan (
  no          INTEGER PRIMARY KEY,
  project     INTEGER NOT NULL,
  entity      INTEGER NOT NULL REFERENCES entity(no),
  planId      TEXT NOT NULL,
  name        TEXT NOT NULL,
  instruction TEXT NOT NULL,
  cron        TEXT,
  -- The delay as it was said, where the time was made from one.
  runAfter    TEXT,
  -- When it is next due; null once it is done.
  dueAt       INTEGER
);
CREATE UNIQUE INDEX planName ON plan(entity, name);
CREATE INDEX planDue ON plan(project, dueAt) WHERE dueAt IS NOT NULL;
`;
