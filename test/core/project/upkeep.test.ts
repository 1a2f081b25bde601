import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { uncheckedSessions } from '../../../src/core/analysis/index.js';
import { answerOrder } from '../../../src/core/project/index.js';
import { derive, openUpkeep } from '../../../src/core/project/upkeep.js';
import { pendingOf } from '../../../src/core/search/index.js';
import { desk } from '../../support/desk.js';
import { emptyProject, heldClock, objectTotals, scratch } from '../../support/project.js';
import { transcript } from '../../support/transcript.js';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

const times = { quiet: 20_000, between: 50, soon: 1_000 };

function filled(count: number) {
  const clock = heldClock();
  const { chain } = emptyProject(clock);
  chain.artifacts.transaction(() => {
    for (let at = 0; at < count; at++) chain.artifacts.put(Buffer.from(`${'the same words '.repeat(40)}${at}`), { contentType: 'text/plain' });
  });
  clock.at += 120_000;
  return { chain, packed: () => chain.db.one<{ n: number }>('SELECT COUNT(*) AS n FROM artifact WHERE block IS NOT NULL')?.n };
}

test('new objects are packed after an idle time, and not before', () => {
  const { chain, packed } = filled(600);
  const upkeep = openUpkeep(chain, times);
  upkeep.wake();
  vi.advanceTimersByTime(15_000);
  upkeep.wake();
  vi.advanceTimersByTime(15_000);
  expect(packed()).toBe(0);
  vi.advanceTimersByTime(10_000);
  expect(packed()).toBe(600);
  expect(vi.getTimerCount()).toBe(0);
  upkeep.close();
});

test('a few small objects are not packed, and no timer stays', () => {
  const { chain, packed } = filled(100);
  const upkeep = openUpkeep(chain, times);
  upkeep.wake();
  vi.advanceTimersByTime(100_000);
  expect([packed(), vi.getTimerCount()]).toEqual([0, 0]);
  upkeep.close();
});

test('a few large objects are packed, and their old pack is deleted', () => {
  const clock = heldClock();
  const { chain } = emptyProject(clock);
  for (let at = 0; at < 6; at++)
    chain.artifacts.put(Buffer.from(`${'one line of a long transcript\n'.repeat(40_000)}${at}`), { contentType: 'text/plain' });
  clock.at += 120_000;
  const before = objectTotals(chain).stored;
  const upkeep = openUpkeep(chain, times);
  upkeep.wake();
  vi.advanceTimersByTime(60_000);
  expect(objectTotals(chain).stored).toBeLessThan(before / 10);
  expect(chain.db.all('SELECT no FROM pack')).toHaveLength(1);
  upkeep.close();
});

test('objects that were too young at the idle time are packed later', () => {
  const clock = heldClock();
  const { chain } = emptyProject(clock);
  for (let at = 0; at < 6; at++)
    chain.artifacts.put(Buffer.from(`${'one line of a long transcript\n'.repeat(40_000)}${at}`), { contentType: 'text/plain' });
  const upkeep = openUpkeep(chain, times);
  upkeep.wake();
  vi.advanceTimersByTime(30_000);
  expect(chain.artifacts.loose().objects).toBe(6);
  clock.at += 120_000;
  vi.advanceTimersByTime(60_000);
  expect([chain.artifacts.loose().objects, vi.getTimerCount()]).toEqual([0, 0]);
  upkeep.close();
});

test('nothing runs after the project is closed', () => {
  const { chain, packed } = filled(600);
  const upkeep = openUpkeep(chain, times);
  upkeep.wake();
  upkeep.close();
  vi.advanceTimersByTime(100_000);
  expect(packed()).toBe(0);
});

test('[W78] an index that is not complete is continued after a restart, without a query', async () => {
  const dir = scratch();
  const file = join(dir, 'a.jsonl');
  writeFileSync(file, transcript('a', [{ prompt: 'Where is the damson jam?', answers: ['On the shelf.'] }]));
  const first = desk(dir);
  await first.call.project.create({ dir: join(dir, 'p.stemma') });
  for await (const _ of await first.call.import.run({ paths: [file] })) void _;
  first.engine.close();
  const { engine, call } = desk(dir);
  await call.project.open({ dir: join(dir, 'p.stemma') });
  const project = engine.held(join(dir, 'p.stemma'));
  expect(project && pendingOf(project.chain)).toBeGreaterThan(0);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(project && pendingOf(project.chain)).toBe(0);
});

test('[W78] new commits are indexed while calls go on, in a thread', async () => {
  const dir = scratch();
  const file = join(dir, 'a.jsonl');
  writeFileSync(file, transcript('a', [{ prompt: 'Where is the damson jam?', answers: ['On the shelf.'] }]));
  const { engine, call } = desk(dir);
  await call.project.create({ dir: join(dir, 'p.stemma') });
  for await (const _ of await call.import.run({ paths: [file] })) void _;
  const { chain } = engine.held(join(dir, 'p.stemma')) as NonNullable<ReturnType<typeof engine.held>>;
  const parts: string[] = [];
  const upkeep = openUpkeep(chain, times, (part) => {
    parts.push(part);
    for (const _ of derive(chain)) void _;
    return Promise.resolve();
  });
  for (let call = 0; call < 10; call++) {
    upkeep.wake();
    await vi.advanceTimersByTimeAsync(500);
  }
  expect([parts, pendingOf(chain)]).toEqual([['derive'], 0]);
  upkeep.close();
});

test('sessions are checked with the rules when nothing else is left to do, in another process', async () => {
  const dir = scratch();
  const write = (name: string): string => {
    const file = join(dir, `${name}.jsonl`);
    writeFileSync(file, transcript(name, [{ prompt: `Where is jar ${name}?`, answers: ['On the shelf.'] }]));
    return file;
  };
  const orders: [kind: string, isBackground: boolean | undefined][] = [];
  const { engine, call } = desk(dir, {
    analyst: (order, { isBackground }) => {
      orders.push([order.ask.kind, isBackground]);
      return answerOrder(order);
    },
  });
  await call.project.create({ dir: join(dir, 'p.stemma') });
  const pass = async (): Promise<void> => {
    for (let step = 0; step < 300; step++) {
      await vi.advanceTimersByTimeAsync(200);
      await new Promise(setImmediate);
    }
  };
  const { chain } = engine.held(join(dir, 'p.stemma')) as NonNullable<ReturnType<typeof engine.held>>;
  const add = async (names: readonly string[]): Promise<void> => {
    for await (const _ of await call.import.run({ paths: names.map(write) })) void _;
  };
  await add(['one', 'two']);
  await pass();
  // A question checks so few at once.
  expect([orders, uncheckedSessions(chain)]).toEqual([[], 2]);
  await add(Array.from({ length: 25 }, (_, at) => `more-${at}`));
  await pass();
  expect([orders, uncheckedSessions(chain)]).toEqual([[['findingsWithin', true]], 0]);
});
