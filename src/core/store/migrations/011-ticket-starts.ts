/** Start events record the transition that requested them and their answer; indexes for threads. */
export const ticketStarts = /* sql */ `
CREATE TABLE ticketStart (
  no         INTEGER PRIMARY KEY,
  project    INTEGER NOT NULL,
  ticket     INTEGER NOT NULL REFERENCES ticket(no),
  at         INTEGER NOT NULL,
  -- Who should start (null: anybody), which task, and from which context.
  who        TEXT,
  task       TEXT NOT NULL,
  contextId  TEXT,
  -- The transition that requested the start; null if a message in a thread did.
  moveFrom   TEXT,
  moveTo     TEXT,
  by         TEXT,
  -- The answer 'taken', 'done' or 'dismissed', by whom and when.
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
