import { onceFor } from '../base/index.js';
import type { WriteChain } from '../chain/index.js';

/** The text of a column that holds the number of a name, as SQL. Name the column with its table. */
export const nameIn = (column: string): string => `(SELECT name FROM usageName WHERE no = ${column})`;

/** The number of a name, as SQL. Null for an unknown name. */
export const numberOf = (name: string): string => `(SELECT no FROM usageName WHERE name = ${name})`;

/** The numbers of names, as SQL for a condition with IN. `names` is a SELECT or a list. */
export const numbersOf = (names: string): string => `(SELECT no FROM usageName WHERE name IN (${names}))`;

/**
 * Numbers names, and adds those that are new; no name has no number. Use it within one transaction, because another process may replace the derived
 * data after it.
 */
export const numberNames = ({ db }: WriteChain): NumberOfName =>
  onceFor((name) => {
    if (name === null) return null;
    return db.value<number>('SELECT no FROM usageName WHERE name = ?', name) ?? db.run('INSERT INTO usageName (name) VALUES (?)', name).rowId;
  });

export type NumberOfName = (name: string | null) => number | null;
