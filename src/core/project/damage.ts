import { corrupt, StemmaError } from '../base/index.js';
import type { ChangedRow, OpenDatabase } from '../store/index.js';

export const inWordsOf = ({ table, row }: ChangedRow): string => `row ${row} of ${table} is not what was written: a byte of it has changed`;

/** The id by which a changed row is told. */
export const idOf = ({ table, row, id }: ChangedRow): string => id ?? `${table} ${row}`;

const help = 'run "stemma fsck" to see what is sound, and "stemma fsck --repair" to save that';

/**
 * What to say of an error that reading ended in and that nobody meant: where the database is damaged, a date that is none, text that is no
 * JSON or a word that nobody knows is a row's that is not what was written, wherever it was met. Else it stays the bug that it is.
 */
export function damageBehind(db: Pick<OpenDatabase, 'changedRows' | 'integrity'>, error: unknown): unknown {
  if (error instanceof StemmaError || !(error instanceof Error) || error.name === 'AbortError') return error;
  try {
    const [changed] = db.changedRows();
    if (changed) return corrupt(idOf(changed), `${inWordsOf(changed)}; ${help}`, {}, { cause: error });
    const [line] = db.integrity();
    return line === undefined ? error : corrupt('stemma.db', `the database is damaged (${line}); ${help}`, {}, { cause: error });
  } catch (damage) {
    return damage;
  }
}
