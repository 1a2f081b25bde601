import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Timestamp } from '../../../src/core/base/index.js';
import { fork, tips, type WriteChain } from '../../../src/core/chain/index.js';
import { usageCalls as listCalls } from '../../../src/core/usage/index.js';
import { usageCalls } from '../../support/counted.js';
import { session } from '../../support/counted-lines.js';
import { importInto } from '../../support/imports.js';
import { emptyChain, scratch } from '../../support/project.js';
import { countingReads } from '../../support/reads.js';

/** A project with sessions of some turns. */
function imported(sessions: number, turns: number): WriteChain {
  const chain = emptyChain();
  const dir = scratch();
  for (let n = 0; n < sessions; n++) {
    const folder = join(dir, String(n));
    mkdirSync(folder);
    const path = join(folder, `s${n}.jsonl`);
    writeFileSync(path, session(`s${n}`, turns).join(''));
    importInto(chain, path);
  }
  return chain;
}

test('[N29] the pages of a project’s calls are its calls, each with its cache and growth', () => {
  const chain = imported(4, 5);
  const [tip] = tips(chain, {});
  fork(chain, { id: tip?.id ?? null, edits: [{ op: 'append', entry: { role: 'user', kind: 'text', text: 'More' } }] });
  const missed = [true, false].flatMap((miss) => usageCalls(chain, { filter: { miss } }).calls);
  const pages = [0, 7, 14].flatMap((offset) => usageCalls(chain, { offset, limit: 7 }).calls);
  expect(usageCalls(chain, { limit: 1 }).total).toBe(20);
  const named = (calls: typeof pages) => calls.toSorted((a, b) => (a.requestId < b.requestId ? -1 : 1));
  expect(named(pages)).toEqual(named(missed));
  expect(pages.map(({ at }) => at)).toEqual(pages.map(({ at }) => at).toSorted());
  const some = { model: 'claude-opus-4-5-20251101', from: '2026-01-02T00:01:00.000Z' as Timestamp, to: '2026-01-02T00:03:00.000Z' as Timestamp };
  expect(usageCalls(chain, { filter: some, limit: 3 }).total).toBe(8);
  expect(usageCalls(chain, { filter: some, limit: 100 }).calls.every(({ at }) => at >= some.from && at < some.to)).toBe(true);
  expect(usageCalls(chain, { filter: { ...some, model: 'another' }, limit: 100 })).toEqual({ total: 0, calls: [] });
});

test('[N29] a page reads its own calls and those before them', () => {
  const chain = imported(8, 30);
  usageCalls(chain, { limit: 1 });
  const { chain: counted, reads } = countingReads(chain);
  expect(listCalls(counted, { offset: 100, limit: 10 }).calls).toHaveLength(10);
  expect(reads.rows).toBeLessThan(120);
  expect(reads.objects).toBe(0);
});

test('[T42] misses and calls of a model are those of the whole list, in pages and without', () => {
  const chain = emptyChain();
  for (const file of ['branches.jsonl', 'compacted.jsonl', 'one-hour-cache.jsonl', 'two-models.jsonl'])
    importInto(chain, join(import.meta.dirname, '../../fixtures/usage', file));
  const { total, calls } = usageCalls(chain, {});
  expect(calls).toHaveLength(total);
  // The calls of a page are linked in batches, and those of a page of one call by one.
  expect(calls.flatMap((_, offset) => usageCalls(chain, { offset, limit: 1 }).calls)).toEqual(calls);
  const isMiss = ({ cache, tokens }: (typeof calls)[number]): boolean =>
    tokens.cacheRead !== null && (cache.cause === 'first' ? tokens.cacheRead === 0 : cache.cause !== undefined);
  const missed = calls.filter(isMiss);
  expect(missed.length).toBeGreaterThan(3);
  expect(missed.length).toBeLessThan(total);
  expect(usageCalls(chain, { filter: { miss: true } })).toEqual({ total: missed.length, calls: missed });
  expect(usageCalls(chain, { filter: { miss: true }, offset: 1, limit: 2 })).toEqual({ total: missed.length, calls: missed.slice(1, 3) });
  expect(usageCalls(chain, { filter: { miss: false } }).calls).toEqual(calls.filter((call) => !isMiss(call)));
  for (const model of new Set(calls.map((call) => call.model ?? ''))) {
    const own = calls.filter((call) => call.model === model);
    expect(usageCalls(chain, { filter: { model }, limit: 3 })).toEqual({ total: own.length, calls: own.slice(0, 3) });
    expect(usageCalls(chain, { filter: { model, miss: true } }).calls).toEqual(own.filter(isMiss));
  }
});
