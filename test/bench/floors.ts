import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { type Timed, timed } from './measure.js';

/**
 * Floor D: the minimum cost of a durable commit in SQLite. Three columns, one transaction each, WAL with synchronous=FULL,
 * no hash, only the primary key index.
 */
export interface Floor {
  commit(id: string, parent: string | null, delta: string): void;
  /** A whole chain in one transaction, for walks; returns its tip. */
  fill(deltas: readonly string[]): string;
  /** The chain's bytes from root to tip, by a recursive query without sorting. */
  walk(tip: string): Buffer;
  close(): void;
}

/** Ids with the length of Stemma's ids. */
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

/** Commits a chain one by one in its own floor database. */
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
