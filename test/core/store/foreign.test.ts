import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { namedFile } from '../../../src/core/files/index.js';
import { withForeign } from '../../../src/core/store/index.js';
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
