import { createHash } from 'node:crypto';
import type { JsonObject } from '../../core/base/index.js';

/** The name of an item as the database stores it: SHA-256 of its kind and key. */
export const nameOf = (kind: string, key: string): Buffer => createHash('sha256').update(`${kind}\0${key}`).digest();

/** Kinds that belong to a commit, beside the commits themselves. */
const ofCommit: ReadonlySet<string> = new Set(['contextVersion', 'started', 'branchMark']);

/** The name of the commit that an item continues or belongs to; null for other items. */
export function aboutOf(kind: string, { parent, context }: JsonObject): Buffer | null {
  const commit = kind === 'context' ? parent : ofCommit.has(kind) ? context : null;
  return typeof commit === 'string' ? nameOf('context', commit) : null;
}
