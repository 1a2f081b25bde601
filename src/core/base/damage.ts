/** The header beside an answer that was read from tables with damaged rows: `ticket=2, run=1`. */
export const damageHeader = 'stemma-damage';

/** How many rows of a table do not match their checksum, by table. */
export type DamagedRows = ReadonlyMap<string, number>;

/** Damaged rows as the value of the header. */
export const writeDamage = (rows: DamagedRows): string => [...rows].map(([table, count]) => `${table}=${count}`).join(', ');

/** The damaged rows that a header names; none without a header. */
export const readDamage = (header: string | readonly string[] | undefined): DamagedRows =>
  new Map([...String(header ?? '').matchAll(/(\w+)=(\d+)/g)].map(([, table = '', count]) => [table, Number(count)]));

/** Damaged rows in words: `2 rows of ticket, 1 row of run`. */
export const damageInWords = (rows: DamagedRows): string =>
  [...rows].map(([table, count]) => `${count} ${count === 1 ? 'row' : 'rows'} of ${table}`).join(', ');
