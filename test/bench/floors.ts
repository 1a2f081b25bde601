import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { type Timed, timed } from './measure.js';

/**
 * Floor D: the least that a durable commit in SQLite can cost. Three columns, one transaction each, WAL with
 * synchronous=FULL; no hash, no index but the key's.
 */
export interface Floor {
  commit(id: string, parent: string | null, delta: string): void;
  /** A whole chain in one transaction, for walks; returns its tip. */
  fill(deltas: readonly string[]): string;
  /** The chain's bytes from root to tip, by a recursive walk that is not sorted in SQL. */
  walk(tip: string): Buffer;
  close(): void;
}

/** Ids as long as ours. */
export const nameOf = (place: number): string => `ctx-${place.toString(16).padStart(8, '0')}`;

export function openFloor(folder: string): Floor {
  const db = new Database(join(folder, 'floor.db'));
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  db.exec('CREATE TABLE IF NOT EXISTS d (id TEXT PRIMARY KEY, parent TEXT, delta BLOB)');
  const insert = db.prepare('INSERT INTO d (id, parent, delta) VALUES (?, ?, ?)');
  const chain = db
    .prepare(
      'WITH RECURSIVE w(id, parent, delta) AS (SELECT id, parent, delta FROM d WHERE id = ? UNION ALL SELECT d.id, d.parent, d.delta FROM d JOIN w ON d.id = w.parent) SELECT delta FROM w',
    )
    .pluck();
  return {
    commit: (id, parent, delta) => void insert.run(id, parent, Buffer.from(delta)),
    fill: db.transaction((deltas: readonly string[]) => {
      let parent: string | null = null;
      for (const [place, delta] of deltas.entries()) {
        const id = nameOf(place);
        insert.run(id, parent, Buffer.from(delta));
        parent = id;
      }
      return parent ?? '';
    }),
    walk: (tip) => Buffer.concat((chain.all(tip) as Buffer[]).reverse()),
    close: () => db.close(),
  };
}

/** A chain committed one by one in a floor of its own. */
export const floorCommits = (folder: string, deltas: readonly string[]): Timed =>
  timed({
    prepare: () => {
      const at = mkdtempSync(join(folder, 'floor-'));
      return { at, floor: openFloor(at) };
    },
    run: ({ floor }) => {
      let parent: string | null = null;
      for (const [place, delta] of deltas.entries()) {
        const id = nameOf(place);
        floor.commit(id, parent, delta);
        parent = id;
      }
    },
    clean: ({ at, floor }) => {
      floor.close();
      rmSync(at, { recursive: true, force: true });
    },
  });
