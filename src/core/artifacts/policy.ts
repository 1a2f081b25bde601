import { type ArtifactNo, badRequest } from '../base/index.js';
import type { Policy } from '../contract/index.js';
import { contentAt, isCache, read } from './content.js';
import { restore } from './put.js';
import { forgetContent, type ReadShelf, type Shelf, withoutContent } from './shelf.js';

/** Sets how long an object stays. @throws BAD_REQUEST if the seconds do not fit the policy, NOT_FOUND for an object that is gone. */
export function setPolicy(shelf: Shelf, no: ArtifactNo, policy: Policy, ttlSeconds: number | undefined): void {
  if (policy === 'ephemeral' && !ttlSeconds) throw badRequest('ttlSeconds', 'an ephemeral object needs ttlSeconds');
  if (policy !== 'ephemeral' && ttlSeconds !== undefined) throw badRequest('ttlSeconds', `only ephemeral objects expire; the policy is ${policy}`);
  keep(shelf, no);
  shelf.db.run('UPDATE artifact SET policy = ?, expiresAt = ?, touchedAt = ? WHERE no = ? AND project = ?', [
    policy,
    ttlSeconds === undefined ? null : shelf.clock() + ttlSeconds * 1_000,
    shelf.clock(),
    no,
    shelf.project,
  ]);
}

/** Makes the content of an object durable before a commit refers to it: a cache becomes a stored object. */
export function keep(shelf: Shelf, no: ArtifactNo): void {
  const row = contentAt(shelf, no);
  if (isCache(row) && row.gone === null) restore(shelf, no, read(shelf, no));
}

/** Drops every cache and returns the freed bytes. Reading a dropped cache rebuilds it. */
export function dropCaches({ caches }: Shelf): number {
  const files = caches.list();
  for (const { name } of files) caches.drop(name);
  return files.reduce((sum, { size }) => sum + size, 0);
}

/** True for objects that expire at a time (one parameter) and still have their content. */
export const isDue = 'expiresAt IS NOT NULL AND expiresAt <= ? AND gone IS NULL';

/** Whether the content of an object has expired and is not removed yet. */
export const expiryIsDue = ({ db, clock }: ReadShelf): boolean => db.one(`SELECT 1 FROM artifact WHERE ${isDue} LIMIT 1`, clock()) !== undefined;

/** Removes the content of expired objects, and all caches, because they may contain it. Returns the freed bytes. */
export function expire(shelf: Shelf): number {
  if (!expiryIsDue(shelf) || shelf.db.readonly) return 0;
  const now = shelf.clock();
  const freed = shelf.db.transaction(() => {
    const due = `${isDue} AND project = ?`;
    const bytes = shelf.db.value<number | null>(`SELECT SUM(storedSize) FROM artifact WHERE ${due}`, now, shelf.project);
    forgetContent(shelf, `IN (SELECT no FROM artifact WHERE ${due})`, now, shelf.project);
    shelf.db.run('DELETE FROM materialized WHERE project = ?', shelf.project);
    shelf.db.run(`UPDATE artifact SET ${withoutContent}, gone = 'expired' WHERE ${due}`, now, shelf.project);
    return bytes ?? 0;
  });
  dropCaches(shelf);
  shelf.onGone();
  return freed;
}
