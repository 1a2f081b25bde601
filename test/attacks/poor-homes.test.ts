// Homes that Stemma cannot use: read-only, full, absent, oddly named; and databases of other users. Each command works without its home, or says in one sentence what is wrong.
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, cpSync, mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { ensureBuilt } from '../support/built.js';
import { canMount, remount, smallDisk } from '../support/disks.js';
import { stateOf } from '../support/foreign-project.js';
import { built, type Machine, machine, node, type Ran } from '../support/machine.js';
import { root } from '../support/source.js';

beforeAll(ensureBuilt, 300_000);

interface Poor {
  readonly own: Machine;
  /** A folder outside of the home. */
  readonly work: string;
  readonly history: string;
  run(words: readonly string[], input?: string, more?: Readonly<Record<string, string>>): Ran;
}

/** A machine whose commands run with this home, as the user with this number, and without a folder of Stemma's own. */
function withHome(home: string | undefined, uid?: number): Poor {
  const own = machine();
  onTestFinished(() => own[Symbol.asyncDispose]());
  const history = own.giveHistory();
  const work = own.path('work');
  if (uid !== undefined) for (const path of [own.path(), work]) chownSync(path, uid, uid);
  const { STEMMA_HOME: _, HOME: __, NODE_COMPILE_CACHE: ___, ...env } = own.env;
  const given = { ...env, ...(home !== undefined && { HOME: home }) };
  return {
    own,
    work,
    history,
    run(words, input = '', more = {}) {
      const script = built('cli', 'stemma.js');
      const who = uid !== undefined && { uid, gid: uid };
      const settings = { cwd: work, env: { ...given, ...more }, input, encoding: 'utf8', timeout: 60_000, ...who } as const;
      const { status, stdout, stderr } = spawnSync(node, [script, ...words], settings);
      return { code: status, out: stdout, err: stderr };
    },
  };
}

/** One line for a person: what happened, and no stack. */
function expectOneSentence({ code, out, err }: Ran, what: RegExp): void {
  expect({ code, out, lines: err.trimEnd().split('\n').length }, err).toEqual({ code: 1, out: '', lines: 1 });
  expect(err).toMatch(what);
  expect(err).not.toMatch(/\n\s+at |node:internal|INTERNAL_SERVER_ERROR|Error: /);
}

const event = (work: string): string =>
  JSON.stringify({ hook_event_name: 'SessionStart', session_id: 's', transcript_path: join(work, 'x.jsonl'), cwd: work });

/** Everything that needs no folder of Stemma's own works, and what needs it is refused before anything of it is made. */
function expectLittleHarm({ run, work, history }: Poor, what: RegExp): void {
  expect(run(['--help'])).toMatchObject({ code: 0, err: '' });
  expect(run(['--version'])).toMatchObject({ code: 0, err: '' });
  expect(run(['hook'], event(work))).toMatchObject({ code: 0, out: '' });
  expectOneSentence(run(['import', history]), what);
  expect(run(['log'])).toMatchObject({ code: 2, out: '', err: expect.stringMatching(/^stemma: no project found here\..*\n$/) });
  expect(run(['init', 'mine.stemma'])).toMatchObject({ code: 0, err: '' });
  expect(readdirSync(work)).toEqual(['mine.stemma']);
}

describe.skipIf(!canMount)('a home on a disk (needs the right to mount)', () => {
  test('[T36] a read-only home: commands name it, and nothing is half done', { tags: 'long' }, () => {
    const home = smallDisk(4);
    remount(home, 'ro');
    expectLittleHarm(withHome(home), /read-only/);
    expect(readdirSync(home)).toEqual([]);
  });

  test('[T36] a full disk: commands name it, nothing is half done, and room makes them work', { tags: 'long' }, () => {
    const home = smallDisk(4);
    const { bavail, bsize } = statfsSync(home);
    writeFileSync(join(home, 'filler'), Buffer.alloc(bavail * bsize));
    const poor = withHome(home);
    expectLittleHarm(poor, /disk is full/);
    rmSync(join(home, 'filler'));
    remount(home, 'rw');
    expect(poor.run(['import', poor.history, '--project', join(poor.work, 'mine.stemma'), '--trust'])).toMatchObject({ code: 0 });
  });
});

test('[T36] a home that cannot exist: commands name it, and nothing is half done', { tags: 'long' }, () => {
  expectLittleHarm(withHome('/dev/null/home'), /\/dev\/null\/home.*a part of the path is a file/);
});

test.skipIf(process.getuid?.() !== 0)('[T36] a user without any home (needs root): one sentence, and nothing is made', { tags: 'long' }, () => {
  const { run, work, history } = withHome(undefined, 61_234);
  const none = /^stemma: This user has no home folder\. Set HOME to the path of a folder\.\n$/;
  expect(run(['--help'])).toMatchObject({ code: 0, err: '' });
  expect(run(['--version'])).toMatchObject({ code: 0, err: '' });
  expect(run(['hook'], event(work))).toMatchObject({ code: 0, out: '' });
  for (const words of [['import', history], ['log'], ['init', 'mine.stemma'], ['mcp'], ['web', '--no-open'], []]) expectOneSentence(run(words), none);
  expect(readdirSync(work)).toEqual([]);
});

test.each(['', 'relative/home'])('[T36] HOME=%j counts as not set: nothing lands in the working folder', { tags: 'long' }, (home) => {
  const { run, work, own } = withHome(home);
  const before = stateOf(own.claude);
  expect(run(['--version'])).toMatchObject({ code: 0, err: '' });
  expect(run(['library', '--json']).err).not.toMatch(/\n\s+at /);
  expect(readdirSync(work)).toEqual([]);
  expect(stateOf(own.claude)).toEqual(before);
});

test('[T36] a home with spaces, umlauts and quotes takes histories and projects', { tags: 'long' }, () => {
  const own = machine();
  onTestFinished(() => own[Symbol.asyncDispose]());
  const home = own.path("Häuser von Jürgen's “Söhnen” 日本 #1 100%");
  mkdirSync(home);
  const { run, history } = withHome(home);
  expect(run(['import', history])).toMatchObject({ code: 0, out: expect.stringContaining('4 sessions') });
  expect(run(['log', '--project', join(home, '.local', 'share', 'stemma', 'Histories.stemma')]).out).toMatch(/ctx-[0-9a-f]{8}/);
  expect(run(['hook'], event(home))).toMatchObject({ code: 0, out: '' });
});

describe.skipIf(process.getuid?.() !== 0)('a database of another user (needs root)', () => {
  const uid = 61_234;

  /** A database of OpenCode that root owns, in a folder that the person cannot write. */
  function foreign(): { readonly person: Poor; readonly folder: string; readonly database: string } {
    const person = withHome(undefined, uid);
    const home = person.own.path('home');
    mkdirSync(home, { recursive: true });
    chownSync(home, uid, uid);
    const folder = person.own.path('theirs', 'opencode');
    cpSync(join(root, 'test/fixtures/cases/opencode-wal-missing/opencode'), folder, { recursive: true });
    for (const path of [join(folder, '..'), folder]) chmodSync(path, 0o755);
    const database = join(folder, 'opencode.db');
    chmodSync(database, 0o644);
    return { person, folder, database };
  }
  const imports = ({ person }: ReturnType<typeof foreign>, path: string): Ran =>
    person.run(['import', path, '--project', join(person.work, 'mine.stemma'), '--trust'], '', { HOME: person.own.path('home') });

  test('[F53] whose log is missing is read, and nothing appears beside it', { tags: 'long' }, () => {
    const one = foreign();
    expect(imports(one, one.database)).toMatchObject({ code: 0, out: expect.stringContaining('1 session') });
    expect(readdirSync(one.folder)).toEqual(['opencode.db']);
  });

  test('[F53] that only its owner may read is refused in plain words', { tags: 'long' }, () => {
    const one = foreign();
    chmodSync(one.database, 0o600);
    const { out, err } = imports(one, one.database);
    expect(`${out}${err}`).toMatch(/opencode\.db: .*(?:permission|may not read)/i);
    expect(`${out}${err}`).not.toMatch(/\n\s+at |Error: |EACCES/);
    expect(readdirSync(one.folder)).toEqual(['opencode.db']);
  });

  test('[F53] whose log only its owner may read is refused in plain words', { tags: 'long' }, () => {
    const one = foreign();
    writeFileSync(`${one.database}-wal`, Buffer.alloc(4_096, 7), { mode: 0o600 });
    const { out, err } = imports(one, one.database);
    expect(`${out}${err}`).toMatch(/opencode\.db.*(?:permission|may not read)/i);
    expect(`${out}${err}`).not.toMatch(/\n\s+at |Error: |EACCES/);
  });

  test('[F53] that its owner has locked is read, and its owner never waits', { tags: 'long' }, () => {
    const one = foreign();
    const owner = new Database(one.database);
    onTestFinished(() => {
      owner.close();
    });
    owner.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE');
    expect(imports(one, one.database)).toMatchObject({ code: 0, out: expect.stringContaining('1 session') });
    owner.exec('COMMIT');
  });
});
