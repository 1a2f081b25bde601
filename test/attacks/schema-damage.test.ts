import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import type { ContextId } from '../../src/core/base/index.js';
import { checkpoint, materializedBytes, show } from '../../src/core/chain/index.js';
import { atOnce, checkProject, createProject, openProject, type Project, repairProject } from '../../src/core/project/index.js';
import { formatVersion, openDatabase } from '../../src/core/store/index.js';
import { some } from '../support/long.js';
import { firstWithSums, olderDatabase } from '../support/older.js';
import { heldClock, scratch } from '../support/project.js';
import { refusal } from '../support/refusal.js';

const line = (uuid: string): string => `${JSON.stringify({ type: 'user', uuid, message: { role: 'user', content: 'hello' } })}\n`;
const commit = (project: Project, parent: ContextId | null, uuid: string): ContextId =>
  checkpoint(project.chain, {
    parent,
    type: 'delta',
    format: 'claude-code-v1',
    text: line(uuid),
    template: 't',
    checkpoint: 'explicit',
    summary: uuid,
  }).id;
const contentOf = (project: Project, id: ContextId): string => Buffer.from(materializedBytes(project.chain, { id, stop: 'root' }).bytes).toString();

/** A closed project whose schema another program changed by the given SQL. */
function changed(sql: string): { dir: string; id: ContextId } {
  const project = createProject({ dir: join(scratch(), 'p.stemma') }, heldClock());
  const id = commit(project, commit(project, null, 'a'), 'b');
  project.close();
  const raw = new Database(join(project.dir, 'stemma.db'));
  raw.unsafeMode();
  raw.pragma('writable_schema = ON');
  raw.exec(sql);
  raw.close();
  return { dir: project.dir, id };
}

/** SQL that changes the definition of the table of commits as an editor of the file does. */
const rewrite = (from: string, to: string): string =>
  `UPDATE sqlite_schema SET sql = replace(sql, '${from}', '${to}') WHERE type = 'table' AND name = 'commits'`;

/** What the check says, or what the project refuses if it cannot be read; and that it recommends a repair or lists the problem. */
function saidOf(dir: string, id: ContextId): string {
  let project: Project | undefined;
  try {
    project = openProject(dir, heldClock());
    const { ok, problems } = atOnce(checkProject(project));
    expect(ok).toBe(false);
    return problems.map(({ message }) => message).join('\n');
  } catch (error) {
    expect(error).toMatchObject({ code: 'CORRUPT', message: expect.stringContaining('stemma fsck --repair') });
    if (project) expect(refusal(() => show((project as Project).chain, id))).toMatchObject({ code: 'CORRUPT' });
    return (error as Error).message;
  } finally {
    project?.close();
  }
}

const damages = [
  ['another type of a column', rewrite('createdAt     INTEGER', 'createdAt     TEXT   '), 'the table "commits"'],
  ['a type that does not exist', rewrite('messageCount  INTEGER', 'messageCount  INTEGEP'), 'the table "commits"'],
  ['another name of a column in the file', rewrite('principal     TEXT', 'principle     TEXT'), 'the table "commits"'],
  ['a renamed column', 'ALTER TABLE commits RENAME COLUMN summary TO summery', 'the table "commits"'],
  ['a column more', 'ALTER TABLE commits ADD COLUMN extra TEXT', 'the table "commits"'],
  ['a computed column', 'ALTER TABLE commits ADD COLUMN extra TEXT GENERATED ALWAYS AS (upper(id))', 'the table "commits"'],
  ['a column without values less', 'ALTER TABLE commits DROP COLUMN machine', 'the table "commits"'],
  ['a constraint less', rewrite('template      TEXT NOT NULL', 'template      TEXT         '), 'the table "commits"'],
  ['a constraint more', rewrite('depth         INTEGER NOT NULL', 'depth         INTEGER NOT NULL CHECK (depth < 1)'), 'the table "commits"'],
  ['another collation', rewrite('id            TEXT NOT NULL', 'id            TEXT NOT NULL COLLATE NOCASE'), 'the table "commits"'],
  ['a reference to another table', rewrite('REFERENCES artifact(no)', 'REFERENCES pack(no)'), 'the table "commits"'],
  ['a dropped index', 'DROP INDEX contextRun', 'the index "contextRun" is missing'],
  ['a dropped unique index', 'DROP INDEX contextId', 'the index "contextId" is missing'],
  ['an index over another column', 'DROP INDEX contextRun; CREATE INDEX contextRun ON commits(depth)', 'the index "contextRun"'],
  ['a dropped table of caches', 'DROP TABLE materialized', 'the table materialized'],
  ['a foreign view', 'CREATE VIEW peek AS SELECT * FROM project', 'the view "peek"'],
  ['a foreign trigger', 'CREATE TRIGGER sneak AFTER INSERT ON commits BEGIN DELETE FROM pack; END', 'the trigger "sneak"'],
  ['a foreign table', 'CREATE TABLE extra (a)', 'the table "extra"'],
  [
    'several at once',
    `DROP INDEX contextId; ALTER TABLE pack ADD COLUMN extra TEXT; CREATE VIEW peek AS SELECT 1; CREATE TABLE extra (a); ${rewrite('createdAt     INTEGER', 'createdAt     TEXT   ')}`,
    'the view "peek"',
  ],
] as const;

// A repair once left changed definitions as they were, and lost commits because a column had another type.
test.each(some(damages, 6))('[T24, T71] %s is named, and a repair restores it and loses nothing', (_, sql, name) => {
  const { dir, id } = changed(sql);
  expect(saidOf(dir, id)).toContain(name);
  const repaired = openProject(dir, heldClock(), undefined, { repair: true });
  const { ok, problems } = atOnce(repairProject(repaired));
  expect({ ok, left: problems.filter((problem) => !problem.repaired) }).toEqual({ ok: true, left: [] });
  repaired.close();
  const project = openProject(dir, heldClock());
  onTestFinished(() => project.close());
  expect(atOnce(checkProject(project)).problems).toEqual([]);
  expect(contentOf(project, id)).toBe(line('a') + line('b'));
  expect(show(project.chain, id)).toMatchObject({ summary: 'b' });
  expect(show(project.chain, commit(project, id, 'c')).parent).toBe(id);
});

test('[T24, T71] rows whose checksums were removed stay readable and stay reported', () => {
  const { dir, id } = changed('ALTER TABLE commits DROP COLUMN rowSum');
  expect(saidOf(dir, id)).toContain('the table "commits"');
  const project = openProject(dir, heldClock(), undefined, { repair: true });
  onTestFinished(() => project.close());
  const { problems } = atOnce(repairProject(project));
  expect(problems.filter(({ repaired }) => !repaired).map((problem) => problem.id)).toContain(id);
  expect(contentOf(project, id)).toBe(line('a') + line('b'));
  // Nothing proves the summary.
  expect(show(project.chain, id)).toMatchObject({ damaged: true });
});

test('[T24, T71] a definition that cannot be read costs its rows; the table is named', () => {
  const { dir, id } = changed(rewrite('seq ', 'seq (('));
  expect(saidOf(dir, id)).toContain('malformed database schema');
  const project = openProject(dir, heldClock(), undefined, { repair: true });
  onTestFinished(() => project.close());
  const { ok, problems } = atOnce(repairProject(project));
  expect(ok).toBe(false);
  expect(problems.map((problem) => `${problem.id} ${problem.message}`).join('\n')).toMatch(/rows of commits could not be read.*kept at \S+damaged-1/);
});

test('[T24, T71] a column whose name is no text costs the rows of its table, which is named', () => {
  const name = (from: string, to: string): string => `replace(sql, '${from}', CAST(x'f3' AS TEXT) || '${to}')`;
  const { dir, id } = changed(
    `UPDATE sqlite_schema SET sql = ${name('space ', 'pace ').replace('(sql', `(${name('space)', 'pace)')}`)} WHERE name = 'runSeen'`,
  );
  expect(saidOf(dir, id)).toContain('the table "runSeen"');
  const project = openProject(dir, heldClock(), undefined, { repair: true });
  onTestFinished(() => project.close());
  expect(
    atOnce(repairProject(project))
      .problems.map((problem) => problem.message)
      .join('\n'),
  ).toContain('rows of runSeen could not be read');
  expect(contentOf(project, id)).toBe(line('a') + line('b'));
  expect(atOnce(checkProject(project)).problems).toEqual([]);
});

// The commit of an object whose row had changed was not named.
test.each(['project = 0', 'hash = zeroblob(32)', 'expiresAt = 1'])('[T24] a repair names the commit of an object whose row says %s', (change) => {
  const { dir, id } = changed(
    `PRAGMA foreign_keys = OFF; UPDATE artifact SET ${change} WHERE no = (SELECT artifact FROM commits ORDER BY seq DESC LIMIT 1)`,
  );
  const project = openProject(dir, heldClock(), undefined, { repair: true });
  onTestFinished(() => project.close());
  const { ok, problems } = atOnce(repairProject(project));
  expect(ok).toBe(false);
  expect(problems.map((problem) => `${problem.id} ${problem.message}`).join('\n')).toContain(id);
});

// A column that a later format adds comes after the checksums in a database that is older than it.
test('[T71] a migrated database has the same definitions as a new one', { tags: 'long' }, () => {
  for (let version = firstWithSums; version < formatVersion; version++) {
    const db = openDatabase(olderDatabase(version));
    expect({ version, changed: db.changedDefinitions() }).toEqual({ version, changed: [] });
    db.close();
  }
});
