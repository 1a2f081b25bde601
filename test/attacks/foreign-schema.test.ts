import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { atOnce, checkProject, openForHook, openProject, repairProject } from '../../src/core/project/index.js';
import { formatVersion, openDatabase } from '../../src/core/store/index.js';
import { migrations } from '../../src/core/store/migrations/index.js';
import { emptyProject, heldClock, scratch, trustEverything } from '../support/project.js';
import { refusal } from '../support/refusal.js';

/** A closed project whose database a stranger changed by the given SQL. */
function changed(sql: string): string {
  const project = emptyProject();
  project.db.run("INSERT INTO pack (file, createdAt) VALUES ('kept', 1)");
  project.close();
  const raw = new Database(join(project.dir, 'stemma.db'));
  raw.exec(sql);
  raw.close();
  return project.dir;
}

const rowsIn = (dir: string): unknown[] => {
  const raw = new Database(join(dir, 'stemma.db'), { readonly: true });
  const rows = raw.prepare('SELECT file FROM pack').pluck().all();
  raw.close();
  return rows;
};

// Stemma writes to a project as soon as it opens it; a trigger in the database would run with that write.
const attacks: readonly (readonly [string, string, string])[] = [
  ['a trigger on a table', "CREATE TRIGGER sneak AFTER INSERT ON project BEGIN UPDATE pack SET file = 'changed'; END", 'the trigger "sneak"'],
  [
    'a trigger under the name of a former one of ours',
    'CREATE TRIGGER packSumUpdated AFTER UPDATE ON pack BEGIN DELETE FROM pack; END',
    'the trigger "packSumUpdated"',
  ],
  ['a view', 'CREATE VIEW peek AS SELECT * FROM project', 'the view "peek"'],
  ['a view in the place of a table', 'DROP TABLE progress; CREATE VIEW progress AS SELECT 1 AS project', 'the view "progress"'],
  ['a table', 'CREATE TABLE extra (a)', 'the table "extra"'],
  ['an index by an expression', 'CREATE INDEX slow ON project(upper(name))', 'the index "slow"'],
  ['a virtual table in the place of a table', 'DROP TABLE progress; CREATE VIRTUAL TABLE progress USING fts5(a)', 'the virtual table "progress"'],
];

test.each(attacks)('[T26] %s is refused by its name, and the rows stay as they are', (_, sql, name) => {
  const dir = changed(sql);
  const doors = [
    () => openProject(dir, heldClock()),
    () => openForHook({ dir }, heldClock(), trustEverything),
    () => openDatabase(join(dir, 'stemma.db'), { readonly: true }),
  ];
  for (const open of doors) expect(refusal(open)).toMatchObject({ code: 'CORRUPT', message: expect.stringContaining(name) });
  expect(rowsIn(dir)).toEqual(['kept']);
});

/** A closed project as an older Stemma made it, whose database a stranger changed by the given SQL. */
function changedOlder(version: number, sql: string): string {
  const project = emptyProject();
  const own = project.db.one<{ projectId: string; name: string; createdAt: number }>('SELECT projectId, name, createdAt FROM project');
  project.close();
  const file = join(project.dir, 'stemma.db');
  for (const ending of ['', '-wal', '-shm']) rmSync(file + ending, { force: true });
  const raw = new Database(file);
  raw.exec(migrations.slice(0, version).join('\n'));
  raw.prepare('INSERT INTO project (projectId, name, createdAt) VALUES (?, ?, ?)').run(own?.projectId, own?.name, own?.createdAt);
  raw.exec("INSERT INTO pack (file, createdAt) VALUES ('kept', 1)");
  raw.exec(sql);
  raw.pragma(`user_version = ${version}`);
  raw.close();
  return project.dir;
}

test('[T26] a foreign trigger in an older format does not run with the migration', () => {
  const dir = changedOlder(18, 'CREATE TRIGGER sneak AFTER UPDATE ON pack BEGIN DELETE FROM pack; END');
  expect(refusal(() => openProject(dir, heldClock()))).toMatchObject({ code: 'CORRUPT', message: expect.stringContaining('the trigger "sneak"') });
  expect(rowsIn(dir)).toEqual(['kept']);
});

test('[T26] a name of a former derived table lets no view or trigger in', () => {
  for (const foreign of ['VIEW usageCall AS SELECT 1', 'TRIGGER usageSum AFTER INSERT ON pack BEGIN SELECT 1; END'])
    expect(refusal(() => openProject(changedOlder(47, `CREATE ${foreign}`), heldClock()))).toMatchObject({ code: 'CORRUPT' });
  const project = openProject(changedOlder(47, 'CREATE TABLE usageCall (no); CREATE INDEX usageCallAny ON usageCall(no)'), heldClock());
  expect(project.db.one("SELECT 1 FROM main.sqlite_schema WHERE name GLOB 'usageCall*'")).toBeUndefined();
  project.close();
});

test('[T26] a former trigger with another body is dropped before the migration writes', () => {
  const dir = changedOlder(
    20,
    'DROP TRIGGER IF EXISTS packSumUpdated; CREATE TRIGGER packSumUpdated AFTER UPDATE ON pack BEGIN DELETE FROM pack; END',
  );
  openProject(dir, heldClock()).close();
  expect(rowsIn(dir)).toEqual(['kept']);
});

test('[T26] a repair copies the rows into a database without the foreign objects', () => {
  const dir = changed('CREATE TRIGGER sneak AFTER INSERT ON pack BEGIN DELETE FROM pack; END; CREATE TABLE extra (a)');
  const project = openProject(dir, heldClock(), undefined, { repair: true });
  onTestFinished(() => project.close());
  expect(project.db.all("SELECT name FROM sqlite_schema WHERE name IN ('sneak', 'extra')")).toEqual([]);
  expect(project.db.all('SELECT file FROM pack')).toEqual([{ file: 'kept' }]);
  atOnce(repairProject(project));
  expect(atOnce(checkProject(project)).problems).toEqual([]);
});

test('[T26] the schema of a database that is open cannot be written', () => {
  const file = join(scratch(), 'a.db');
  const db = openDatabase(file);
  onTestFinished(() => db.close());
  db.run('PRAGMA writable_schema = ON');
  expect(() => db.run("UPDATE sqlite_schema SET sql = 'CREATE VIEW pack AS SELECT 1' WHERE name = 'pack'")).toThrow(/may not be modified/);
});

// A repair once wrote our own version number over a newer one and said that the project is sound.
test.each([false, true])('[T25] a newer format is refused and left as it is, repair: %s', (repair) => {
  const dir = changed(`PRAGMA user_version = ${formatVersion + 3}`);
  const before = readFileSync(join(dir, 'stemma.db'));
  expect(refusal(() => openProject(dir, heldClock(), undefined, { repair }))).toMatchObject({
    code: 'CONFLICT',
    data: { needed: formatVersion + 3, known: formatVersion },
  });
  expect(readFileSync(join(dir, 'stemma.db')).equals(before)).toBe(true);
});
