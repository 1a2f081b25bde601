import { sql } from 'kysely';
import type { BackingStore } from '../../core/replicas/index.js';
import { addToAudit, type HubDatabase } from './database.js';

/** The advisory lock that lets only one of several hub processes remove contents. */
const lock = 7_362_001;

/** Removes contents whose retention has ended, but no records. Nothing while another hub does it. Returns the number of removed objects. */
export async function removeExpired({ all }: HubDatabase, store: Pick<BackingStore, 'remove'>): Promise<number> {
  const projects = await all.selectFrom('project').select(['no', 'retention']).where('retention', 'is not', null).execute();
  let removed = 0;
  for (const { no, retention } of projects) {
    const { count, files } = await all.transaction().execute(async (tx) => {
      const { rows } = await sql<{ mine: boolean }>`SELECT pg_try_advisory_xact_lock(${lock}) AS mine`.execute(tx);
      if (!rows[0]?.mine) return { count: 0, files: [] };
      // A push of the same object moves it to another file, so the condition is checked again under the row lock of the update.
      const expired = await sql`
        UPDATE object o SET expired_at = now() FROM pack p
         WHERE p.no = o.pack AND o.project = ${no} AND o.expired_at IS NULL AND p.at < now() - make_interval(days => ${retention})`.execute(tx);
      const count = Number(expired.numAffectedRows ?? 0);
      if (count > 0) await addToAudit(tx, { project: no, by: 'hub', action: 'retention', count });
      // Files that older hubs wrote may serve several projects.
      const { rows: files } = await sql<{ no: string; hash: Buffer }>`
        SELECT p.no, p.hash FROM pack p
         WHERE p.project = ${no} AND p.removed_at IS NULL AND p.at < now() - make_interval(days => ${retention})
           AND NOT EXISTS (SELECT 1 FROM pack q JOIN object o ON o.pack = q.no WHERE q.hash = p.hash AND o.expired_at IS NULL)`.execute(tx);
      return { count, files };
    });
    for (const { no: file, hash } of files) {
      await store.remove(hash.toString('hex'));
      await all.updateTable('pack').set({ removed_at: new Date() }).where('no', '=', file).execute();
    }
    removed += count;
  }
  return removed;
}
