import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { scratchEngine } from './engine.js';
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

/**
 * The rows of a commit in the tables and indexes of a project, written by a bare script: it hashes nothing, checks nothing and keeps no checksums. What
 * it takes more than floor D is the price of the layout, and what Stemma takes more than it is the price of the program.
 */
export const bareCommits = (folder: string, deltas: readonly string[], perTransaction = 1): Timed =>
  timed({
    prepare: () => {
      const { dir, ...project } = scratchEngine(folder);
      project.close();
      const db = new Database(join(dir, 'stemma.db'));
      for (const pragma of ['journal_mode = WAL', 'synchronous = FULL', 'wal_autocheckpoint = 3000']) db.pragma(pragma);
      return { dir, db };
    },
    run: ({ db }) => {
      const known = db.prepare('SELECT no FROM artifact WHERE key = ? AND project = 1');
      const object = db.prepare(
        `INSERT INTO artifact (project, key, hash, size, storedSize, encoding, contentType, policy, createdAt, data, rowSum)
         VALUES (1, ?, ?, ?, ?, 0, 'application/x-ndjson', 'default', ?, ?, 1)`,
      );
      const before = db.prepare('SELECT * FROM commits WHERE project = 1 AND id = ?');
      const commit = db.prepare(
        `INSERT INTO commits (project, id, digest, parent, run, depth, type, artifact, format, template, principal, machine, sessionId, checkpoint,
           messageCount, tokenCount, contextTokens, createdAt, rowSum)
         VALUES (1, ?, ?, ?, ?, ?, 'delta', ?, 'claude-code-v1', 'claude-code', 'bench', 'here', 'bench', 'turn_boundary', 4, 420, 420, ?, 1)`,
      );
      const count = db.prepare(
        'INSERT INTO areaCount VALUES (1, ?, 1, 1) ON CONFLICT DO UPDATE SET changes = changes + 1, total = total + excluded.total',
      );
      const run = db.prepare('INSERT INTO firstParentRun (project, origin) VALUES (1, NULL)').run().lastInsertRowid;
      let parent: number | bigint | null = null;
      const add = (place: number, delta: string): void => {
        // Hashes are spread over their indexes, as real ones are.
        const hash = Buffer.alloc(32);
        hash.writeUInt32BE(Math.imul(place + 1, 2_654_435_761) >>> 0);
        const name = hash.toString('hex', 0, 4);
        known.get(hash.readUIntBE(0, 6));
        const bytes = Buffer.from(delta);
        const { lastInsertRowid: no } = object.run(hash.readUIntBE(0, 6), hash, bytes.length, bytes.length, place, bytes);
        before.get(`ctx-${name}`);
        parent = commit.run(`ctx-${name}`, hash, parent, run, place, no, place).lastInsertRowid;
        for (const area of ['objects', 'bytes', 'commits', 'entries']) count.run(area);
      };
      const addSome = db.transaction((from: number) => {
        for (const [place, delta] of deltas.slice(from, from + perTransaction).entries()) add(from + place, delta);
      }).immediate;
      for (let from = 0; from < deltas.length; from += perTransaction) addSome(from);
    },
    clean: ({ dir, db }) => {
      db.close();
      rmSync(dir, { recursive: true, force: true });
    },
  });
