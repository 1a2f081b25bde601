import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { atOnce, type ContextId } from '../../../src/core/base/index.js';
import { compact, fork, tips, type WriteChain } from '../../../src/core/chain/index.js';
import { exportFormats } from '../../../src/core/export/index.js';
import { catchUpAnswers, listRequests, listRequestsInSteps } from '../../../src/core/requests/index.js';
import { listTurns, turnOf } from '../../../src/core/turns/index.js';
import {
  catchUpMeasures,
  catchUpUsage,
  loadPrices,
  loadTokenizer,
  usageCalls,
  usageFillers,
  usageLargest,
  usageOfContext,
  usageSeries,
} from '../../../src/core/usage/index.js';
import { session } from '../../support/counted-lines.js';
import { importInto } from '../../support/imports.js';
import { emptyChain, scratch } from '../../support/project.js';
import { countingReads } from '../../support/reads.js';

beforeAll(() => Promise.all([loadTokenizer(), loadPrices()]));

const fixtures = join(import.meta.dirname, '../../fixtures');

/** A session of 300 turns with a fork in its middle, and a compaction with a turn after it. */
function longChain(): WriteChain {
  const chain = emptyChain();
  const path = join(scratch(), 'long.jsonl');
  writeFileSync(path, session('long', 300).join(''));
  importInto(chain, path);
  atOnce(catchUpUsage(chain));
  const [tip] = tips(chain, {});
  if (!tip) throw new Error('The chain has no tip.');
  const turns = listTurns(chain, { id: tip.id });
  const said = { role: 'user', kind: 'text', text: 'Do it another way.' } as const;
  fork(chain, { id: turns[150]?.turnId ?? null, edits: [{ op: 'append', entry: said }] });
  const summary = compact(chain, tip.id, 'All of it.');
  fork(chain, { id: summary.id, edits: [{ op: 'append', entry: said }] });
  return chain;
}

const sumsIn = (chain: WriteChain): number => chain.db.one<{ stored: number }>('SELECT COUNT(*) AS stored FROM usageContext')?.stored ?? 0;

/** What the views of every branch, and of some earlier turns, show. */
function shown(chain: WriteChain): unknown {
  const ids = tips(chain, {}).map(({ id }) => id);
  const turns = listTurns(chain, { id: ids.at(-1) as (typeof ids)[number] });
  const some = [...ids, ...turns.filter((_, at) => at % 37 === 0 || (at + 1) % 64 < 2).map(({ turnId }) => turnId)];
  return some.map((id) => [
    id,
    usageOfContext(chain, id),
    usageSeries(chain, id).calls.length,
    usageFillers(chain, { id }),
    usageLargest(chain, id),
    turnOf(chain, id),
  ]);
}

test('[N8] sums that are stored at some commits change no answer', { tags: 'long' }, () => {
  const chain = longChain();
  const before = shown(chain);
  chain.outlines.clear();
  chain.derived.clear();
  atOnce(catchUpMeasures(chain, 1));
  expect(sumsIn(chain)).toBeGreaterThanOrEqual(4);
  expect(shown(chain)).toEqual(before);
});

test('[N9] fillers of stored stretches follow calls that are known later', () => {
  const chain = longChain();
  atOnce(catchUpMeasures(chain, 1));
  const stretches = "FROM deltaFact WHERE name = 'filler stretch'";
  expect(chain.db.all(`SELECT 1 ${stretches}`).length).toBeGreaterThanOrEqual(4);
  const asked = () => tips(chain, {}).map(({ id }) => [usageFillers(chain, { id, limit: 5_000 }), usageLargest(chain, id)]);
  const whole = asked();
  chain.db.run('DELETE FROM usageCall WHERE no % 3 = 0');
  const fewer = asked();
  expect(fewer).not.toEqual(whole);
  chain.db.run(`DELETE ${stretches}`);
  expect(asked()).toEqual(fewer);
});

test('[N8] a conversation is measured from its beginning once it is long; a short one is not', { tags: 'long' }, () => {
  const chain = longChain();
  const before = shown(chain);
  atOnce(catchUpMeasures(chain));
  expect(sumsIn(chain)).toBe(0);
  expect(chain.db.one('SELECT 1 FROM deltaFact')).toBeUndefined();
  chain.db.run("DELETE FROM derivedProgress WHERE name LIKE 'usage contexts%'");
  chain.derived.clear();
  atOnce(catchUpMeasures(chain, 192));
  // The trunk has 300 turns: sums at 192 and 256. The measures begin at the first turn.
  expect(sumsIn(chain)).toBeGreaterThanOrEqual(2);
  expect(chain.db.all('SELECT 1 FROM entrySum WHERE context IN (SELECT seq FROM commits WHERE depth IN (63, 127))').length).toBeGreaterThanOrEqual(2);
  expect(shown(chain)).toEqual(before);
});

test('[N8] the last calls of a context are the end of all its calls, also without sums', { tags: 'long' }, () => {
  const chain = longChain();
  const check = (): void => {
    for (const { id } of tips(chain, {})) {
      const [all, series] = [usageCalls(chain, { id }), usageSeries(chain, id)];
      expect(all.total).toBeGreaterThan(100);
      for (const last of [1, 7, 90, 1_000]) {
        expect(usageCalls(chain, { id, last })).toEqual({ ...all, calls: all.calls.slice(-last) });
        expect(usageSeries(chain, id, last)).toEqual({ ...series, calls: series.calls.slice(-last) });
      }
      expect(usageCalls(chain, { id, offset: 30, limit: 40 })).toEqual({ ...all, calls: all.calls.slice(30, 70) });
    }
  };
  check();
  atOnce(catchUpMeasures(chain, 1));
  chain.derived.clear();
  check();
});

test('a list of turns and the losses of exports read no content', () => {
  const made = longChain();
  const ids = tips(made, {}).map(({ id }) => id);
  const asked = (chain: WriteChain): unknown => ids.map((id) => [listTurns(chain, { id }), exportFormats(chain, { id, stop: 'root' })]);
  const before = asked(made);
  atOnce(catchUpMeasures(made, 1));
  made.db.run('DELETE FROM outline');
  const { chain, reads } = countingReads(made);
  expect(asked(chain)).toEqual(before);
  expect(reads.objects).toBeLessThan(8);
});

test('a long window is read from the last sums, and a turn reads only its own content', () => {
  const made = longChain();
  atOnce(catchUpMeasures(made, 1));
  const ids = tips(made, {}).map(({ id }) => id);
  const last = listTurns(made, { id: ids.at(-1) as (typeof ids)[number] }).at(-1)?.turnId ?? '';
  for (const ask of [usageOfContext, turnOf]) {
    const { chain, reads } = countingReads(made);
    ask(chain, last as (typeof ids)[number]);
    expect([ask.name, reads.objects <= 4, reads.statements < 400]).toEqual([ask.name, true, true]);
  }
});

test('[N8] stored facts change no fillers, series, turns or losses, with tools and compactions', { tags: 'long' }, () => {
  const chain = emptyChain();
  for (const name of ['usage/branches.jsonl', 'usage/two-models.jsonl', 'pi/tour.jsonl', 'gemini/tour.jsonl', 'codex', 'claude-code'])
    importInto(chain, join(fixtures, name));
  atOnce(catchUpUsage(chain));
  const views = (): unknown =>
    tips(chain, {}).map(({ id }) => [
      ...[id, usageFillers(chain, { id }), usageLargest(chain, id), usageSeries(chain, id), usageOfContext(chain, id), turnViews(chain, id)],
      ...[listTurns(chain, { id }), exportFormats(chain, { id }), exportFormats(chain, { id, stop: 'root' })],
    ]);
  const before = views();
  const compared = JSON.stringify(before).match(/"duplicateOf"|"path"/g)?.length ?? 0;
  expect(compared).toBeGreaterThan(20);
  expect(chain.db.one('SELECT 1 FROM deltaFact')).toBeUndefined();
  atOnce(catchUpMeasures(chain, 1));
  expect(chain.db.one<{ stored: number }>('SELECT COUNT(*) AS stored FROM deltaFact')?.stored).toBeGreaterThan(20);
  chain.derived.clear();
  expect(views()).toEqual(before);
});

/** The last turn of a context; nothing for a snapshot. */
function turnViews(chain: WriteChain, id: ContextId): unknown {
  try {
    return turnOf(chain, id);
  } catch (error) {
    return String(error);
  }
}

test('a damaged sum, measure or fact counts as missing', { tags: 'long' }, () => {
  const chain = longChain();
  const before = shown(chain);
  atOnce(catchUpMeasures(chain, 1));
  for (const table of ['usageContext', 'deltaFact']) chain.db.run(`UPDATE ${table} SET data = '{"cut'`);
  chain.derived.clear();
  expect(shown(chain)).toEqual(before);
});

test('sums of a commit that was lost are not those of the commit that got its number', { tags: 'long' }, () => {
  const chain = longChain();
  const before = shown(chain);
  atOnce(catchUpMeasures(chain, 1));
  chain.db.run(`UPDATE usageContext SET data = json_set(data, '$.of', 'ctx-00000000', '$.turns', 7)`);
  chain.derived.clear();
  expect(shown(chain)).toEqual(before);
});

const isHistory = (path: string): boolean => /\.(jsonl?|traj|eval)$/.test(path) && !path.startsWith('cases');

test('[R1] a page of calls from stored answers equals that from all commits, in every history', { tags: 'long' }, () => {
  const chain = emptyChain();
  for (const name of ['usage', 'codex', 'pi', 'gemini', 'cline', 'claude-code', 'qwen-code', 'opencode'])
    for (const path of readdirSync(join(fixtures, name), { recursive: true, encoding: 'utf8' }).filter(isHistory))
      try {
        importInto(chain, join(fixtures, name, path));
      } catch {
        // Not every file there can be imported alone.
      }
  const whole = listRequests(chain, {});
  expect(whole.length).toBeGreaterThan(100);
  atOnce(catchUpAnswers(chain));
  chain.derived.clear();
  const paged = [];
  for (let offset = 0; offset < whole.length; offset += 50) {
    const { total, requests } = atOnce(listRequestsInSteps(chain, { offset, limit: 50 }));
    expect(total).toBe(whole.length);
    paged.push(...requests);
  }
  expect(paged).toEqual(whole);
  const sessionId = whole.find((row) => row.sessionId)?.sessionId;
  expect(listRequests(chain, { sessionId })).toEqual(whole.filter((row) => row.sessionId === sessionId));
});

test('a page of calls reads only the commits of its calls', () => {
  const made = longChain();
  atOnce(catchUpAnswers(made));
  const { chain, reads } = countingReads(made);
  const { total, requests } = atOnce(listRequestsInSteps(chain, { offset: 200, limit: 10 }));
  expect([total, requests.length]).toEqual([300, 10]);
  expect(reads.objects).toBeLessThanOrEqual(20);
  expect(reads.statements).toBeLessThan(100);
});
