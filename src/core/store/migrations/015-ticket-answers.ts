/** Answers to start events get a table of their own; indexes for the ticket list. */
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
-- Only lists names. The name comes first so that SQLite does not use the index to find a project's versions.
CREATE INDEX ticketVersionBy ON ticketVersion(by, project);
`;
