import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { firstOf, type JsonObject } from '../../core/base/index.js';

/** The name of an item as the database stores it: SHA-256 of its kind and key. */
export const hashName = (kind: string, key: string): Buffer => createHash('sha256').update(`${kind}\0${key}`).digest();

/** Hashes as a list that a query takes. */
export const hashArray = (hashes: readonly string[]) => sql.val(hashes.map((hash) => Buffer.from(hash, 'hex')));

/** Kinds of items that belong to a commit, except for commits. */
const ofCommit: ReadonlySet<string> = new Set(['contextVersion', 'started', 'branchMark']);

/** The name of the commit that an item continues or belongs to; null for other items. */
export function aboutOf(kind: string, { parent, context }: JsonObject): Buffer | null {
  const commit = kind === 'context' ? parent : ofCommit.has(kind) ? context : null;
  return typeof commit === 'string' ? hashName('context', commit) : null;
}

/** Items for the audit log: the count of each kind, and their numbers. Undefined if there are no items. */
export function namesOfItems(items: readonly { readonly kind: string; readonly seq: string }[]): string | undefined {
  if (items.length === 0) return undefined;
  const kinds = [...Map.groupBy(items, ({ kind }) => kind)].map(([kind, all]) => `${kind} ${all.length}`).join(', ');
  return `${kinds} (records ${items[0]?.seq} to ${items.at(-1)?.seq})`;
}

/** Refused items for the audit log: the first ones by kind and the beginning of their name. */
export function namesOfRefused(items: readonly { readonly kind: string; readonly key: string }[]): string {
  const short = (text: string): string => text.slice(0, namedDigits * 2).replaceAll('\0', '');
  return firstOf(
    items.map(({ kind, key }) => `${short(kind)} ${short(key)}`),
    namedObjects,
  );
}

/** Objects for the audit log, by the beginnings of their hashes. Undefined if there are no objects. */
export const namesOfObjects = (hashes: readonly string[]): string | undefined =>
  hashes.length === 0
    ? undefined
    : firstOf(
        hashes.map((hash) => hash.slice(0, namedDigits)),
        namedObjects,
        ' ',
      );

/** The objects that a line of the audit log names, and the digits of each hash: a clone reads thousands. Its line about items names the rest. */
const namedObjects = 8;
const namedDigits = 16;
