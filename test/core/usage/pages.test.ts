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
