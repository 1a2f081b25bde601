import { type Kysely, type Migration, Migrator, sql } from 'kysely';

/**
 * Runs the steps that a database does not have yet. Several hubs may start at once: one runs the steps, the others wait for it.
 *
 * Hubs are replaced one after the other, so an older hub works beside a newer schema. That is why a step only adds (a table, an index, a
 * column that has a default or may be null), and why steps that this hub does not know are no error.
 * @throws what the database throws.
 */
export async function migrate(all: Kysely<unknown>, steps: Readonly<Record<string, Migration>>): Promise<void> {
  const known = async (): Promise<Record<string, Migration>> => {
    const { rows } = await sql<{ name: string }>`SELECT name FROM kysely_migration`.execute(all);
    const newer = rows.filter(({ name }) => !(name in steps)).map(({ name }) => [name, { up: async () => {} }] as const);
    return { ...Object.fromEntries(newer), ...steps };
  };
  // Two branches of the work on Stemma may add steps at once: a step that is new runs, whatever its number.
  const { error } = await new Migrator({ db: all, provider: { getMigrations: known }, allowUnorderedMigrations: true }).migrateToLatest();
  if (error) throw error;
}
