// A history that somebody else made: its links, pipes and devices are skipped and named, and cost neither memory nor time.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { ImportResult } from '../../src/core/contract/index.js';
import { namedFile } from '../../src/core/files/index.js';
import { follow, importGrowth } from '../../src/core/follow/index.js';
import { foundSessions, importPaths } from '../../src/core/import/index.js';
import { atOnce } from '../../src/core/project/index.js';
import { ensureBuilt } from '../support/built.js';
import { answer, prompt } from '../support/claude-lines.js';
import { type Machine, machine } from '../support/machine.js';
import { emptyProject, scratch } from '../support/project.js';
import { ask } from '../support/raw-web.js';

const session = (name: string): string =>
  prompt(`${name}-1`, `asked in ${name}`) + answer(`${name}-2`, `answered in ${name}`, { parent: `${name}-1` });

interface Attack {
  readonly name: string;
  /** How the reason begins with which it is skipped. */
  readonly reason: RegExp;
  make(path: string): void;
}

/** A folder of somebody's private files, and one sound session beside files that lead there, never end or never answer. */
function hostileHistory(folder: string, outside: string): readonly Attack[] {
  mkdirSync(folder, { recursive: true });
  mkdirSync(outside, { recursive: true });
  writeFileSync(join(outside, 'private.jsonl'), session('private'));
  writeFileSync(join(folder, 'sound.jsonl'), session('sound'));
  const link = /^it is a link/;
  const attacks: Attack[] = [
    { name: 'private.jsonl', reason: link, make: (path) => symlinkSync(join(outside, 'private.jsonl'), path) },
    { name: 'folder', reason: link, make: (path) => symlinkSync(outside, path) },
    { name: 'zero.jsonl', reason: link, make: (path) => symlinkSync('/dev/zero', path) },
    { name: 'log.eval', reason: link, make: (path) => symlinkSync('/dev/zero', path) },
    { name: 'pipe.eval', reason: /^it is a named pipe/, make: (path) => execFileSync('mkfifo', [path]) },
    { name: 'state.vscdb', reason: /^it is a named pipe/, make: (path) => execFileSync('mkfifo', [path]) },
    { name: 'openclaw-agent.sqlite', reason: link, make: (path) => symlinkSync('/dev/zero', path) },
    { name: 'opencode.db', reason: link, make: (path) => symlinkSync('/dev/zero', path) },
    { name: 'pipe.jsonl', reason: /^it is a named pipe/, make: (path) => execFileSync('mkfifo', [path]) },
    { name: 'huge.jsonl', reason: /^it has \d+ bytes; the limit is/, make: hugeFile },
  ];
  for (const { name, make } of attacks) make(join(folder, name));
  return attacks;
}

/** A session that claims 64 GiB and takes no space on the disk. */
function hugeFile(path: string): void {
  writeFileSync(path, session('huge'));
  truncateSync(path, 64 * 1024 ** 3);
}

const named = (skipped: ImportResult['skipped']): Map<string, string> =>
  new Map(skipped.map(({ path, reason }) => [path.split('/').at(-1) ?? '', reason]));

function expectSkipped({ sessions, skipped }: Pick<ImportResult, 'sessions' | 'skipped'>, attacks: readonly Attack[]): void {
  expect(sessions).toBe(1);
  const reasons = named(skipped);
  expect([...reasons.keys()].sort()).toEqual(attacks.map(({ name }) => name).sort());
  for (const { name, reason } of attacks) expect(reasons.get(name), name).toMatch(reason);
}

describe('through the doors', () => {
  let own: Machine;
  beforeAll(ensureBuilt);
  beforeEach(() => {
    own = machine();
  });
  afterEach(() => own[Symbol.asyncDispose]());

  test('[T10, T11] an import on the command line names them and ends well', { tags: 'long' }, async () => {
    // A pipe in a shared folder of histories: the import hung and ignored SIGTERM. A link to /dev/zero took 6 GB.
    const attacks = hostileHistory(own.path('shared', 'history'), own.path('private'));
    const ran = await own.run('import', own.path('shared', 'history'), '--project', own.path('p.stemma'), '--json');
    expect(ran.code).toBe(0);
    expectSkipped(JSON.parse(ran.out) as ImportResult, attacks);
    const said = await own.run('import', own.path('shared', 'history'), '--project', own.path('p.stemma'));
    expect(said.code).toBe(0);
    for (const { name } of attacks) expect(said.out).toContain(name);
  });

  test('[T10, T11] an import over HTTP names them, and the host goes on answering', { tags: 'long' }, async () => {
    const attacks = hostileHistory(own.path('shared', 'history'), own.path('private'));
    await own.run('init', own.path('p.stemma'));
    const host = await own.web();
    const post = (path: string, body: unknown) =>
      ask(
        host.port,
        path,
        { authorization: `Bearer ${host.bearer}`, 'content-type': 'application/json', 'stemma-project': encodeURIComponent(own.path('p.stemma')) },
        'POST',
        JSON.stringify(body),
      );
    const reply = await post('/api/import/run', { paths: [own.path('shared', 'history')] });
    const last = reply.body.split('\n').findLast((one) => one.startsWith('data: {'));
    expectSkipped(JSON.parse(last?.slice('data: '.length) ?? '') as ImportResult, attacks);
    expect((await post('/api/library/sources', {})).status).toBe(200);
  });

  test('[T10, T11] a live capture reports them as problems, also those that come while it runs', { tags: 'long' }, async () => {
    // A pipe that appears in a watched folder: the capture hung in the middle of its work.
    const folder = own.path('.claude', 'projects', 'shared');
    const attacks = hostileHistory(folder, own.path('private'));
    const dir = own.path('p.stemma');
    const child = own.follow('capture', own.path('.claude', 'projects'), '--project', dir);
    while (child.lines().length === 0) await setTimeout(50);
    for (const { name, make } of attacks) make(join(folder, `later-${name}`));
    writeFileSync(join(folder, 'later.jsonl'), session('later'));
    while (child.lines().length < 2) await setTimeout(50);
    expect(child.lines().join('\n')).not.toContain('private');
  });

  test('[T10, T11] a hook refuses a transcript that is a link or a pipe', { tags: 'long' }, async () => {
    const folder = own.path('.claude', 'projects', 'shared');
    hostileHistory(folder, own.path('private'));
    for (const name of ['private.jsonl', 'zero.jsonl', 'pipe.jsonl', 'folder/private.jsonl']) {
      const event = JSON.stringify({ hook_event_name: 'Stop', transcript_path: join(folder, name) });
      const ran = await own.runWith(event, 'hook', '--project', own.path('p.stemma'));
      expect(ran).toMatchObject({ code: 0, out: '', err: expect.stringMatching(/is a link|is a named pipe/) });
    }
    expect(existsSync(own.path('p.stemma'))).toBe(false);
  });
});

describe('in the engine', () => {
  test('[T10, T11] live capture notes each of them once and goes on', async () => {
    const { chain } = emptyProject();
    const folder = join(scratch(), 'history');
    const attacks = hostileHistory(folder, scratch());
    const times = { settle: 5, maxWait: 20, rest: 10, quiet: 50, patience: 50 };
    const live = await follow(chain, { places: [{ path: folder }], from: 'beginning', granularity: 'turn_boundary', times });
    onTestFinished(() => live.close());
    live.flush(true);
    await expect
      .poll(() => [...named(live.status().problems).keys()].sort())
      .toEqual(
        attacks
          .filter(isFollowed)
          .map(({ name }) => name)
          .sort(),
      );
    expect(live.status().checkpoints).toBe(1);
  });

  test('[T10] a list of the sessions on this machine reads no link', () => {
    const root = join(scratch(), 'claude');
    const attacks = hostileHistory(join(root, 'projects', 'shared'), scratch());
    expect(attacks.length).toBeGreaterThan(0);
    const found = [...foundSessions({ agent: 'claude-code', root }, () => false)].map(({ title }) => title);
    expect(found.filter((title) => title?.includes('private'))).toEqual([]);
    expect(found).toContain('asked in sound');
  });

  test('[T10] a link that the person named is followed', () => {
    const { chain } = emptyProject();
    const outside = scratch();
    hostileHistory(join(scratch(), 'history'), outside);
    const [file, folder] = [join(scratch(), 'named.jsonl'), join(scratch(), 'named')];
    symlinkSync(join(outside, 'private.jsonl'), file);
    symlinkSync(outside, folder);
    expect(atOnce(importPaths(chain, { paths: [file] }))).toMatchObject({ sessions: 1, commits: 1, skipped: [] });
    expect(atOnce(importPaths(chain, { paths: [folder] }))).toMatchObject({ sessions: 1, skipped: [] });
  });

  test('[T11] a named pipe, a device and a folder of a pipe are refused by name', () => {
    const { chain } = emptyProject();
    const pipe = join(scratch(), 'pipe.jsonl');
    execFileSync('mkfifo', [pipe]);
    for (const path of [pipe, '/dev/zero', '/dev/tty'].filter((one) => existsSync(one))) {
      expect(atOnce(importPaths(chain, { paths: [path] })).skipped).toEqual([
        { path, line: 0, reason: expect.stringMatching(/^it is a (named pipe|device)/) },
      ]);
      expect(importGrowth(chain, namedFile(path), { what: 'all', granularity: 'turn_boundary' }).skipped).toHaveLength(1);
    }
  });

  test.each(['agent-a.meta.json', 's1.jsonl'])('[T10, T11, T13] a subagent reads no link or pipe in place of %s', (name) => {
    // agent-a.meta.json -> a pipe: the import hung; -> a private file: its content was parsed.
    const folder = join(scratch(), 's1', 'subagents');
    mkdirSync(folder, { recursive: true });
    const transcript = join(folder, 'agent-a.jsonl');
    writeFileSync(transcript, session('agent'));
    const beside = name === 's1.jsonl' ? join(folder, '..', '..', name) : join(folder, name);
    for (const make of [() => symlinkSync('/dev/zero', beside), () => execFileSync('mkfifo', [beside]), () => hugeFile(beside)]) {
      execFileSync('rm', ['-f', beside]);
      make();
      const { chain } = emptyProject();
      expect(atOnce(importPaths(chain, { paths: [transcript] }))).toMatchObject({ sessions: 1, commits: 1 });
    }
  });

  test('[T10, T11] a database whose log is a link or a pipe is refused', () => {
    // opencode.db-wal -> a pipe: copying the log hung the engine.
    const folder = scratch();
    const path = join(folder, 'opencode.db');
    writeFileSync(path, Buffer.concat([Buffer.from('SQLite format 3\0'), Buffer.alloc(4_080)]));
    for (const make of [() => symlinkSync('/dev/zero', `${path}-wal`), () => execFileSync('mkfifo', [`${path}-wal`])]) {
      execFileSync('rm', ['-f', `${path}-wal`]);
      make();
      const { chain } = emptyProject();
      expect(atOnce(importPaths(chain, { paths: [folder] })).skipped.map(({ reason }) => reason)).toEqual(
        expect.arrayContaining([expect.stringMatching(/opencode\.db-wal is a (link|named pipe)/)]),
      );
    }
  });

  test('[T10, T13] a session does not continue from a linked file of another day', () => {
    const root = scratch();
    const outside = join(scratch(), 'rollout-private.jsonl');
    writeFileSync(outside, readFileSync(import.meta.filename));
    const day = join(root, '2026', '01', '02');
    mkdirSync(day, { recursive: true });
    symlinkSync(outside, join(day, 'rollout-11111111-2222-3333-4444-555555555555.jsonl'));
    writeFileSync(join(day, 'a.jsonl'), session('a'));
    const { chain } = emptyProject();
    expectSkipped(atOnce(importPaths(chain, { paths: [root] })), [
      { name: 'rollout-11111111-2222-3333-4444-555555555555.jsonl', reason: /^it is a link/, make: () => undefined },
    ]);
  });
});

/** Files that live capture looks at by their names. */
const isFollowed = ({ name }: Attack): boolean => name.endsWith('.jsonl') || ['opencode.db', 'openclaw-agent.sqlite', 'state.vscdb'].includes(name);
