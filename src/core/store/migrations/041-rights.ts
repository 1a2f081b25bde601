/** The rights of a job, because work that its agent hands out gets no more; and which machine imported a file. */
export const rights = /* sql */ `
-- The tools of Stemma that it is offered, as a JSON list; null for all.
ALTER TABLE job ADD COLUMN tools TEXT;
-- What happens at a call of another tool: 'ask' or 'stop'.
ALTER TABLE job ADD COLUMN otherTools TEXT;

-- Proves that this machine imported the file from its path: a digest of the source and the path. Empty for files of earlier versions.
-- Null for files that came from a hub.
ALTER TABLE source ADD COLUMN recorded TEXT;
UPDATE source SET recorded = '' WHERE NOT EXISTS (SELECT 1 FROM teamItem t WHERE t.project = source.project AND t.kind = 'source' AND t.row = source.no);
`;
