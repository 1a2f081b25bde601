import { sql } from 'kysely';
import type { GrantHolder } from './access.js';
import type { InProject } from './database.js';

/** A person who called `hello` within this time counts as present. Windows call it several times within this time. */
const stays = sql`interval '90 seconds'`;

/** Records that a person is present, and returns the other people. Machines and readers of a link are not recorded and see nobody. */
export async function peopleAt(tx: InProject, project: number, { no, name, role, shared }: GrantHolder): Promise<string[]> {
  if (shared !== null || role === 'pusher') return [];
  await tx
    .insertInto('presence')
    .values({ project, token: no, name })
    .onConflict((conflict) => conflict.columns(['project', 'token']).doUpdateSet({ at: sql`now()`, name }))
    .execute();
  const rows = await tx
    .selectFrom('presence')
    .select('name')
    .distinct()
    .where('token', '<>', no)
    .where(sql<boolean>`at > now() - ${stays}`)
    .orderBy('name')
    .limit(100)
    .execute();
  return rows.map((row) => row.name);
}
