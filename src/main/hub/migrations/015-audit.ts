import { type Kysely, sql } from 'kysely';

/** What a call read or wrote, by kinds, numbers of records and hashes: never content. */
export const auditedWhat = {
  up: async (db: Kysely<unknown>): Promise<void> => {
    await sql.raw('ALTER TABLE audit ADD COLUMN what text').execute(db);
  },
};
