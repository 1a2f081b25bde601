import { sql } from 'kysely';
import { outlineVersion } from '../../core/chain/index.js';
import { encodeOutline, outlineOfParsed, readerOf } from '../../core/formats/index.js';
import type { InProject } from './database.js';
import type { HubObjects } from './objects.js';

/** The most bytes of content that one request reads. Further contents get no outline, and the client fetches them instead. */
const maxBytes = 64 * 1024 * 1024;

/** The hash of a content, and the format in which a commit holds it. */
export type Wanted = readonly [hash: string, format: string];

/** The outlines of contents in the given order, from the database or made now. Null for a content that the hub does not hold. */
export async function outlinesOf(tx: InProject, objects: HubObjects, project: number, wanted: readonly Wanted[]): Promise<(string | null)[]> {
  const hashes = [...new Set(wanted.map(([hash]) => hash))];
  const rows = await tx
    .selectFrom('outline')
    .select(['hash', 'format', 'data'])
    .where(sql<boolean>`hash = any(${sql.val(hashes.map((hash) => Buffer.from(hash, 'hex')))}::bytea[])`)
    .where('parser', '=', outlineVersion)
    .execute();
  const known = new Map(rows.map(({ hash, format, data }) => [`${hash.toString('hex')} ${format}`, data.toString()]));
  let missing = [...new Set(wanted.filter(([hash, format]) => !known.has(`${hash} ${format}`)).map(([hash]) => hash))];
  for (let bytes = 0; missing.length > 0 && bytes < maxBytes; ) {
    const found = await objects.read(tx, missing, maxBytes / 4);
    if (found.length === 0) break;
    const made = found.flatMap((object) => {
      bytes += object.bytes.length;
      return wanted
        .filter(([hash]) => hash === object.hash)
        .map(([hash, format]) => {
          const data = encodeOutline(outlineOfParsed(readerOf(format).parse(object.bytes)));
          known.set(`${hash} ${format}`, data);
          return { project, hash: Buffer.from(hash, 'hex'), format, parser: outlineVersion, data: Buffer.from(data) };
        });
    });
    await tx
      .insertInto('outline')
      .values(made)
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    const got = new Set(found.map(({ hash }) => hash));
    missing = missing.filter((hash) => !got.has(hash));
  }
  return wanted.map(([hash, format]) => known.get(`${hash} ${format}`) ?? null);
}
