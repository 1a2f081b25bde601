/** Tickets with all their versions, and the start events that their transitions record. */
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
  -- Stored as given, even if no such commit is known here.
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
  -- Who should start, which task, and from which context.
  who       TEXT NOT NULL,
  task      TEXT NOT NULL,
  contextId TEXT
);
CREATE INDEX ticketEventTicket ON ticketEvent(ticket);
`;
