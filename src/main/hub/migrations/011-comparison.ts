import { type Kysely, sql } from 'kysely';

/** Links to a comparison: the name of the other commit. */
export const comparison = {
  up: async (db: Kysely<unknown>): Promise<void> => {
    await sql.raw('ALTER TABLE token ADD COLUMN against bytea').execute(db);
  },
};
