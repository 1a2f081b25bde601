import type { DatabaseRows, ImportableFormat, Lines, Member } from '../formats/index.js';
import { RowTooLarge } from '../store/index.js';
import { limits, Unreadable } from './files.js';

/**
 * The conversations of a database, each with a limit: it is read into memory at once, and takes several times its size there.
 * Reading one beyond the limit throws {@link Unreadable}; the others can still be read.
 */
export function* measuredMembers(database: NonNullable<ImportableFormat['database']>, rows: DatabaseRows): Generator<Member> {
  let left = Number.POSITIVE_INFINITY;
  const measured: DatabaseRows = {
    tables: rows.tables,
    *each(...asked) {
      try {
        for (const row of rows.each(...asked)) {
          left -= bytesIn(row);
          if (left < 0) throw new Unreadable(`the conversation has more than ${limits.whole} bytes`);
          yield row;
        }
      } catch (error) {
        throw error instanceof RowTooLarge ? new Unreadable(error.message) : error;
      }
    },
  };
  const within = <T>(work: () => T): T => {
    left = limits.whole;
    try {
      return work();
    } finally {
      left = Number.POSITIVE_INFINITY;
    }
  };
  for (const member of database.members(measured)) {
    const { lines, over } = member;
    const read = (told: () => Lines) => (): Lines => within(told);
    yield {
      ...member,
      lines: read(lines),
      ...(over && {
        over: (granularity) => {
          const told = within(() => over(granularity));
          return told && { ...told, lines: read(told.lines) };
        },
      }),
    };
  }
}

const bytesIn = (row: Readonly<Record<string, unknown>>): number =>
  Object.values(row).reduce<number>((sum, value) => sum + (typeof value === 'string' || value instanceof Uint8Array ? value.length : 0), 0);
