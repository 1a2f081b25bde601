import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { ContextId } from '../../../src/core/base/index.js';
import { checkpoint, materializedBytes } from '../../../src/core/chain/index.js';
import { importPaths } from '../../../src/core/import/index.js';
import { atOnce, backUpNow, type CheckResult, createProject, openProject, type Project, repairProject } from '../../../src/core/project/index.js';
import { anyDamage, contextsIn, type Damage, damage, materializable, named } from '../../support/damage.js';
import { root } from '../../support/machine.js';
import { heldClock, scratch, scratchUntilEnd } from '../../support/project.js';
import { runs } from '../../support/properties.js';
import { refusal } from '../../support/refusal.js';

/** A project with imported sessions in packs, and with commits that no file has. */
interface Made {
  readonly dir: string;
  readonly sources: string;
  readonly ids: readonly ContextId[];
  /** The commits that no file has. */
  readonly own: readonly ContextId[];
  readonly texts: ReadonlyMap<string, string>;
}

function make(folder: string): Made {
  const sources = join(folder, 'sessions');
  mkdirSync(sources);
  for (const file of readdirSync(join(root, 'resources/sample'), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.jsonl')))
    copyFileSync(join(root, 'resources/sample', file), join(sources, file.replaceAll('/', '_')));
  const project = createProject({ dir: join(folder, 'made') }, heldClock());
  atOnce(importPaths(project.chain, { paths: [sources] }));
  atOnce(project.chain.artifacts.repack());
  let parent: ContextId | null = null;
  for (let n = 0; n < 12; n++) {
    const text = `${JSON.stringify({ type: 'user', uuid: `u${n}`, message: { role: 'user', content: `message ${n} ${'x'.repeat(n * 400)}` } })}\n`;
    const common = { type: 'delta', format: 'claude-code-v1', template: 'own', checkpoint: 'explicit' } as const;
    parent = checkpoint(project.chain, { ...common, parent, text, summary: `step ${n}`, tags: ['own'] }).id;
  }
  const ids = project.db.all<{ id: ContextId }>('SELECT id FROM commits ORDER BY seq').map(({ id }) => id);
  const own = ids.slice(-12);
  const texts = contextsIn(project, ids);
  project.close();
  rmSync(join(project.dir, 'objects', 'snapshots'), { recursive: true, force: true });
  return { dir: project.dir, sources, ids, own, texts };
}

let made: Made;
beforeAll(() => {
  made = make(scratchUntilEnd());
});

const isOwn = (context: string): boolean => made.own.some((id) => context.startsWith(id));

/** Where the leaf pages of a table lie in the file, as fractions of it. */
function pagesOf(table: string): number[] {
  const raw = new Database(join(made.dir, 'stemma.db'), { readonly: true });
  const total = raw.pragma('page_count', { simple: true }) as number;
  const pages = raw.prepare("SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf'").pluck().all(table) as number[];
  raw.close();
  return pages.map((page) => (page - 0.5) / total);
}

interface Repaired {
  readonly result: CheckResult;
  readonly after: ReadonlyMap<string, string>;
  readonly before: ReadonlyMap<string, string>;
  readonly project: Project;
}

/** Damages a copy of the project and repairs it. Undefined if it was refused because nothing of the database can be read. */
function tryRepair(what: readonly Damage[], folder: string): Repaired | undefined {
  const dir = join(folder, 'damaged.stemma');
  cpSync(made.dir, dir, { recursive: true });
  for (const each of what) damage(dir, each);
  const before = materializable(dir, made.ids) ?? new Map();
  const damaged = readFileSync(join(dir, 'stemma.db'));
  let project: Project;
  try {
    project = openProject(dir, heldClock(), undefined, { repair: true });
  } catch (error) {
    expect(error).toMatchObject({ code: 'CORRUPT', message: expect.stringContaining('Nothing was changed') });
    expect(before.size).toBe(0);
    expect(readFileSync(join(dir, 'stemma.db')).equals(damaged)).toBe(true);
    return undefined;
  }
  const result = atOnce(repairProject(project));
  return { result, before, after: contextsIn(project, made.ids), project };
}

function repaired(what: readonly Damage[], folder: string): Repaired {
  const done = tryRepair(what, folder);
  if (!done) throw new Error('the repair was refused');
  return done;
}

const inFolder = (work: (folder: string) => void): void => {
  const folder = scratchUntilEnd();
  try {
    work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

describe('a repair', () => {
  test('[T24] loses nothing that could be read before, and names what it could not restore', { tags: 'long' }, () => {
    fc.assert(
      fc.property(fc.array(anyDamage, { minLength: 1, maxLength: 3 }), (what) =>
        inFolder((folder) => {
          const done = tryRepair(what, folder);
          if (!done) return;
          const { result, before, after, project } = done;
          project.close();
          for (const [context, ref] of before) {
            // What was answered before is what the project had, and is answered again.
            expect([context, ref]).toEqual([context, made.texts.get(context)]);
            expect([context, after.get(context)]).toEqual([context, ref]);
          }
          const missing = [...made.texts].filter(([context, ref]) => after.get(context) !== ref);
          if (missing.length > 0) expect(result.ok).toBe(false);
          for (const [context] of missing) expect(after.has(context)).toBe(false);
          if (missing.length > 0) expect(named(result)).not.toBe('');
        }),
      ),
      // The long form of test/faults draws more.
      { numRuns: runs(25) },
    );
  });

  test('[T24] a changed summary leaves every context readable, and brings back the imported one', { tags: 'long' }, () => {
    const what = { kind: 'row', table: 'commits', place: 0.1, column: 18 / 27 } as const;
    const { result, after, project } = repaired([what], scratch());
    onTestFinished(() => project.close());
    expect(after).toEqual(made.texts);
    expect(result.problems.filter((problem) => !problem.repaired)).toEqual([]);
  });

  test('[S16, T24] a lost page costs nothing that the imported files hold', { tags: 'long' }, () => {
    const { result, after, project } = repaired(
      pagesOf('commits').map((place) => ({ kind: 'page', place })),
      scratch(),
    );
    onTestFinished(() => project.close());
    const own = project.db.all<{ id: string }>("SELECT id FROM commits WHERE template = 'own'");
    for (const [context, ref] of made.texts) if (!isOwn(context)) expect([context, after.get(context)]).toEqual([context, ref]);
    // The commits that no file has are named, one by one.
    for (const id of made.own) if (!own.some((row) => row.id === id)) expect(named(result)).toContain(id);
    expect(own.length).toBeLessThan(made.own.length);
    expect(readdirSync(project.dir).filter((name) => /damaged-\d+$/.test(name))).toHaveLength(1);
  });

  test('[T24] a walk that meets a lost commit is refused, and never ends early', () => {
    const dir = join(scratch(), 'gap.stemma');
    cpSync(made.dir, dir, { recursive: true });
    const raw = new Database(join(dir, 'stemma.db'));
    raw.pragma('foreign_keys = OFF');
    const [, , lost = ''] = made.own;
    raw.prepare('DELETE FROM commits WHERE id = ?').run(lost);
    raw.close();
    const project = openProject(dir, heldClock());
    onTestFinished(() => project.close());
    for (const id of made.own.slice(3))
      expect(refusal(() => materializedBytes(project.chain, { id, stop: 'root' }))).toMatchObject({ code: 'CORRUPT' });
    expect(named(atOnce(repairProject(project)))).toContain(made.own[3]);
    for (const id of made.own.slice(3))
      expect(refusal(() => materializedBytes(project.chain, { id, stop: 'root' }))).toMatchObject({ code: 'CORRUPT' });
  });

  test('[S16] a pack whose row is lost costs nothing that the imported files hold', { tags: 'long' }, () => {
    const { result, after, project } = repaired([{ kind: 'row', table: 'pack', place: 0, column: 0 }], scratch());
    onTestFinished(() => project.close());
    expect(after).toEqual(made.texts);
    expect(named(result)).toBe('');
  });
});

/** What a lost sector, or a program that wrote over the file, leaves of the database's beginning. */
const beginnings = [
  ['header', 0, 100],
  ['magic string', 0, 16],
  ['format version', 56, 68],
  ['root of the schema', 100, 4096],
  ['first page', 0, 4096],
] as const;

const copyOfMade = (dir = join(scratch(), 'copy.stemma')): string => {
  cpSync(made.dir, dir, { recursive: true });
  return dir;
};

/** Overwrites bytes of the project's database. */
function withoutBytes(from: number, to: number, dir = copyOfMade()): string {
  const bytes = readFileSync(join(dir, 'stemma.db'));
  writeFileSync(join(dir, 'stemma.db'), bytes.fill(0xa5, from, Math.min(to, bytes.length)));
  return dir;
}

const repairIn = (dir: string): Project => openProject(dir, heldClock(), undefined, { repair: true });

describe('a repair of a database that lost its beginning', () => {
  test.each(beginnings)('[T67] restores everything if the %s is lost and a backup exists', async (_, from, to) => {
    const dir = copyOfMade();
    const before = openProject(dir, heldClock());
    await backUpNow(before);
    before.close();
    withoutBytes(from, to, dir);
    expect(refusal(() => openProject(dir, heldClock()))).toMatchObject({ code: 'CORRUPT' });
    const project = repairIn(dir);
    onTestFinished(() => project.close());
    const result = atOnce(repairProject(project));
    expect(contextsIn(project, made.ids)).toEqual(made.texts);
    expect(named(result)).toBe('');
    const files = readdirSync(dir).filter((name) => name.startsWith('stemma.db') && !/-(wal|shm)$/.test(name));
    expect(files.sort()).toEqual(['stemma.db', 'stemma.db.damaged-1']);
  });

  test('[T67] imports again what a file got after the newest backup', async () => {
    const folder = scratch();
    const file = join(folder, 'session.jsonl');
    const line = (type: 'user' | 'assistant', uuid: string, parentUuid: string | null): string =>
      `${JSON.stringify({ type, uuid, parentUuid, sessionId: 's', timestamp: '2026-01-01T00:00:00.000Z', message: { role: type, content: uuid } })}\n`;
    const turn = (name: string, after: string | null): string => line('user', name, after) + line('assistant', `${name} done`, name);
    writeFileSync(file, turn('first', null));
    const before = createProject({ dir: join(folder, 'grown') }, heldClock());
    atOnce(importPaths(before.chain, { paths: [file] }));
    await backUpNow(before);
    writeFileSync(file, turn('first', null) + turn('second', 'first done'));
    atOnce(importPaths(before.chain, { paths: [file] }));
    const ids = before.db.all<{ id: ContextId }>('SELECT id FROM commits').map(({ id }) => id);
    const texts = contextsIn(before, ids);
    before.close();
    const project = repairIn(withoutBytes(0, 100, before.dir));
    onTestFinished(() => project.close());
    const result = atOnce(repairProject(project));
    expect(contextsIn(project, ids)).toEqual(texts);
    expect(named(result)).toBe('');
    expect(result.problems.map(({ message }) => message).join()).toContain('written after the backup may be missing');
  });

  test('[T67] changes nothing and says what to do if nothing of the database can be read', () => {
    const dir = withoutBytes(0, Number.POSITIVE_INFINITY);
    const before = readdirSync(dir, { recursive: true, encoding: 'utf8' }).sort();
    const refused = refusal(() => repairIn(dir));
    expect(refused).toMatchObject({ code: 'CORRUPT', message: expect.stringContaining('stemma import') });
    expect(refused).toMatchObject({ message: expect.stringContaining('Nothing was changed') });
    expect(readdirSync(dir, { recursive: true, encoding: 'utf8' }).sort()).toEqual(before);
    // What the message says to do.
    renameSync(join(dir, 'stemma.db'), join(dir, 'stemma.db.broken'));
    const project = openProject(dir, heldClock());
    onTestFinished(() => project.close());
    atOnce(importPaths(project.chain, { paths: [made.sources] }));
    const imported = new Map([...made.texts].filter(([context]) => !isOwn(context)));
    expect(contextsIn(project, made.ids)).toEqual(imported);
  });
});

/** The files and folders below a folder that others can enter, read or write. */
const open = (dir: string): string[] =>
  [dir, ...readdirSync(dir, { recursive: true, encoding: 'utf8' }).map((name) => join(dir, name))].filter((path) => statSync(path).mode & 0o077);

describe('files and folders that hold a copy of a project', () => {
  test('[T33] are for their owner alone after a backup, a migration and every kind of repair', { tags: 'long' }, async () => {
    const umask = process.umask(0o022);
    onTestFinished(() => void process.umask(umask));
    const folder = scratch();
    for (const [from, to] of [
      [0, 4096],
      [8192, 20_000],
    ] as const) {
      const dir = copyOfMade(join(folder, `${from}-${to}.stemma`));
      const sound = openProject(dir, heldClock());
      await backUpNow(sound);
      sound.close();
      withoutBytes(from, to, dir);
      const project = repairIn(dir);
      atOnce(repairProject(project));
      await backUpNow(project);
      // The log and its index exist while the project is open.
      expect(open(dir)).toEqual([]);
      project.close();
      rmSync(join(dir, 'stemma.db'));
      const restored = repairIn(dir);
      atOnce(repairProject(restored));
      expect(open(dir)).toEqual([]);
      restored.close();
    }
  });

  test('[T23] a missing or empty database is restored from a backup, and never begun anew', { tags: 'long' }, async () => {
    const dir = copyOfMade();
    const project = openProject(dir, heldClock());
    await backUpNow(project);
    project.close();
    for (const spoil of [() => rmSync(join(dir, 'stemma.db')), () => writeFileSync(join(dir, 'stemma.db'), '')]) {
      spoil();
      expect(refusal(() => openProject(dir, heldClock()))).toMatchObject({ code: 'CORRUPT', message: expect.stringContaining('--repair') });
      const restored = repairIn(dir);
      expect(contextsIn(restored, made.ids)).toEqual(made.texts);
      restored.close();
    }
  });
});
