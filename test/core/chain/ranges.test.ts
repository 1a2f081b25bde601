import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { atOnce, type ContextId } from '../../../src/core/base/index.js';
import {
  compact,
  contextSize,
  entries,
  find,
  fork,
  outlinePart,
  outlineRows,
  type ReadChain,
  tips,
  type WriteChain,
} from '../../../src/core/chain/index.js';
import { contextMessages } from '../../../src/core/timeline/index.js';
import { compareContexts, listTurns, replaySteps, stateAt } from '../../../src/core/turns/index.js';
import { catchUpMeasures, catchUpUsage, loadTokenizer } from '../../../src/core/usage/index.js';
import { answer, call, prompt, result } from '../../support/claude-lines.js';
import { importInto } from '../../support/imports.js';
import { emptyChain, scratch } from '../../support/project.js';
import { countingReads } from '../../support/reads.js';

beforeAll(loadTokenizer);

/** A session of 200 turns with tools, a fork in its middle, and a compaction with a fork after it. */
function longChain(): WriteChain {
  const chain = emptyChain();
  const path = join(scratch(), '00000000-0000-4000-8000-000000000041.jsonl');
  writeFileSync(path, Array.from({ length: 200 }, (_, turn) => turnLines(turn)).join(''));
  importInto(chain, path);
  atOnce(catchUpUsage(chain));
  const tip = tipOf(chain);
  const turns = listTurns(chain, { id: tip });
  const said = { role: 'user', kind: 'text', text: 'Do it another way.' } as const;
  fork(chain, { id: turns[150]?.turnId ?? null, edits: [{ op: 'append', entry: said }] });
  fork(chain, { id: compact(chain, tip, 'All of it.').id, edits: [{ op: 'append', entry: said }] });
  return chain;
}

/** A turn with three tool calls. */
function turnLines(turn: number): string {
  const name = (part: string): string => `${part}-${turn}`;
  const calls = [0, 1, 2].map(
    (n) =>
      call(
        name(`call${n}`),
        name(`tool${n}`),
        n === 1 ? 'Bash' : 'Read',
        { file_path: `/src/${n}.ts` },
        { parent: name(n === 0 ? 'prompt' : `result${n - 1}`) },
      ) + result(name(`result${n}`), name(`tool${n}`), `the content of ${turn}: ${'line '.repeat(turn % 9)}`, { parent: name(`call${n}`) }),
  );
  const before = turn === 0 ? {} : { parent: `answer-${turn - 1}` };
  return `${prompt(name('prompt'), `What about the ${turn}?`, before)}${calls.join('')}${answer(name('answer'), `Done with ${turn}`, { parent: name('result2') })}`;
}

const tipOf = (chain: ReadChain): ContextId =>
  chain.db.one<{ id: ContextId }>('SELECT id FROM commits WHERE forked = 0 ORDER BY depth DESC LIMIT 1')?.id ?? ('' as ContextId);

/** What a context shows whole and in ranges. */
function shown(chain: WriteChain, id: ContextId): { readonly whole: unknown; readonly ranges: unknown } {
  const outline = outlineRows(chain, { id });
  const { total } = outline;
  const pages = Array.from({ length: Math.ceil(total / 130) }, (_, page) => ({ id, offset: page * 130, limit: 130 }));
  const text = 'the';
  return {
    whole: [outline, { total, entries: entries(chain, { id }).entries }, find(chain, { id, text }), contextSize(chain, id).total],
    ranges: [
      { total, tokens: outline.tokens, rows: pages.flatMap((page) => outlinePart(chain, page).rows) },
      { total: entries(chain, { id, offset: 0, limit: 1 }).total, entries: pages.flatMap((page) => entries(chain, page).entries) },
      { total, hits: pages.flatMap((page) => find(chain, { ...page, text }).hits) },
      total,
    ],
  };
}

test('[N8] the ranges of a long context are together the whole context', { tags: 'long' }, () => {
  const chain = longChain();
  const comparisons = (): unknown => {
    const ids = tips(chain, {}).map(({ id }) => id);
    const turns = listTurns(chain, { id: tipOf(chain) }).map(({ turnId }) => turnId);
    return [...ids, turns[0], turns[100]].map((a) => ids.map((b) => compareContexts(chain, { a: a as ContextId, b })));
  };
  const pages = (id: ContextId) => [0, 90, 400, 900].map((offset) => contextMessages(chain, { id, offset, limit: 50, longest: 20 }));
  const timelines = (): unknown => tips(chain, {}).map(({ id }) => pages(id));
  const [before, timelinesBefore] = [comparisons(), timelines()];
  atOnce(catchUpMeasures(chain, 1));
  chain.derived.clear();
  expect(chain.db.one<{ stored: number }>('SELECT COUNT(*) AS stored FROM entrySum')?.stored).toBeGreaterThanOrEqual(3);
  for (const { id } of tips(chain, {})) {
    const { whole, ranges } = shown(chain, id);
    expect(ranges).toEqual(whole);
  }
  expect(comparisons()).toEqual(before);
  expect(timelines()).toEqual(timelinesBefore);
});

test('a page of a long context reads only the commits around it', () => {
  const made = longChain();
  atOnce(catchUpMeasures(made, 1));
  const id = tipOf(made);
  const { total } = outlineRows(made, { id });
  made.placed.clear();
  for (const offset of [0, total >> 1, total - 60]) {
    made.outlines.clear();
    const { chain, reads } = countingReads(made);
    expect(entries(chain, { id, offset, limit: 60 }).entries).toHaveLength(60);
    expect([offset, reads.objects < 12, reads.statements < 60]).toEqual([offset, true, true]);
  }
});

test('the state at one of the last steps is that of the whole recording, but for earlier work', () => {
  const chain = longChain();
  atOnce(catchUpMeasures(chain, 1));
  const id = tipOf(chain);
  const { total } = replaySteps(chain, id, 1);
  for (const step of [total, total - 1, total - 5, total - 90]) {
    const { files, before = 0, ...part } = stateAt(chain, { id, step, last: 100 });
    const { files: all, ...whole } = stateAt(chain, { id, step });
    expect(part).toEqual(whole);
    expect([before > 100, before < total - 100]).toEqual([true, true]);
    expect(files.length).toBeGreaterThan(0);
    const latest = (list: typeof files) => list.map(({ path, last }) => [path, last]).sort();
    expect(latest(all)).toEqual(expect.arrayContaining(latest(files)));
  }
  expect(stateAt(chain, { id, step: 10, last: 100 })).toEqual(stateAt(chain, { id, step: 10 }));
});
