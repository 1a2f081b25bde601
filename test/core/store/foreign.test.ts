import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { namedFile } from '../../../src/core/files/index.js';
import { mirrorOf, withForeign } from '../../../src/core/store/index.js';
import { scratch } from '../../support/project.js';

/** A database that its program has open, with rows that are only in its log. */
function open(folder: string): { readonly path: string; readonly db: Database.Database } {
  const path = join(folder, 'other.db');
  const db = new Database(path);
  db.pragma('journal_mode = WAL');
  db.exec(`CREATE TABLE message (id TEXT, room TEXT, text TEXT, length INTEGER GENERATED ALWAYS AS (length(text)));
    CREATE VIEW evil AS SELECT randomblob(1000000000) AS id;
    INSERT INTO message (id, room, text) VALUES ('1', 'a', 'one'), ('2', 'b', 'two'), ('3', 'a', 'three')`);
  return { path, db };
}

describe.each([
  ['copied', {}],
  ['in place', { maxCopied: 0 }],
] as const)('another program’s database, read %s', (_, how) => {
  test('[F33] tables and rows are read, log included, and no file changes', () => {
    const folder = scratch();
    const { path, db } = open(folder);
    const before = { names: readdirSync(folder).sort(), bytes: readFileSync(path), log: readFileSync(`${path}-wal`) };
    const found = withForeign(
      namedFile(path),
      ({ rows }) => ({
        tables: [...rows.tables],
        all: [...rows.each('message', ['id'])].length,
        some: [...rows.each('message', ['id', 'text'], { room: 'a' })],
        one: [...rows.each('message', ['text'], { room: 'a', id: '3' })],
      }),
      how,
    );
    // Reading a view or a computed column would run code: they are left out.
    expect(found.tables).toEqual([['message', ['id', 'room', 'text']]]);
    expect(found.all).toBe(3);
    expect(found.some).toEqual([
      { id: '1', text: 'one' },
      { id: '3', text: 'three' },
    ]);
    expect(found.one).toEqual([{ text: 'three' }]);
    expect({ names: readdirSync(folder).sort(), bytes: readFileSync(path), log: readFileSync(`${path}-wal`) }).toEqual(before);
    db.exec("INSERT INTO message (id) VALUES ('4')");
    db.close();
  });

  test('[F33] its program can write during a read, and the reader sees one state', () => {
    const { path, db } = open(scratch());
    withForeign(
      namedFile(path),
      ({ rows }) => {
        const first = [...rows.each('message', ['id'])].length;
        db.exec("INSERT INTO message (id, room) VALUES ('4', 'a')");
        expect([...rows.each('message', ['id'])]).toHaveLength(first);
      },
      how,
    );
    db.close();
  });

  test('an unknown column throws an error before any row is read', () => {
    const { path, db } = open(scratch());
    withForeign(namedFile(path), ({ rows }) => expect(() => [...rows.each('message', ['length'])]).toThrow(/has no column length/), how);
    db.close();
  });
});

describe('a database that is in use, or that lies where it cannot be written', () => {
  test('[F33] a write that has not ended is undone in the copy', () => {
    const path = join(scratch(), 'other.db');
    const db = new Database(path);
    db.exec("CREATE TABLE message (id TEXT, text TEXT); INSERT INTO message SELECT value, 'old' FROM json_each('[1,2,3]')");
    db.pragma('cache_size = 1');
    db.pragma('cache_spill = 1');
    db.exec('BEGIN EXCLUSIVE');
    // More than the cache holds, so that pages of the write are in the file already.
    db.exec("UPDATE message SET text = 'new'");
    for (let at = 0; at < 200; at++) db.prepare('INSERT INTO message VALUES (?, ?)').run(`n${at}`, 'x'.repeat(2_000));
    expect(readdirSync(join(path, '..'))).toContain('other.db-journal');
    expect(withForeign(namedFile(path), ({ rows }) => [...rows.each('message', ['text'])].map(({ text }) => text))).toEqual(['old', 'old', 'old']);
    expect(() => mirrorOf(namedFile(path)).read(() => {})).toThrow(expect.objectContaining({ code: 'UNAVAILABLE' }));
    db.exec('ROLLBACK');
    db.close();
  });

  test('[F33] one whose log is gone is read, also where SQLite cannot open it', () => {
    const folder = scratch();
    const { path, db } = open(folder);
    db.close();
    expect(readdirSync(folder)).toEqual(['other.db']);
    const texts = (how: object) => withForeign(namedFile(path), ({ rows }) => [...rows.each('message', ['text'])].length, how);
    expect(texts({})).toBe(3);
    expect(texts({ maxCopied: 0 })).toBe(3);
  });
});
