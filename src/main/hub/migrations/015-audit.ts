/** What a call read or wrote, by kinds, numbers of records and hashes: never content. */
export const auditedWhat = ['ALTER TABLE audit ADD COLUMN what text'];
