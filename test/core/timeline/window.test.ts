import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findCommit, lineage, readOutline, tips, type WriteChain } from '../../../src/core/chain/index.js';
import { contextMessages, contextTimeline } from '../../../src/core/timeline/index.js';
import { newestMessages } from '../../../src/core/timeline/render/history.js';
import { call, prompt, result } from '../../support/claude-lines.js';
import { session } from '../../support/counted-lines.js';
import { importInto } from '../../support/imports.js';
import { emptyChain, scratch } from '../../support/project.js';
import { countingReads } from '../../support/reads.js';

const fixtures = join(import.meta.dirname, '../../fixtures');

/** A session of many turns, some of them with calls of tools and of a subagent. */
function long(turns: number): WriteChain {
  const lines = session('a', turns);
  const extra = { extra: { sessionId: 'a' } };
  let parent = (JSON.parse(lines.at(-1) ?? '{}') as { uuid: string }).uuid;
  for (const [n, [tool, input]] of [
    ['Read', { file_path: '/a' }] as const,
    ['Task', { description: 'Look around', prompt: 'Look' }] as const,
  ].entries()) {
    const at = (second: number): string => new Date(Date.parse('2026-02-02T00:00:00.000Z') + n * 60_000 + second * 1_000).toISOString();
    lines.push(
      prompt(`p${n}`, 'Use a tool', { parent, at: at(0), ...extra }),
      call(`c${n}`, `t${n}`, tool, input, { parent: `p${n}`, at: at(1), ...extra }),
      result(`r${n}`, `t${n}`, 'found', { parent: `c${n}`, at: at(2), ...extra }),
    );
    parent = `r${n}`;
  }
  const chain = emptyChain();
  const path = join(scratch(), 'a.jsonl');
  writeFileSync(path, lines.join(''));
  importInto(chain, path);
  return chain;
}

test('[C34] the window of a long transcript is that of the whole, and reads only its messages', { tags: 'long' }, () => {
  const chain = long(1_200);
  const [tip] = tips(chain, {});
  if (!tip) throw new Error('nothing was imported');
  const whole = contextTimeline(countingReads(chain).chain, { id: tip.id });
  const { chain: counted, reads } = countingReads(chain);
  const part = contextTimeline(counted, { id: tip.id, window: true, budget: 30 });
  expect(part.total).toBe(whole.total);
  expect(reads.objects).toBeLessThan(100);
  const { history, ...rest } = part.input;
  const { history: all, ...others } = whole.input;
  expect({ ...rest, budget: 0 }).toEqual({ ...others, budget: 0 });
  expect(history?.messages).toEqual(all?.messages.slice(-30));
  expect(part.rendered).toEqual(contextTimeline(countingReads(chain).chain, { id: tip.id, budget: 30 }).rendered);

  const { rows, total } = contextMessages(countingReads(chain).chain, { id: tip.id, offset: 700, limit: 20 });
  expect(total).toBe(whole.total);
  expect(rows.map(({ length: _, silence: __, ...message }) => message)).toEqual(all?.messages.slice(700, 720));
});

test('[C34] a transcript with more messages than an answer holds is refused without a window', () => {
  const chain = long(2);
  const [tip] = tips(chain, {});
  if (!tip) throw new Error('nothing was imported');
  contextTimeline(chain, { id: tip.id });
  const entry = lineage(chain, findCommit(chain, tip.id)).flatMap((step) => readOutline(chain, step).entries)[0];
  if (!entry) throw new Error('the context has no entries');
  const many = { entries: Array.from({ length: 100_001 }, () => entry), elisions: [] };
  const large = { ...chain, outlines: { ...chain.outlines, get: () => many } };
  expect(() => contextTimeline(large, { id: tip.id })).toThrow(expect.objectContaining({ code: 'BAD_REQUEST', data: { field: 'window' } }));
});

test('[C34] the window of a transcript is the end of the whole, in every history', { tags: 'long' }, () => {
  let compared = 0;
  for (const name of readdirSync(fixtures)) {
    const chain = emptyChain();
    try {
      importInto(chain, join(fixtures, name));
    } catch {
      continue;
    }
    for (const { id } of tips(chain, {})) {
      const whole = contextTimeline(chain, { id });
      const { spaces, history: all, ...others } = whole.input;
      for (const budget of [3, 40]) {
        const { input, total, rendered } = contextTimeline(chain, { id, window: true, budget });
        const { history, ...rest } = input;
        expect([name, id, total, { ...rest, budget: 0 }]).toEqual([name, id, whole.total, { ...others, spaces, budget: 0 }]);
        expect(history?.messages).toEqual(newestMessages(all?.messages ?? [], budget, all?.triggerMessageId));
        expect(rendered).toEqual(contextTimeline(chain, { id, budget }).rendered);
      }
      const { rows } = contextMessages(chain, { id, offset: 5, limit: 4 });
      expect(rows.map(({ length: _, silence: __, ...message }) => message)).toEqual(all?.messages.slice(5, 9));
      compared += 1;
    }
  }
  expect(compared).toBeGreaterThan(150);
});
