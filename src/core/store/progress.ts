import type { ReadableDb, WritableDb } from './database.js';

interface Place<Db extends ReadableDb> {
  readonly db: Db;
  readonly project: number;
}

const progressIn = (table: 'progress' | 'derivedProgress') => {
  const select = `SELECT value FROM ${table} WHERE project = ? AND name = ?`;
  const insert = `INSERT INTO ${table} (project, name, value) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value`;
  return {
    read: ({ db, project }: Place<ReadableDb>, work: string): number => db.value<number>(select, project, work) ?? 0,
    set: ({ db, project }: Place<WritableDb>, work: string, value: number): void => void db.run(insert, project, work, value),
  };
};

/** How far work on what was recorded has come, such as packing objects or pulling from a hub; 0 at first. */
export const { read: readProgress, set: setProgress } = progressIn('progress');
/** How far the work that fills derived data has come; 0 at first, and after derived data was begun anew. */
export const { read: readDerivedProgress, set: setDerivedProgress } = progressIn('derivedProgress');

/** How far facts are derived from commits, in the order of their numbers. With another version, no commit counts as read. */
export function commitProgress(work: string, version: number) {
  const isCurrent = (place: Place<ReadableDb>): boolean => readDerivedProgress(place, `${work} version`) === version;
  const last = (place: Place<ReadableDb>): number => (isCurrent(place) ? readDerivedProgress(place, work) : 0);
  return {
    isCurrent,
    /** The number of the last commit that was read. */
    last,
    /** The number of commits that were not read yet, at most `limit`. */
    pending: (place: Place<ReadableDb>, limit = Number.MAX_SAFE_INTEGER): number =>
      place.db.value('SELECT COUNT(*) FROM (SELECT 1 FROM commits WHERE seq > ? AND +project = ? LIMIT ?)', last(place), place.project, limit) ?? 0,
    /** Notes that the commits up to one are read, or all without a number. Call it inside a transaction. */
    readTo: (place: Place<WritableDb>, seq: number | undefined): void => {
      setDerivedProgress(place, work, seq ?? place.db.value<number | null>('SELECT MAX(seq) FROM commits') ?? 0);
      setDerivedProgress(place, `${work} version`, version);
    },
  };
}

/** The first rows, up to the one with which their sizes reach a number of bytes: a batch that ends early, because other writers wait for it. */
export function upToBytes<Row extends { readonly size: number | null }>(rows: readonly Row[], most: number): readonly Row[] {
  let bytes = 0;
  const end = rows.findIndex(({ size }) => {
    bytes += size ?? 0;
    return bytes >= most;
  });
  return end < 0 ? rows : rows.slice(0, end + 1);
}
