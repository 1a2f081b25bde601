import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import type { ContextId } from '../../src/core/base/index.js';
import { graph, materializedBytes, show, tips } from '../../src/core/chain/index.js';
import { importPaths } from '../../src/core/import/index.js';
import { atOnce, checkProject, openProject, type Project, repairProject } from '../../src/core/project/index.js';
import { rebuildFile } from '../../src/core/store/rebuild.js';
import { databaseIn, named } from '../support/damage.js';
import { root } from '../support/machine.js';
import { emptyProject, heldClock, scratch } from '../support/project.js';

interface Imported {
  readonly dir: string;
  readonly file: string;
  readonly contexts: ReadonlyMap<ContextId, string>;
}

const sample = join(root, 'resources/sample/larder/9dec3024-c217-4237-8dba-1d670b433c80.jsonl');

/** A closed project that imported one session. */
function imported(): Imported {
  const project = emptyProject();
  const folder = join(scratch(), 'sessions');
  mkdirSync(folder);
  const file = join(folder, 'session.jsonl');
  copyFileSync(sample, file);
  atOnce(importPaths(project.chain, { paths: [file] }));
  const contexts = contextsOf(project);
  project.close();
  return { dir: project.dir, file, contexts };
}

const contextsOf = (project: Project): Map<ContextId, string> =>
  new Map(
    tips(project.chain, {}).map(({ id }) => [id, Buffer.from(materializedBytes(project.chain, { id, stop: 'root' }).bytes).toString('base64')]),
  );

function changeRows(dir: string, sql: string): void {
  const raw = new Database(databaseIn(dir));
  raw.pragma('foreign_keys = OFF');
  raw.exec(sql);
  raw.close();
}

function opened(dir: string, options = {}): Project {
  const project = openProject(dir, heldClock(), undefined, options);
  onTestFinished(() => project.close());
  return project;
}

// One changed summary once made a repair throw three commits away, and importing the file again brought none of them back.
test('[T24] a changed summary costs no context, and the imported one comes back', () => {
  const { dir, contexts } = imported();
  changeRows(dir, "UPDATE commits SET summary = 'changed' WHERE seq = 2");
  const project = opened(dir);
  expect(contextsOf(project)).toEqual(contexts);
  expect(named(atOnce(repairProject(project)))).toBe('');
  expect(contextsOf(project)).toEqual(contexts);
  const [id] = project.db.all<{ id: ContextId }>('SELECT id FROM commits WHERE seq = 2').map((row) => row.id);
  expect(id && show(project.chain, id).summary).not.toBe('changed');
});

// Deleting rows behind Stemma's back: the file is still on the disk.
test('[T24] commits that are lost come back from the imported file under their names', () => {
  const { dir, contexts } = imported();
  changeRows(dir, 'DELETE FROM commits WHERE seq IN (2, 3)');
  const project = opened(dir);
  const result = atOnce(repairProject(project));
  expect(contextsOf(project)).toEqual(contexts);
  expect(named(result)).toBe('');
  // A restored commit has a later number than its children, but the graph still connects them.
  expect(graph(project.chain, { offset: 0, limit: 50 }).rows.filter(({ edges }) => edges.length === 0)).toHaveLength(1);
});

// Backups of format 49 and before hold commits in a table of another name.
test('[T24] a repair takes commits from a backup that was made before their table had its name', () => {
  const { dir, file } = imported();
  rmSync(file);
  const summaries = (path: string): unknown[] => {
    const raw = new Database(path, { readonly: true });
    const rows = raw.prepare('SELECT id, summary FROM commits ORDER BY id').all();
    raw.close();
    return rows;
  };
  const before = summaries(databaseIn(dir));
  mkdirSync(join(dir, 'backups'), { recursive: true });
  const backup = join(dir, 'backups', 'stemma-20260101T000000Z.db');
  copyFileSync(databaseIn(dir), backup);
  const raw = new Database(backup);
  raw.exec('ALTER TABLE commits RENAME TO context; PRAGMA user_version = 49');
  raw.close();
  changeRows(dir, "UPDATE commits SET summary = 'changed' WHERE seq = 2; DELETE FROM commits WHERE seq = 3");
  const project = opened(dir);
  expect(named(atOnce(repairProject(project)))).toBe('');
  expect(summaries(databaseIn(dir))).toEqual(before);
});

// A file of format 49 or before calls the table of commits by another name, and so does its copy until it is migrated.
test.each([
  { format: 50, table: 'commits' },
  { format: 49, table: 'context' },
])('[T24] in format $format, commits with a spoiled definition come back from the file', ({ format, table }) => {
  const { dir, contexts } = imported();
  const raw = new Database(databaseIn(dir));
  if (format === 49) raw.exec('ALTER TABLE commits RENAME TO context; PRAGMA user_version = 49');
  raw.unsafeMode();
  raw.pragma('writable_schema = ON');
  raw.prepare("UPDATE sqlite_schema SET sql = replace(sql, 'seq ', 'seq ((') WHERE type = 'table' AND name = ?").run(table);
  raw.close();
  const project = opened(dir, { repair: true });
  const { problems } = atOnce(repairProject(project));
  expect(problems.map(({ message }) => message).join()).toContain('rows of commits could not be read');
  expect(contextsOf(project)).toEqual(contexts);
});

test('[T24] a file with the number of an earlier format keeps its commits in a rebuild', () => {
  const { dir } = imported();
  changeRows(dir, 'DROP TABLE goal; PRAGMA user_version = 49');
  expect(rebuildFile(databaseIn(dir), [])).toMatchObject({ unread: ['goal'], lost: ['goal'] });
});

// The file comes back later: a person imports it again.
test('[T24] after a repair, importing the file again brings back what was lost', { tags: 'long' }, () => {
  const { dir, file, contexts } = imported();
  const kept = readFileSync(file);
  rmSync(file);
  const packs = readdirSync(join(dir, 'objects')).filter((name) => name.endsWith('.pack'));
  for (const name of packs) writeFileSync(join(dir, 'objects', name), Buffer.alloc(statSync(join(dir, 'objects', name)).size));
  const project = opened(dir);
  expect(atOnce(repairProject(project)).ok).toBe(false);
  writeFileSync(file, kept);
  atOnce(importPaths(project.chain, { paths: [file] }));
  expect(contextsOf(project)).toEqual(contexts);
  expect(atOnce(checkProject(project)).problems).toEqual([]);
});

// Nothing that names a table, a row or a file comes from the damaged database unchecked: a hostile name stays a name.
test('[T23] a damaged pack row with a path for a name opens no file outside of the project', () => {
  const { dir } = imported();
  const outside = join(dir, '..', 'outside.pack');
  writeFileSync(outside, 'mine');
  changeRows(dir, "INSERT INTO pack (no, file, createdAt) VALUES (99, '../outside.pack', 1)");
  const project = opened(dir);
  atOnce(repairProject(project));
  expect(readFileSync(outside, 'utf8')).toBe('mine');
});
