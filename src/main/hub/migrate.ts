import { type Kysely, type Migration, Migrator, sql } from 'kysely';

/**
 * Runs the steps that a database does not have yet. Several hubs may start at once: one hub runs the steps, the others wait.
 *
 * Hubs are updated one after the other, so an older hub must work with a newer schema. Therefore a step only adds (a table, an index, a column that
 * has a default or may be null), and steps that this hub does not know are no error. @throws the error of the database.
 */
export async function migrate(all: Kysely<unknown>, steps: Readonly<Record<string, Migration>>): Promise<void> {
  const known = async (): Promise<Record<string, Migration>> => {
    const { rows } = await sql<{ name: string }>`SELECT name FROM kysely_migration`.execute(all);
    const newer = rows.filter(({ name }) => !(name in steps)).map(({ name }) => [name, { up: async () => {} }] as const);
    return { ...Object.fromEntries(newer), ...steps };
  };
  // Two branches of Stemma's development may add steps at the same time, so a new step runs even if its number is lower.
  const { error } = await new Migrator({ db: all, provider: { getMigrations: known }, allowUnorderedMigrations: true }).migrateToLatest();
  if (error) throw error;
}
