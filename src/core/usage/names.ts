import { onceFor } from '../base/index.js';
import type { WriteChain } from '../chain/index.js';

/** SQL for the name whose number a column holds. Give the column with its table, as in `u.model`. */
export const nameIn = (column: string): string => `(SELECT name FROM usageName WHERE no = ${column})`;

/** SQL for the number of a name; null for a name that has none. */
export const numberOf = (name: string): string => `(SELECT no FROM usageName WHERE name = ${name})`;

/** SQL for the numbers of names, for a condition with IN. `names` is a SELECT or a list. */
export const numbersOf = (names: string): string => `(SELECT no FROM usageName WHERE name IN (${names}))`;

/**
 * Returns a function for the number of a name, which numbers new names; null for no name. Use it within one transaction: after that, another process
 * may begin the derived data anew.
 */
export const numberNames = ({ db }: WriteChain): NumberOfName =>
  onceFor((name) => {
    if (name === null) return null;
    return db.value<number>('SELECT no FROM usageName WHERE name = ?', name) ?? db.run('INSERT INTO usageName (name) VALUES (?)', name).rowId;
  });

export type NumberOfName = (name: string | null) => number | null;
