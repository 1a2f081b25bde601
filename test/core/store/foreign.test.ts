import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { withForeign } from '../../../src/core/store/index.js';
import { scratch } from '../../support/project.js';

/** A database that its program has open, with what was written last in its log alone. */
function open(folder: string): { readonly path: string; readonly db: Database.Database } {
  const path = join(folder, 'other.db');
  const db = new Database(path);
  db.pragma('journal_mode = WAL');
  db.exec(`CREATE TABLE said (id TEXT, room TEXT, text TEXT, length INTEGER GENERATED ALWAYS AS (length(text)));
    CREATE VIEW evil AS SELECT randomblob(1000000000) AS id;
    INSERT INTO said (id, room, text) VALUES ('1', 'a', 'one'), ('2', 'b', 'two'), ('3', 'a', 'three')`);
  return { path, db };
}

describe.each([
  ['copied', {}],
  ['where it lies', { mostCopied: 0 }],
] as const)('another program’s database, read %s', (_, how) => {
  test('[F33] its tables and rows are read, its log included, and nothing of it changes', () => {
    const folder = scratch();
    const { path, db } = open(folder);
    const before = { names: readdirSync(folder).sort(), bytes: readFileSync(path), log: readFileSync(`${path}-wal`) };
    const found = withForeign(
      path,
      ({ rows }) => ({
        tables: [...rows.tables],
        all: [...rows.each('said', ['id'])].length,
        some: [...rows.each('said', ['id', 'text'], { room: 'a' })],
        one: [...rows.each('said', ['text'], { room: 'a', id: '3' })],
      }),
      how,
    );
    // Views and computed columns would be run: they are not there.
    expect(found.tables).toEqual([['said', ['id', 'room', 'text']]]);
    expect(found.all).toBe(3);
    expect(found.some).toEqual([
      { id: '1', text: 'one' },
      { id: '3', text: 'three' },
    ]);
    expect(found.one).toEqual([{ text: 'three' }]);
    expect({ names: readdirSync(folder).sort(), bytes: readFileSync(path), log: readFileSync(`${path}-wal`) }).toEqual(before);
    db.exec("INSERT INTO said (id) VALUES ('4')");
    db.close();
  });

  test('[F33] its program writes on while it is read, and the reader sees one state', () => {
    const { path, db } = open(scratch());
    withForeign(
      path,
      ({ rows }) => {
        const first = [...rows.each('said', ['id'])].length;
        db.exec("INSERT INTO said (id, room) VALUES ('4', 'a')");
        expect([...rows.each('said', ['id'])]).toHaveLength(first);
      },
      how,
    );
    db.close();
  });

  test('a column that is not there is a mistake of ours, and no row of it is read', () => {
    const { path, db } = open(scratch());
    withForeign(path, ({ rows }) => expect(() => [...rows.each('said', ['length'])]).toThrow(/has no column length/), how);
    db.close();
  });
});
