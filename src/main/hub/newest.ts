import { sql } from 'kysely';
import type { InProject } from './database.js';

/** The number of a project's newest item, by the index. */
export const newestSeq = async (tx: InProject): Promise<number> =>
  Number((await tx.selectFrom('item').select('seq').orderBy('project', 'desc').orderBy('seq', 'desc').limit(1).executeTakeFirst())?.seq ?? 0);

/** The items that the holder of a share link knows: those that it reads, and those that it sent. */
interface KnownToLink {
  readonly seqs: readonly number[];
  readonly by: number;
}

/** The oldest or the newest version of each named item, by the index. */
export const versionsOf = (tx: InProject, names: readonly Buffer[], order: 'asc' | 'desc') =>
  tx
    .selectFrom('item')
    .distinctOn('name')
    .select('name')
    .where(sql<boolean>`name = any(${sql.val([...names])}::bytea[])`)
    .orderBy('name')
    .orderBy('seq', order);

/** The digest of the newest version of each named item, by name in hexadecimal; for a share link, only of items that it knows. */
export async function newestDigests(tx: InProject, names: readonly Buffer[], link?: KnownToLink): Promise<ReadonlyMap<string, string>> {
  if (names.length === 0) return new Map();
  const rows = await versionsOf(tx, names, 'desc')
    .select('digest')
    .$if(link !== undefined, (query) => query.where(sql<boolean>`(by = ${link?.by} OR seq = any(${sql.val([...(link?.seqs ?? [])])}::bigint[]))`))
    .execute();
  return new Map(rows.map(({ name, digest }) => [name.toString('hex'), digest.toString('hex')]));
}
