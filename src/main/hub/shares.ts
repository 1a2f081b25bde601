import { sql } from 'kysely';
import { type JsonObject, StemmaError } from '../../core/base/index.js';
import { type Item, objectsOf } from '../../core/sync/index.js';
import type { Holder } from './access.js';
import type { InProject } from './database.js';
import { wholesAmong } from './wholes.js';

/** Procedures that a share link may call. All others are refused, regardless of its role. */
const open: ReadonlySet<string> = new Set(['sync.hello', 'sync.lack', 'sync.send', 'sync.items', 'sync.objects', 'sync.about', 'sync.outlines']);

/** @throws UNAUTHORIZED if the token is a share link that may not call the procedure. */
export function requireOpen({ shared }: Holder, procedure: string): void {
  if (shared !== null && !open.has(procedure))
    throw new StemmaError('UNAUTHORIZED', 'A share link opens only its commits and their ancestors.', { field: 'token' });
}

/** The numbers of the items that a share link opens: its commits, their ancestors, and the items that belong to them. */
export async function sharedItems(tx: InProject, commits: readonly Buffer[]): Promise<string[]> {
  const { rows } = await sql<{ seq: string }>`
    WITH RECURSIVE line (name) AS (
      SELECT unnest(${sql.val([...commits])}::bytea[])
      UNION
      SELECT item.about FROM line JOIN item ON item.name = line.name WHERE item.about IS NOT NULL
    )
    SELECT item.seq FROM line JOIN item ON item.name = line.name
    UNION
    SELECT item.seq FROM line JOIN item ON item.about = line.name WHERE item.kind <> 'context'
    ORDER BY seq`.execute(tx);
  return rows.map(({ seq }) => seq);
}

/** The hashes of the objects that a share link opens. */
export async function sharedObjects(tx: InProject, commits: readonly Buffer[]): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ kind: string; body: Buffer }>`
    SELECT kind, body FROM item WHERE seq = any(${sql.val(await sharedItems(tx, commits))}::bigint[])`.execute(tx);
  const named = rows.flatMap(({ kind, body }) =>
    objectsOf({ kind, key: '', digest: '', body: JSON.parse(body.toString()) as JsonObject } satisfies Item),
  );
  const wholes = await wholesAmong(tx, named);
  return new Set([...named, ...[...wholes.values()].flatMap(({ parts }) => parts)]);
}
