/** Calls that were recorded on the wire. */
export const captures = /* sql */ `
-- The provider whose format the body has; null for a runtime's own record.
ALTER TABLE request ADD COLUMN provider TEXT;
-- The commit and the first entry that hold the reply to a recorded call.
ALTER TABLE request ADD COLUMN context INTEGER;
ALTER TABLE request ADD COLUMN replyKey TEXT;
CREATE INDEX requestContext ON request(context) WHERE context IS NOT NULL;

-- Marks of a reply whose transcript is not imported yet: message id, tool call ids, first words.
CREATE TABLE requestReply (
  project INTEGER NOT NULL,
  mark    TEXT NOT NULL,
  request INTEGER NOT NULL REFERENCES request(no),
  PRIMARY KEY (project, mark, request)
) WITHOUT ROWID;
CREATE INDEX requestReplyOf ON requestReply(request);
`;
