/** Finds the request of a reply. */
export const replyRecords = /* sql */ `
CREATE INDEX requestReplyRecord ON request(project, replyRecord) WHERE replyRecord IS NOT NULL;
`;
