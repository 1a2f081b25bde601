import { sql } from 'kysely';
import { blake3Parts } from '../../core/artifacts/index.js';
import { badRequest, notFound, type StemmaError } from '../../core/base/index.js';
import type { WholeObject } from '../../core/sync/index.js';
import type { InProject } from './database.js';
import { hashArray } from './names.js';
import type { BucketObject, HubObjects } from './objects.js';

/** @throws NOT_FOUND if the hub lacks a part; BAD_REQUEST if the parts do not have the object's size. */
export async function locateParts(tx: InProject, objects: HubObjects, { hash, size, parts }: WholeObject): Promise<BucketObject[]> {
  const found = new Map((await objects.locate(tx, parts, Number.POSITIVE_INFINITY)).map((part) => [part.hash, part]));
  const located = parts.map((part) => {
    const place = found.get(part);
    if (!place) throw notFound(part, `The hub does not hold the part ${part}. Send it first.`);
    return place;
  });
  // Before anything is read: a call could name one part a thousand times.
  if (located.reduce((sum, part) => sum + part.size, 0) !== size) throw notThis(hash);
  return located;
}

/** Reads the parts, with one of them in memory at a time. Each was verified when it arrived; this verifies the whole. @throws BAD_REQUEST. */
export async function proveWhole(objects: HubObjects, { hash }: WholeObject, located: readonly BucketObject[]): Promise<void> {
  const hasher = blake3Parts();
  for (const part of located) for (const { bytes } of await objects.read([part])) hasher.add(bytes);
  if (hasher.hash().toString('hex') !== hash) throw notThis(hash);
}

const notThis = (hash: string): StemmaError => badRequest('parts', `The parts are not the object ${hash}.`);

/** Records that parts form one object. */
export async function recordWhole(tx: InProject, project: number, { hash, contentType, size, parts }: WholeObject): Promise<void> {
  await tx
    .insertInto('whole')
    .values({ project, hash: Buffer.from(hash, 'hex'), type: contentType, size: String(size), parts: parts.map((part) => Buffer.from(part, 'hex')) })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** The objects among these that are stored in parts, by hash. `isExpired`: retention removed a part. */
export async function wholesAmong(tx: InProject, hashes: readonly string[]) {
  const { rows } = await sql<{ hash: Buffer; type: string; size: string; parts: Buffer[]; isExpired: boolean }>`
    SELECT w.hash, w.type, w.size, w.parts, EXISTS (SELECT 1 FROM unnest(w.parts) part
             WHERE NOT EXISTS (SELECT 1 FROM object o WHERE o.hash = part AND o.expired_at IS NULL)) AS "isExpired"
      FROM whole w WHERE w.hash = any(${hashArray(hashes)}::bytea[])`.execute(tx);
  return new Map(
    rows.map(({ hash, type, size, parts, isExpired }) => [
      hash.toString('hex'),
      { size: Number(size), contentType: type, isExpired, parts: parts.map((part) => part.toString('hex')) },
    ]),
  );
}
