import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRouterClient } from '@orpc/server';
import Database from 'better-sqlite3';
import { afterEach, expect, test, vi } from 'vitest';
import { createEngine, createSession } from '../../../src/core/project/index.js';
import { contextOf, router } from '../../../src/core/router/index.js';
import { prompt } from '../../support/claude-lines.js';
import { everyTable } from '../../support/every-table.js';
import { model, says } from '../../support/model-of-jobs.js';

afterEach(() => void vi.useRealTimers());

/** A timer that waits for the lock waits for seconds; one that does not takes milliseconds, on a busy machine some more. */
const waits = 1_000;

test('[S25] timers neither wait nor throw while another process holds the write lock', { tags: 'long' }, async () => {
  const { project: made, engine: own, folder } = await everyTable();
  const { dir } = made;
  own.close();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'] });
  const thrown: unknown[] = [];
  const note = (error: unknown): void => void thrown.push(error);
  process.on('uncaughtException', note);
  const engine = createEngine({
    dataDir: join(folder, 'data'),
    agentRoots: [],
    sampleDir: folder,
    startup: { paths: [], project: null },
    platform: 'linux',
    performs: true,
    providers: [model(() => says('The model answers.'))],
  });
  const session = createSession(engine);
  const project = session.use(engine.open(dir));
  const client = createRouterClient(router, { context: contextOf(session) });
  // Work for each timer: a followed file that grows, derived data that a read offers, commits that are not derived yet.
  const path = join(folder, 'live.jsonl');
  writeFileSync(path, prompt('live-1', 'hello'));
  await client.capture.watch({ paths: [path] });
  const lock = new Database(join(dir, 'stemma.db'));
  lock.exec('BEGIN IMMEDIATE');
  const seconds: number[] = [];
  try {
    project.wake();
    project.keeper.keep([{ kind: 'factors', model: 'm', factors: {}, calls: 1 }]);
    for (let second = 0; second < 60; second++) {
      if (second % 10 === 0) appendFileSync(path, prompt(`live-${second + 2}`, 'more', { parent: `live-${Math.max(1, second - 8)}` }));
      const from = performance.now();
      await vi.advanceTimersByTimeAsync(1_000);
      seconds.push(performance.now() - from);
    }
  } finally {
    lock.exec('ROLLBACK');
    lock.close();
    await vi.advanceTimersByTimeAsync(60_000);
    engine.close();
    process.off('uncaughtException', note);
  }
  expect(thrown).toEqual([]);
  expect(seconds.filter((ms) => ms > waits)).toEqual([]);
  expect(seconds.toSorted((a, b) => a - b)[seconds.length >> 1]).toBeLessThan(100);
});
