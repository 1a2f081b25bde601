import { sql } from 'kysely';
import { blake3Parts } from '../../core/artifacts/index.js';
import { badRequest, StemmaError } from '../../core/base/index.js';
import type { ObjectFacts, WholeObject } from '../../core/sync/index.js';
import type { InProject } from './database.js';
import type { HubObjects } from './objects.js';

const bytesOf = (hashes: readonly string[]) => sql.val(hashes.map((hash) => Buffer.from(hash, 'hex')));

/**
 * Records that parts which the hub holds form one object. Each part was verified when it arrived; this verifies the whole. @throws NOT_FOUND if the
 * hub lacks a part; BAD_REQUEST if the parts are not the object.
 */
export async function joinParts(tx: InProject, objects: HubObjects, project: number, { hash, contentType, size, parts }: WholeObject): Promise<void> {
  const hasher = blake3Parts();
  let total = 0;
  for (const part of parts) {
    const [found] = await objects.read(tx, [part], 1);
    if (!found) throw new StemmaError('NOT_FOUND', `The hub does not hold the part ${part}. Send it first.`, { id: part });
    hasher.add(found.bytes);
    total += found.bytes.length;
  }
  if (total !== size || hasher.hash().toString('hex') !== hash) throw badRequest('parts', `The parts are not the object ${hash}.`);
  await tx
    .insertInto('whole')
    .values({ project, hash: Buffer.from(hash, 'hex'), type: contentType, size: String(size), parts: parts.map((part) => Buffer.from(part, 'hex')) })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** The objects among these that are stored in parts, by hash. `isExpired`: retention removed a part. */
export async function wholesAmong(
  tx: InProject,
  hashes: readonly string[],
): Promise<ReadonlyMap<string, ObjectFacts & { readonly parts: readonly string[] }>> {
  const { rows } = await sql<{ hash: Buffer; type: string; size: string; parts: Buffer[]; isExpired: boolean }>`
    SELECT w.hash, w.type, w.size, w.parts, EXISTS (SELECT 1 FROM unnest(w.parts) part
             WHERE NOT EXISTS (SELECT 1 FROM object o WHERE o.hash = part AND o.expired_at IS NULL)) AS "isExpired"
      FROM whole w WHERE w.hash = any(${bytesOf(hashes)}::bytea[])`.execute(tx);
  return new Map(
    rows.map(({ hash, type, size, parts, isExpired }) => [
      hash.toString('hex'),
      { size: Number(size), contentType: type, isExpired, parts: parts.map((part) => part.toString('hex')) },
    ]),
  );
}
