import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { formatVersion, openDatabase } from '../../../src/core/store/index.js';
import { ticketAnswers } from '../../../src/core/store/migrations/015-ticket-answers.js';
import { migrations } from '../../../src/core/store/migrations/index.js';
import { addSums, registerSums, watchRows } from '../../../src/core/store/sums.js';
import { olderDatabase } from '../../support/older.js';
import { scratch } from '../../support/project.js';
import { runs } from '../../support/properties.js';

/** Creates a database of an older format, with one row. */
function older(file: string, version: number): void {
  writeFileSync(file, olderDatabase(version));
  const raw = new Database(file);
  raw.pragma('journal_mode = WAL');
  registerSums(raw);
  watchRows(raw);
  raw.prepare("INSERT INTO project (projectId, name, createdAt) VALUES ('p', 'kept', 1)").run();
  raw.close();
}

const nameIn = (file: string): unknown => {
  const raw = new Database(file, { readonly: true });
  const row = raw.prepare('SELECT name FROM project').pluck().get();
  raw.close();
  return row;
};

describe('the database', () => {
  test('[S3] uses WAL, syncs each commit, and checks foreign keys', () => {
    const db = openDatabase(join(scratch(), 'a.db'));
    const pragma = (name: string): unknown => Object.values(db.one<object>(`PRAGMA ${name}`) ?? {})[0];
    expect([pragma('journal_mode'), pragma('synchronous'), pragma('foreign_keys')]).toEqual(['wal', 2, 1]);
    expect(() => db.run('INSERT INTO firstParentRun (project, origin) VALUES (1, 99)')).toThrow(/FOREIGN KEY/);
    db.close();
  });

  test('[S20] a connection leaves the copying of a long log to another one', { tags: 'long' }, () => {
    const file = join(scratch(), 'a.db');
    const [own, other] = [openDatabase(file), openDatabase(file)];
    const sizeAfter = (db: typeof own): number => {
      db.run('INSERT INTO project (projectId, name, createdAt) VALUES (hex(randomblob(8)), hex(zeroblob(8000000)), 1)');
      return statSync(file).size;
    };
    const take = own.leaveLog();
    const before = statSync(file).size;
    expect(sizeAfter(own)).toBe(before);
    const copied = sizeAfter(other);
    expect(copied).toBeGreaterThan(before + 16_000_000);
    take();
    expect(sizeAfter(own)).toBeGreaterThan(copied);
    own.close();
    other.close();
  });

  test('[S20] a write gets the lock in a short pause of a thread that takes it again and again', async () => {
    const file = join(scratch(), 'a.db');
    const db = openDatabase(file);
    db.leaveLog();
    const holds = new Int32Array(new SharedArrayBuffer(4));
    // As an import does.
    const code = `const Database = require('better-sqlite3');
const { file, holds } = require('node:worker_threads').workerData;
const db = new Database(file);
const pause = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
for (;; pause(5)) {
  db.exec('BEGIN IMMEDIATE');
  Atomics.add(holds, 0, 1);
  Atomics.notify(holds, 0);
  pause(70);
  db.exec('COMMIT');
}`;
    const worker = new Worker(code, { eval: true, workerData: { file, holds } });
    for (let write = 0; write < 12; write++) {
      // Each write begins while the lock is held.
      Atomics.wait(holds, 0, Atomics.load(holds, 0));
      db.transaction(() => db.run("INSERT INTO project (projectId, name, createdAt) VALUES (hex(randomblob(8)), 'a', 1)"));
    }
    const held = Atomics.load(holds, 0);
    await worker.terminate();
    db.close();
    // SQLite's own waiting misses most pauses.
    expect(held).toBeLessThan(36);
  });

  test('[S8] every new database has the definitions and settings that the migrations make', () => {
    const facts = (raw: Database.Database): unknown[] =>
      ['SELECT type, name, sql FROM sqlite_schema ORDER BY name', 'PRAGMA user_version'].map((sql) => raw.prepare(sql).all());
    const migrated = new Database(':memory:');
    registerSums(migrated);
    for (const step of migrations) migrated.exec(step);
    addSums(migrated, []);
    migrated.pragma(`user_version = ${formatVersion}`);
    const dir = scratch();
    // The first may be made by the migrations, and later ones repeat it.
    for (const name of ['first.db', 'second.db', 'third.db']) {
      openDatabase(join(dir, name)).close();
      const raw = new Database(join(dir, name));
      expect(facts(raw)).toEqual(facts(migrated));
      raw.close();
    }
    migrated.close();
  });

  test('[S8] every older format is migrated after a complete backup', { tags: 'long' }, () => {
    for (let version = 1; version < formatVersion; version++) {
      const dir = scratch();
      const file = join(dir, 'a.db');
      older(file, version);
      const db = openDatabase(file, { backupPath: (from) => join(dir, `format-${from}`) });
      expect(db.one('PRAGMA user_version')).toEqual({ user_version: formatVersion });
      expect(db.one('SELECT name FROM project')).toEqual({ name: 'kept' });
      expect([...db.integrity(), ...db.changedRows()]).toEqual([]);
      db.close();
      expect(nameIn(join(dir, `format-${version}`))).toBe('kept');
    }
  });

  test('[S8] answers to start events keep their content when they move to their own table', () => {
    const file = join(scratch(), 'a.db');
    older(file, migrations.indexOf(ticketAnswers));
    const raw = new Database(file);
    raw.exec(`INSERT INTO ticket (project, ticketId, title, body, type, status, reviewers, labels, createdAt, updatedAt) VALUES (1, 'tkt-1', '', '', '', '', '', '', 1, 1);
      INSERT INTO ticketEvent (project, ticket, at, task, answer, answeredBy, answeredAt) VALUES (1, 1, 2, 'work', 'taken', '@me', 3), (1, 1, 2, 'work', NULL, NULL, NULL)`);
    raw.close();
    const db = openDatabase(file);
    expect(db.all('SELECT event, at, by, answer FROM ticketAnswer')).toEqual([{ event: 1, at: 3, by: '@me', answer: 'taken' }]);
    expect(db.one('SELECT COUNT(*) AS events FROM ticketEvent')).toEqual({ events: 2 });
    db.close();
  });

  test('[S8] the backup contains commits that are only in the log', () => {
    const dir = scratch();
    const file = join(dir, 'a.db');
    older(file, 1);
    const writer = new Database(file);
    writer.pragma('wal_autocheckpoint = 0');
    writer.prepare("UPDATE project SET name = 'in the log'").run();
    const db = openDatabase(file, { backupPath: () => join(dir, 'copy') });
    expect(nameIn(join(dir, 'copy'))).toBe('in the log');
    db.close();
    writer.close();
  });

  test('[S8] a failed migration leaves the old format and its data', () => {
    const file = join(scratch(), 'a.db');
    older(file, 1);
    const raw = new Database(file);
    raw.exec('CREATE TABLE block (in_the_way INTEGER)');
    raw.close();
    expect(() => openDatabase(file)).toThrow();
    const after = new Database(file);
    expect(after.pragma('user_version', { simple: true })).toBe(1);
    expect(after.prepare('SELECT name FROM project').pluck().get()).toBe('kept');
    after.close();
  });

  test('[S8] a newer format is refused with the needed version, and not changed', () => {
    const file = join(scratch(), 'a.db');
    older(file, 1);
    const raw = new Database(file);
    raw.pragma(`user_version = ${formatVersion + 3}`);
    raw.close();
    expect(() => openDatabase(file, { backupPath: () => join(file, '..', 'copy') })).toThrow(
      expect.objectContaining({ code: 'CONFLICT', data: { needed: formatVersion + 3, known: formatVersion } }),
    );
    expect(existsSync(join(file, '..', 'copy'))).toBe(false);
  });

  test('[S8] an open project takes no writes after a newer Stemma migrated it, and is still read', () => {
    const file = join(scratch(), 'a.db');
    const db = openDatabase(file);
    const insert = (name: string): unknown => db.run(`INSERT INTO project (projectId, name, createdAt) VALUES ('${name}', 'kept', 1)`);
    const first = insert('p');
    expect(first).toMatchObject({ changes: 1 });
    const newer = new Database(file);
    newer.pragma(`user_version = ${formatVersion + 1}`);
    newer.close();
    const refusal = expect.objectContaining({ code: 'CONFLICT', message: expect.stringContaining('open it with a newer Stemma') });
    expect(() => insert('alone')).toThrow(refusal);
    expect(() => db.transaction(() => insert('inside'))).toThrow(refusal);
    expect(db.all('SELECT projectId FROM project')).toEqual([{ projectId: 'p' }]);
    db.close();
  });

  test('a file that is not a database is CORRUPT', () => {
    const file = join(scratch(), 'a.db');
    writeFileSync(file, 'x'.repeat(10_000));
    expect(() => openDatabase(file)).toThrow(expect.objectContaining({ code: 'CORRUPT' }));
  });

  test('a failed transaction writes nothing and calls the rollback listeners', () => {
    const db = openDatabase(join(scratch(), 'a.db'));
    const heard: string[] = [];
    db.beforeCommit(() => heard.push('commit'));
    db.onRollback(() => heard.push('rollback'));
    const insert = (): unknown => db.run("INSERT INTO project (projectId, name, createdAt) VALUES ('a', 'a', 1)");
    expect(() =>
      db.transaction(() => {
        insert();
        db.transaction(insert);
      }),
    ).toThrow();
    expect(db.all('SELECT 1 FROM project')).toEqual([]);
    db.transaction(insert);
    expect(heard).toEqual(['rollback', 'rollback', 'commit']);
    db.close();
  });

  test('[S23] a nested transaction that fails is undone alone', () => {
    const db = openDatabase(join(scratch(), 'a.db'));
    const insert = (id: string): unknown => db.run('INSERT INTO project (projectId, name, createdAt) VALUES (?, ?, 1)', id, id);
    db.transaction(() => {
      insert('a');
      expect(() =>
        db.transaction(() => {
          insert('b');
          db.transaction(() => insert('c'));
          throw new Error('refused');
        }),
      ).toThrow('refused');
      db.transaction(() => insert('d'));
    });
    expect(db.all<{ projectId: string }>('SELECT projectId FROM project').map(({ projectId }) => projectId)).toEqual(['a', 'd']);
    db.close();
  });

  const objectRow = {
    project: 1,
    key: 7,
    hash: Buffer.alloc(32, 1),
    size: 3,
    storedSize: 3,
    encoding: 0,
    contentType: 'text/plain',
    policy: 'default',
    createdAt: 1_800_000_000_000,
    data: Buffer.from('abc'),
  };

  test('[S15] an insert computes the same checksum as the database, for any values', { tags: 'long' }, () => {
    const db = openDatabase(join(scratch(), 'a.db'));
    const text = fc.string({ unit: 'binary' });
    const halves = fc.array(fc.constantFrom('a', '\ud800', '\udc00', '\0', '"', '\\', 'é', '😀')).map((parts) => parts.join(''));
    const bytes = fc.uint8Array().map((each) => Buffer.from(each));
    const row = fc.record(
      {
        contentType: fc.oneof(text, halves),
        labels: fc.oneof(text, halves, fc.constant(null)),
        hash: bytes,
        data: fc.oneof(bytes, fc.constant(null)),
        createdAt: fc.oneof(fc.maxSafeInteger(), fc.constantFrom(-0, 2 ** 31, -(2 ** 31) - 1)),
        packStart: fc.oneof(fc.nat(), fc.constant(null)),
      },
      { requiredKeys: ['hash'] },
    );
    db.transaction(() =>
      fc.assert(
        fc.property(row, (each) => {
          db.insert('artifact', { ...objectRow, ...each });
          expect(db.changedRows()).toEqual([]);
        }),
        { numRuns: runs(100) },
      ),
    );
    const sums = (): unknown[] => db.all('SELECT rowSum FROM artifact ORDER BY no');
    const inserted = sums();
    db.run('UPDATE artifact SET size = size');
    expect(inserted.length).toBeGreaterThan(0);
    expect(sums()).toEqual(inserted);
    db.close();
  });

  test('[S15] checksums cover the row number, also with other writers and rollbacks', () => {
    const file = join(scratch(), 'a.db');
    const [a, b] = [openDatabase(file), openDatabase(file)];
    const put = (db: typeof a) => db.insert('artifact', objectRow).rowId;
    expect([put(a), put(b), put(b), put(a), put(a)]).toEqual([1, 2, 3, 4, 5]);
    expect(() =>
      a.transaction(() => {
        put(a);
        throw new Error('rolled back');
      }),
    ).toThrow('rolled back');
    expect([put(a), put(b)]).toEqual([6, 7]);
    b.run('DELETE FROM artifact WHERE no > 4');
    expect([put(a), put(b)]).toEqual([5, 6]);
    expect(a.changedRows()).toEqual([]);
    a.run('UPDATE artifact SET rowSum = rowSum + 1 WHERE no = 5');
    expect(b.changedRows()).toEqual([{ table: 'artifact', row: '5' }]);
    expect(() => a.insert('artifact', { ...objectRow, color: 'red' })).toThrow('artifact has no column named color');
    a.close();
    b.close();
  });

  test('a statement is planned once, whatever values it gets', () => {
    const db = openDatabase(join(scratch(), 'a.db'));
    const compiled = vi.spyOn(globalThis, 'Function');
    onTestFinished(() => {
      compiled.mockRestore();
      db.close();
    });
    for (const name of ['a', 'b', 'c']) db.run('INSERT INTO project (projectId, name, createdAt) VALUES (?, ?, 1)', name, name);
    const sql = 'SELECT p.name, q.no FROM project p JOIN project q ON q.no = p.no WHERE p.name = ? AND q.createdAt IS :at ORDER BY q.no LIMIT ?';
    const found = ['a', 'b', 'c'].map((name) => db.one<{ name: string }>(sql, name, { at: 1 }, 5)?.name);
    expect(found).toEqual(['a', 'b', 'c']);
    expect(compiled).toHaveBeenCalledTimes(1);
  });

  test('[S10] a reader sees the state before an open transaction of another connection', () => {
    const file = join(scratch(), 'a.db');
    const [a, b] = [openDatabase(file), openDatabase(file)];
    a.transaction(() => {
      a.run("INSERT INTO project (projectId, name, createdAt) VALUES ('a', 'a', 1)");
      expect(b.all('SELECT 1 FROM project')).toEqual([]);
    });
    b.transaction(() => b.run("INSERT INTO project (projectId, name, createdAt) VALUES ('b', 'b', 1)"));
    expect(a.all('SELECT name FROM project ORDER BY name')).toEqual([{ name: 'a' }, { name: 'b' }]);
    a.close();
    b.close();
  });

  test('a read-only database is read and refuses writes', () => {
    const file = join(scratch(), 'a.db');
    openDatabase(file).close();
    const db = openDatabase(file, { readonly: true });
    expect(db.all('SELECT * FROM project')).toEqual([]);
    expect(() => db.run("INSERT INTO project (projectId, name, createdAt) VALUES ('a', 'a', 1)")).toThrow(
      expect.objectContaining({ code: 'UNAVAILABLE', data: { reason: 'read-only' } }),
    );
    db.close();
  });

  test('[S18] a wrong statement is a bug and not damage', () => {
    const db = openDatabase(join(scratch(), 'a.db'));
    expect(() => db.all('SELECT nothing FROM project')).toThrow(expect.objectContaining({ code: 'SQLITE_ERROR' }));
    db.close();
  });
});
