import './page.js';
import { describe, expect, test, vi } from 'vitest';
import type { FoundSession, Source } from '../../src/core/contract/index.js';
import { api, type Client, connect, type Line, onNewLine, useConnection } from '../../src/renderer/client/index.js';
import { createRanges } from '../../src/renderer/state/ranges.js';
import { groupSessions, groupSkips, sessionsOf } from '../../src/renderer/views/library/groups.js';

describe('a long list of the engine', () => {
  test('is read in pages, each once, and only as far as it goes', async () => {
    const load = vi.fn(async (offset: number, limit: number) => ({
      total: 25,
      items: Array.from({ length: Math.min(limit, 25 - offset) }, (_, n) => offset + n),
    }));
    const list = createRanges(10, load);
    list.need(0, 1);
    list.need(0, 5);
    await expect.poll(() => list.total()).toBe(25);
    list.need(12, 400);
    await expect.poll(() => list.at(24)).toBe(24);
    expect(load.mock.calls).toEqual([
      [0, 10],
      [10, 10],
      [20, 10],
    ]);
    expect([list.at(0), list.at(17), list.at(25)]).toEqual([0, 17, undefined]);
  });

  test('a page that failed says why, and is asked for again', async () => {
    let broken = true;
    const list = createRanges(10, async () => {
      if (broken) throw new Error('no');
      return { total: 1, items: ['x'] };
    });
    list.need(0, 1);
    await expect.poll(() => list.problem()).toBeInstanceOf(Error);
    list.need(0, 1);
    expect(list.at(0)).toBeUndefined();
    broken = false;
    list.retry();
    await expect.poll(() => list.at(0)).toBe('x');
    expect(list.problem()).toBeUndefined();
  });

  test('a page that came while the list was read again is not lost with what stood before', async () => {
    const held: (() => void)[] = [];
    let slow = false;
    const list = createRanges(10, async (offset) => {
      if (slow) await new Promise<void>((go) => held.push(go));
      return { total: 1_000, items: Array.from({ length: 10 }, (_, n) => offset + n) };
    });
    list.need(0, 1);
    await expect.poll(() => list.at(0)).toBe(0);
    slow = true;
    list.renew();
    slow = false;
    list.need(990, 1_000);
    await expect.poll(() => list.at(999)).toBe(999);
    held[0]?.();
    await expect.poll(() => list.version()).toBeGreaterThan(2);
    await expect.poll(() => list.at(999)).toBe(999);
    expect(list.at(0)).toBe(0);
  });
});

describe('the line to the engine', () => {
  test('calls wait for it, a new one begins with what has to be done first, and a lost one is told and tried again', async () => {
    const said: string[] = [];
    const lines: ((reason: string) => void)[] = [];
    const carrier = async (): Promise<Line> => {
      const { promise, resolve } = Promise.withResolvers<string | undefined>();
      const number = lines.push(resolve);
      const call = async (path: readonly string[]) => {
        said.push(`${number}: ${path.join('.')}`);
        return [];
      };
      return { closed: promise, close() {}, link: { call } };
    };
    onNewLine(async (client: Client) => void (await client.project.open({ dir: '/p.stemma' })));
    const early = api.library.recent({});
    void connect(carrier);
    await early;
    expect(said).toEqual(['1: project.open', '1: library.recent']);
    expect(useConnection.getState().state).toEqual({ phase: 'open' });

    lines[0]?.('The engine process ended.');
    await expect.poll(() => useConnection.getState().state).toMatchObject({ phase: 'lost', reason: 'The engine process ended.' });
    const waiting = api.library.sources({});
    useConnection.getState().retry();
    await waiting;
    expect(said.slice(2)).toEqual(['2: project.open', '2: library.sources']);
  });
});

describe('sessions found on this machine', () => {
  const session = (path: string, cwd: string | undefined, modifiedAt: string, title?: string): FoundSession => ({
    path,
    sessionId: path,
    bytes: 10,
    modifiedAt: modifiedAt as FoundSession['modifiedAt'],
    subagents: 0,
    imported: false,
    ...(cwd && { cwd }),
    ...(title && { title }),
  });
  const sessions = [
    session('/a', '/work/api', '2024-01-02T10:00:00.000Z'),
    session('/b', '/work/web', '2024-03-01T10:00:00.000Z', 'Flaky queue'),
    session('/c', '/work/api', '2024-01-02T09:00:00.000Z'),
    session('/d', '/work/api', '2024-01-01T09:00:00.000Z'),
    session('/e', undefined, '2023-01-01T09:00:00.000Z'),
  ];
  const told = (words = '', closed = new Set<string>()) =>
    groupSessions(sessions, words, closed).map((row) => (row.kind === 'session' ? row.session.path : row.key));

  test('stand by folder, the one used last first, and by day in it', () => {
    expect(told()).toEqual([
      '/work/web',
      '/work/web 1 Mar 2024',
      '/b',
      '/work/api',
      '/work/api 2 Jan 2024',
      '/a',
      '/c',
      '/work/api 1 Jan 2024',
      '/d',
      'No working directory recorded',
      'No working directory recorded 1 Jan 2023',
      '/e',
    ]);
  });

  test('a closed folder hides its sessions, unless they are looked for', () => {
    expect(told('', new Set(['/work/web', '/work/api']))).not.toContain('/b');
    expect(told('flaky', new Set(['/work/web']))).toEqual(['/work/web', '/work/web 1 Mar 2024', '/b']);
  });
});

test('a subagent’s file counts with its session, and stands alone where that is not imported', () => {
  const source = (path: string): Source => ({
    sourceId: path,
    path,
    format: 'claude-code-v1',
    bytes: 10,
    hash: '',
    tips: [],
    importedAt: '2024-01-02T10:00:00.000Z' as Source['importedAt'],
  });
  const listed = sessionsOf([source('/a.jsonl'), source('/a/subagents/agent-1.jsonl'), source('/b/subagents/agent-2.jsonl')]);
  expect(listed.map(({ path, subagents }) => [path, subagents])).toEqual([
    ['/a.jsonl', 1],
    ['/b/subagents/agent-2.jsonl', 0],
  ]);
});

test('lines left out for one reason are said once, with all their numbers', () => {
  const skips = [
    { path: '/a.jsonl', line: 3, reason: 'not JSON' },
    { path: '/a.jsonl', line: 9, reason: 'not JSON' },
    { path: '/b.jsonl', line: 3, reason: 'not JSON' },
    { path: '/a.jsonl', line: 4, reason: 'cut off' },
  ];
  expect(groupSkips(skips)).toEqual([
    { path: '/a.jsonl', reason: 'not JSON', lines: [3, 9] },
    { path: '/b.jsonl', reason: 'not JSON', lines: [3] },
    { path: '/a.jsonl', reason: 'cut off', lines: [4] },
  ]);
});
