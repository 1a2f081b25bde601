import { setImmediate as otherWork } from 'node:timers/promises';
import { sql } from 'kysely';
import { outlineVersion } from '../../core/chain/index.js';
import { encodeOutline, findReader, outlineOfParsed } from '../../core/formats/index.js';
import { inGroups } from '../../core/sync/index.js';
import { type InProject, inStatements } from './database.js';
import { hashArray } from './names.js';
import type { BucketObject, HubObjects } from './objects.js';

/** The most bytes of content that one request parses. Further contents get no outline; the client fetches them. */
const maxBytes = 32 * 1024 * 1024;

/** The hash of a content, and the format in which a commit holds it. */
export type WantedOutline = readonly [hash: string, format: string];

/** Outlines by hash and format, and where the contents of the others are. */
interface KnownOutlines {
  readonly outlines: Map<string, string>;
  readonly missing: readonly { readonly place: BucketObject; readonly formats: readonly string[] }[];
}

/** The outlines that the database holds, and the places of the contents whose outlines it lacks. */
export async function knownOutlines(tx: InProject, objects: HubObjects, wanted: readonly WantedOutline[]): Promise<KnownOutlines> {
  const hashes = [...new Set(wanted.map(([hash]) => hash))];
  if (hashes.length === 0) return { outlines: new Map(), missing: [] };
  const rows = await tx
    .selectFrom('outline')
    .select(['hash', 'format', 'data'])
    .where(sql<boolean>`hash = any(${hashArray(hashes)}::bytea[])`)
    .where('parser', '=', outlineVersion)
    .execute();
  const outlines = new Map(rows.map(({ hash, format, data }) => [`${hash.toString('hex')} ${format}`, data.toString()]));
  const lacking = new Map<string, Set<string>>();
  for (const [hash, format] of wanted) if (!outlines.has(`${hash} ${format}`)) lacking.set(hash, (lacking.get(hash) ?? new Set()).add(format));
  const places = lacking.size === 0 ? [] : await objects.locate(tx, [...lacking.keys()], maxBytes);
  // Each format of a content is parsed, so each one counts.
  let bytes = 0;
  const missing = places.flatMap((place) => {
    const formats = [...(lacking.get(place.hash) ?? [])];
    bytes += place.size * formats.length;
    return bytes <= maxBytes || bytes === place.size ? [{ place, formats }] : [];
  });
  return { outlines, missing };
}

type MadeOutline = Readonly<Record<'hash' | 'format' | 'data', string>>;

/** Makes outlines of contents. Call it outside of a transaction. */
export async function makeOutlines(objects: HubObjects, missing: KnownOutlines['missing']): Promise<MadeOutline[]> {
  const made: MadeOutline[] = [];
  for (const some of inGroups(missing, ({ place }) => place.size))
    for (const [i, { hash, bytes }] of (await objects.read(some.map(({ place }) => place))).entries()) {
      for (const format of some[i]?.formats ?? []) made.push({ hash, format, data: encodeOutline(outlineOfParsed(findReader(format).parse(bytes))) });
      await otherWork();
    }
  return made;
}

/** Stores outlines for the next question. */
export async function storeOutlines(tx: InProject, project: number, made: readonly MadeOutline[]): Promise<void> {
  const rows = made.map(({ hash, format, data }) => ({
    project,
    hash: Buffer.from(hash, 'hex'),
    format,
    parser: outlineVersion,
    data: Buffer.from(data),
  }));
  for (const some of inStatements(rows))
    await tx
      .insertInto('outline')
      .values(some)
      .onConflict((conflict) => conflict.doNothing())
      .execute();
}
