import { ORPCError } from '@orpc/server';
import { isObject, StemmaError } from '../base/index.js';
import { damageIn, markDamage, refuseDamaged } from '../integrity/index.js';
import type { ReadableDb } from '../store/index.js';

/** Procedures whose answers are verified elsewhere, by commit or by object, or hold no rows of the project that a name belongs to. */
const verifiedElsewhere = new Set('context usage search request analysis export import artifact project projects provider'.split(' '));
/** The field that names the row that a call is about: in the first group for every call, because many change the row. */
const subjectOfAll: Readonly<Record<string, string>> = { ticket: 'ticketId', card: 'cardId', box: 'boxId', experiment: 'experimentId' };
const subjectOfGet: Readonly<Record<string, string>> = { space: 'spaceId', run: 'runId', agent: 'agentId', job: 'jobId' };

/** @throws CORRUPT for a call about one row whose checksum fails. */
export function refuseDamagedRow(db: ReadableDb, [namespace = '', procedure = '']: readonly string[], input: unknown): void {
  const field = subjectOfAll[namespace] ?? (procedure === 'get' ? subjectOfGet[namespace] : undefined);
  const id = field !== undefined && isObject(input) ? input[field] : undefined;
  if (field !== undefined && typeof id === 'string') refuseDamaged(db, field, id);
}

/** Marks what an answer shows of rows whose checksum fails. */
export const withDamage = <T>(db: ReadableDb, [namespace = '']: readonly string[], output: T): T =>
  verifiedElsewhere.has(namespace) ? output : markDamage(db, output);

/** The damaged row because of which a call failed in a way that no rule foresees; otherwise the error itself. */
export function damageBehind(db: ReadableDb | undefined, error: unknown): unknown {
  // An answer that breaks the contract may come from a damaged row, too.
  if (error instanceof StemmaError || (error instanceof ORPCError && error.code !== 'INTERNAL_SERVER_ERROR')) return error;
  return (db && damageIn(db)) ?? error;
}
