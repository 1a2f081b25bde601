import { corrupt, StemmaError } from '../base/index.js';
import type { ChangedRow, OpenDatabase } from '../store/index.js';

export const inWordsOf = ({ table, row }: ChangedRow): string => `row ${row} of ${table} is not what was written: a byte of it has changed`;

/** The id by which a changed row is told. */
export const idOf = ({ table, row, id }: ChangedRow): string => id ?? `${table} ${row}`;

/**
 * What to say of an error that reading ended in and that nobody meant: where rows are not what was written, a date that is none, text that
 * is no JSON or a word that nobody knows is theirs, wherever it was met. Else it stays the bug that it is.
 */
export function damageBehind(db: Pick<OpenDatabase, 'changedRows'>, error: unknown): unknown {
  if (error instanceof StemmaError || !(error instanceof Error) || error.name === 'AbortError') return error;
  const [changed] = db.changedRows();
  return changed
    ? corrupt(idOf(changed), `${inWordsOf(changed)}; run "stemma fsck" to see what is sound, and "stemma fsck --repair" to save that`, {}, { cause: error })
    : error;
}
