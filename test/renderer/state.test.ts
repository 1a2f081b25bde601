import './page.js';
import { describe, expect, test, vi } from 'vitest';
import { api, type Client, connect, type EngineLine, onNewLine, useConnection } from '../../src/renderer/client/index.js';
import { AnswerMemory } from '../../src/renderer/state/memory.js';
import { createRanges } from '../../src/renderer/state/ranges.js';
import { type BackgroundJob, backgroundJobs } from '../../src/renderer/state/stream.js';
import { groupSkips } from '../../src/renderer/views/sessions/skips.js';

describe('[W69] what was loaded for a view', () => {
  const never = new AbortController().signal;

  test('is known at once, and valid until the project changes', async () => {
    const [byProject, fixed, outside] = [
      new AnswerMemory<string[]>(2),
      new AnswerMemory<string[]>(2, 'always'),
      new AnswerMemory<string[]>(2, 'never'),
    ];
    for (const memory of [byProject, fixed, outside]) await memory.ask('turn', 1, async () => ['answer'], never);
    expect([byProject, fixed, outside].map((memory) => memory.get('turn'))).toEqual([['answer'], ['answer'], ['answer']]);
    expect([byProject, fixed, outside].map((memory) => memory.isValid('turn', 1))).toEqual([true, true, false]);
    expect([byProject, fixed, outside].map((memory) => memory.isValid('turn', 2))).toEqual([false, true, false]);
  });

  test('stays the same object if the new answer is equal', async () => {
    const memory = new AnswerMemory<string[]>(2);
    const first = await memory.ask('turn', 1, async () => ['same'], never);
    expect(await memory.ask('turn', 2, async () => ['same'], never)).toBe(first);
    expect(await memory.ask('turn', 3, async () => ['new'], never)).toEqual(['new']);
    expect(memory.isValid('turn', 3)).toBe(true);
  });

  test('is asked once by two askers, and canceled when neither waits', async () => {
    const memory = new AnswerMemory<string>(2);
    const ask = vi.fn(
      (signal: AbortSignal) => new Promise<string>((_, reject) => signal.addEventListener('abort', () => reject(new Error('canceled')))),
    );
    const [one, two] = [new AbortController(), new AbortController()];
    const both = Promise.allSettled([memory.ask('turn', 1, ask, one.signal), memory.ask('turn', 1, ask, two.signal)]);
    expect(ask).toHaveBeenCalledTimes(1);
    one.abort();
    expect(ask.mock.calls[0]?.[0].aborted).toBe(false);
    two.abort();
    expect((await both).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });

  test('appears while the project changes faster than it loads', async () => {
    const memory = new AnswerMemory<number>(2);
    let revision = 1;
    const answers: number[] = [];
    const ask = async (): Promise<number> => {
      if (revision < 5) revision += 1;
      return revision;
    };
    await memory.follow(
      'sessions',
      () => revision,
      ask,
      never,
      (answer) => answers.push(answer),
    );
    expect(answers).toEqual([2, 3, 4, 5, 5]);
    expect(memory.isValid('sessions', 5)).toBe(true);
  });

  test('keeps the answers used last', async () => {
    const memory = new AnswerMemory<string>(2);
    for (const key of ['a', 'b', 'a', 'c']) await memory.ask(key, 1, async () => key, never);
    expect(['a', 'b', 'c'].map((key) => memory.get(key))).toEqual(['a', undefined, 'c']);
  });
});

describe('a paged list', () => {
  test('loads each page once and ends at the total', async () => {
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

  test('missing neighbors come in one call, up to a number of them', async () => {
    const load = vi.fn(async (offset: number, limit: number) => ({
      total: 95,
      items: Array.from({ length: Math.min(limit, 95 - offset) }, (_, n) => offset + n),
    }));
    const list = createRanges(10, load, 4);
    list.need(20, 21);
    await expect.poll(() => list.at(20)).toBe(20);
    list.need(0, 400);
    await expect.poll(() => list.at(94)).toBe(94);
    expect(load.mock.calls).toEqual([
      [20, 10],
      [0, 20],
      [30, 40],
      [70, 30],
    ]);
    expect(Array.from({ length: 96 }, (_, n) => list.at(n))).toEqual([...Array(95).keys(), undefined]);
  });

  test('a failed page keeps its error and loads on retry', async () => {
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

  test('a page that arrives during a reload is kept', async () => {
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

  test('a change before the first page arrives causes a reload after it', async () => {
    const pages = ['old', 'new'];
    const list = createRanges(10, async () => ({ total: 1, items: [pages.shift() ?? 'later'] }));
    list.need(0, 1);
    list.renew();
    await expect.poll(() => list.at(0)).toBe('new');
    expect(pages).toEqual([]);
  });
});

describe('the connection to the engine', () => {
  test('calls wait for it, and a lost connection is reported and retried', async () => {
    const said: string[] = [];
    const lines: ((reason: string) => void)[] = [];
    const carrier = async (): Promise<EngineLine> => {
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

test('of many jobs, those that ended are dropped and those that run stay', () => {
  const { useJobs, begin } = backgroundJobs<BackgroundJob>();
  const [first] = Array.from({ length: 22 }, (_, place) => begin((own) => ({ ...own, project: '/p.stemma', state: place < 2 ? 'running' : 'done' })));
  const kept = () => useJobs.getState().jobs.map(({ id }) => id);
  expect(kept()).toEqual(Array.from({ length: 22 }, (_, place) => 22 - place));
  first?.change(() => ({ state: 'done' }));
  begin((own) => ({ ...own, project: '/p.stemma', state: 'running' }));
  expect(kept()).toEqual([...Array.from({ length: 20 }, (_, place) => 23 - place), 2]);
});

test('lines skipped for one reason are one group with all line numbers', () => {
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
