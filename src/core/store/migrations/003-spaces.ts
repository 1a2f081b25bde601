/** Spaces that people and agents share: members, messages, and the runs that messages started. */
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

-- A mark stores its position as well as its message, so that deleting the message does not reset it.
CREATE TABLE membership (
  no               INTEGER PRIMARY KEY,
  project          INTEGER NOT NULL,
  space            INTEGER NOT NULL REFERENCES space(no),
  entity           INTEGER NOT NULL REFERENCES entity(no),
  joinedAt         INTEGER NOT NULL,
  -- An agent's mark. Only a completed run moves it.
  processedSeq     INTEGER NOT NULL DEFAULT 0,
  processedMessage TEXT,
  -- A human's mark. Only a read receipt moves it.
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
  -- Why the run was started, as JSON.
  "trigger"   TEXT NOT NULL,
  chainDepth  INTEGER NOT NULL,
  activeSpace INTEGER REFERENCES space(no),
  createdAt   INTEGER NOT NULL,
  invokedAt   INTEGER NOT NULL,
  -- The input of the last call without the history, as JSON. The history is read from the messages.
  frame       TEXT,
  endedAt     INTEGER,
  -- While it waits: the message that set the wait, its space, for whom, and until when.
  waitMessage TEXT,
  waitSpace   INTEGER REFERENCES space(no),
  waitFor     TEXT,
  waitUntil   INTEGER,
  waitMs      INTEGER,
  waits       INTEGER NOT NULL DEFAULT 0,
  -- How its last wait ended, as JSON.
  resumed     TEXT,
  context     INTEGER REFERENCES context(seq)
);
CREATE UNIQUE INDEX runId ON run(project, runId);
CREATE INDEX runEntity ON run(entity, status);
CREATE INDEX runWaiting ON run(waitSpace) WHERE waitSpace IS NOT NULL;

-- How far a run has seen a space, and the agent's mark when the run began there.
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
  -- Position in the space, from 1.
  seq          INTEGER NOT NULL,
  messageId    TEXT NOT NULL,
  sender       INTEGER NOT NULL REFERENCES entity(no),
  at           INTEGER NOT NULL,
  text         TEXT NOT NULL,
  replyTo      TEXT,
  expectsReply INTEGER NOT NULL,
  chainDepth   INTEGER NOT NULL,
  -- Why an agent wrote an unprompted message, as JSON.
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
  -- The delay as given, if dueAt was computed from one.
  runAfter    TEXT,
  -- When it is next due; null when done.
  dueAt       INTEGER
);
CREATE UNIQUE INDEX planName ON plan(entity, name);
CREATE INDEX planDue ON plan(project, dueAt) WHERE dueAt IS NOT NULL;
`;
