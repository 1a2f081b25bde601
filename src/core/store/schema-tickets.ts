/** Tickets with every version of them, and the events that their moves leave for others to act on (seed, "Integration with Tickets"). */
export const tickets = /* sql */ `
CREATE TABLE ticket (
  no           INTEGER PRIMARY KEY,
  project      INTEGER NOT NULL,
  ticketId     TEXT NOT NULL,
  title        TEXT NOT NULL,
  body         TEXT NOT NULL,
  type         TEXT NOT NULL,
  status       TEXT NOT NULL,
  assignee     TEXT,
  -- [{name, verdict}] as JSON.
  reviewers    TEXT NOT NULL,
  labels       TEXT NOT NULL,
  parent       INTEGER REFERENCES ticket(no),
  -- Opaque: kept as it came, whether or not such a commit is known here.
  contextId    TEXT,
  contextFound TEXT,
  resolution   TEXT,
  threadId     TEXT,
  createdAt    INTEGER NOT NULL,
  updatedAt    INTEGER NOT NULL
);
CREATE UNIQUE INDEX ticketId ON ticket(project, ticketId);
CREATE INDEX ticketParent ON ticket(parent) WHERE parent IS NOT NULL;

CREATE TABLE ticketDependency (
  ticket    INTEGER NOT NULL REFERENCES ticket(no),
  dependsOn INTEGER NOT NULL REFERENCES ticket(no),
  PRIMARY KEY (ticket, dependsOn)
) WITHOUT ROWID;

CREATE TABLE ticketVersion (
  no           INTEGER PRIMARY KEY,
  project      INTEGER NOT NULL,
  ticket       INTEGER NOT NULL REFERENCES ticket(no),
  at           INTEGER NOT NULL,
  by           TEXT,
  -- {field: {from, to}} as JSON.
  changes      TEXT NOT NULL,
  reason       TEXT,
  contextId    TEXT,
  contextFound TEXT
);
CREATE INDEX ticketVersionTicket ON ticketVersion(ticket);

CREATE TABLE ticketEvent (
  no        INTEGER PRIMARY KEY,
  project   INTEGER NOT NULL,
  ticket    INTEGER NOT NULL REFERENCES ticket(no),
  at        INTEGER NOT NULL,
  -- Who should start, to do what, and from which context.
  who       TEXT NOT NULL,
  task      TEXT NOT NULL,
  contextId TEXT
);
CREATE INDEX ticketEventTicket ON ticketEvent(ticket);
`;

export const ticketStarts = /* sql */ `
CREATE TABLE ticketStart (
  no         INTEGER PRIMARY KEY,
  project    INTEGER NOT NULL,
  ticket     INTEGER NOT NULL REFERENCES ticket(no),
  at         INTEGER NOT NULL,
  -- Who should start (null: anybody), to do what, and from which context.
  who        TEXT,
  task       TEXT NOT NULL,
  contextId  TEXT,
  -- The move that asked for it; none where words in a thread did.
  moveFrom   TEXT,
  moveTo     TEXT,
  by         TEXT,
  -- What was said of it: 'taken', 'done' or 'dismissed', by whom and when.
  answer     TEXT,
  answeredBy TEXT,
  answeredAt INTEGER
);
INSERT INTO ticketStart (no, project, ticket, at, who, task, contextId) SELECT no, project, ticket, at, who, task, contextId FROM ticketEvent;
DROP TABLE ticketEvent;
ALTER TABLE ticketStart RENAME TO ticketEvent;
CREATE INDEX ticketEventTicket ON ticketEvent(ticket);
CREATE INDEX ticketVersionContext ON ticketVersion(contextId) WHERE contextId IS NOT NULL;
CREATE INDEX ticketThread ON ticket(threadId) WHERE threadId IS NOT NULL;
CREATE INDEX contextThread ON context(threadId) WHERE threadId IS NOT NULL;
`;

/** What was said of a start is kept as it was said, one after the other; tickets are found by what lists of them ask for. */
export const ticketAnswers = /* sql */ `
CREATE TABLE ticketAnswer (
  no      INTEGER PRIMARY KEY,
  project INTEGER NOT NULL,
  event   INTEGER NOT NULL REFERENCES ticketEvent(no),
  at      INTEGER NOT NULL,
  by      TEXT NOT NULL,
  -- 'taken', 'done' or 'dismissed'.
  answer  TEXT NOT NULL
);
CREATE INDEX ticketAnswerEvent ON ticketAnswer(event);
INSERT INTO ticketAnswer (project, event, at, by, answer)
  SELECT project, no, answeredAt, answeredBy, answer FROM ticketEvent WHERE answer IS NOT NULL ORDER BY answeredAt, no;
ALTER TABLE ticketEvent DROP COLUMN answer;
ALTER TABLE ticketEvent DROP COLUMN answeredBy;
ALTER TABLE ticketEvent DROP COLUMN answeredAt;
CREATE INDEX ticketStatus ON ticket(project, status, updatedAt);
CREATE INDEX ticketUpdated ON ticket(project, updatedAt);
-- Only to list the names: led by them, so that it is not taken for a way to a project's versions.
CREATE INDEX ticketVersionBy ON ticketVersion(by, project);
`;
