import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { atOnce, type ContextId } from '../../../src/core/base/index.js';
import { checkpoint, compact, findCommit, lineage, outlineRows, snapshot, tips, type WriteChain } from '../../../src/core/chain/index.js';
import type { Commit } from '../../../src/core/contract/index.js';
import { importPaths } from '../../../src/core/import/index.js';
import { fileAt, listTurns, replaySteps, stateAt, stepEntries } from '../../../src/core/turns/index.js';
import { catchUpMeasures, loadTokenizer } from '../../../src/core/usage/index.js';
import { answer, call, prompt, result } from '../../support/claude-lines.js';
import { root } from '../../support/machine.js';
import { emptyChain } from '../../support/project.js';

beforeAll(loadTokenizer);

function sample(): WriteChain {
  const chain = emptyChain();
  for (const _ of importPaths(chain, { paths: [join(root, 'resources', 'sample')] }));
  return chain;
}

const grown = (chain: WriteChain, parent: Commit | null, text: string): Commit =>
  checkpoint(chain, { parent: parent?.id ?? null, type: 'delta', format: 'claude-code-v1', text, template: 'coder', checkpoint: 'turn_boundary' });

const wrote = (n: number, path: string, content: string, parent: string): string =>
  prompt(`u${n}`, `write ${n}`, { parent }) +
  call(`c${n}`, `t${n}`, 'Write', { file_path: path, content }, { parent: `u${n}` }) +
  result(`r${n}`, `t${n}`, 'written', { parent: `c${n}` }) +
  answer(`a${n}`, `done ${n}`, { parent: `r${n}` });

describe('a recording', () => {
  test('the window after each turn has the token count of that commit’s context', () => {
    const chain = sample();
    for (const tip of tips(chain, {})) {
      const { steps } = replaySteps(chain, tip.id);
      for (const turn of listTurns(chain, { id: tip.id })) {
        const context = outlineRows(chain, { id: turn.turnId });
        const state = stateAt(chain, { id: tip.id, step: turn.first + turn.entries });
        expect(state.window).toMatchObject({ entries: context.total, tokens: context.tokens });
        expect(state.window.byKind.reduce((sum, { tokens }) => sum + tokens, 0)).toBe(context.tokens);
      }
      expect(steps.map((step) => step.key)).toEqual(
        lineage(chain, findCommit(chain, tip.id)).flatMap((step) => outlineRows(chain, { id: step.id, stop: step.id }).rows.map((row) => row.key)),
      );
    }
  });

  test('the last steps of a long chain, and a range of their entries, are the end of the whole', () => {
    const chain = emptyChain();
    const lines = (n: number) => wrote(n, `/file${n % 7}`, 'text '.repeat(n % 5), n === 0 ? '' : `a${n - 1}`);
    let tip = grown(chain, null, lines(0));
    for (let n = 1; n < 70; n++) tip = grown(chain, tip, lines(n));
    const summary = compact(chain, tip.id, 'All of it.');
    tip = summary;
    for (let n = 70; n < 230; n++) tip = grown(chain, tip, lines(n));
    const whole = replaySteps(chain, tip.id);
    const entries = stepEntries(chain, { id: tip.id });
    atOnce(catchUpMeasures(chain, 1));
    chain.derived.clear();
    const part = replaySteps(chain, tip.id, 20);
    expect(part.steps.length).toBeLessThan(whole.total / 2);
    expect(part).toEqual({ total: whole.total, steps: whole.steps.slice(-part.steps.length), turns: whole.turns.slice(-part.turns.length) });
    for (const offset of [0, whole.total - 300, whole.total - 30])
      expect(stepEntries(chain, { id: tip.id, offset, limit: 45 })).toEqual({ ...entries, entries: entries.entries.slice(offset, offset + 45) });
  });

  test('a compaction reports what it removed from the window', () => {
    const chain = sample();
    const compacted = tips(chain, {})
      .map((tip) => replaySteps(chain, tip.id).steps)
      .find((steps) => steps.some((step) => step.dropped));
    const at = compacted?.findIndex((step) => step.dropped) ?? -1;
    expect(at).toBeGreaterThan(0);
    expect(compacted?.[at]?.dropped?.tokens).toBe(compacted?.[at - 1]?.window);
    expect(compacted?.[at]?.window).toBe(compacted?.[at]?.tokens);
  });

  test('a growing chain gives the same recording as the complete one', () => {
    const build = (look: (chain: WriteChain, id: ContextId) => void) => {
      const chain = emptyChain();
      let tip = grown(chain, null, prompt('u0', 'hello') + answer('a0', 'hi', { parent: 'u0' }));
      for (let n = 1; n < 6; n++) {
        look(chain, tip.id);
        tip = grown(chain, tip, wrote(n, `/f${n % 2}`, `version ${n}`, `a${n - 1}`));
        if (n === 3) tip = compact(chain, tip.id, 'what was done');
        if (n === 4) tip = snapshot(chain, tip.id);
      }
      return { chain, tip };
    };
    const seen: string[] = [];
    const live = build((chain, id) => seen.push(JSON.stringify(stateAt(chain, { id }))));
    const late = build(() => {});
    const whole = (chain: WriteChain, id: ContextId) => ({
      steps: replaySteps(chain, id).steps.map(({ commit: _, at: __, key: ___, ...step }) => step),
      states: replaySteps(chain, id).steps.map((_, step) => stateAt(chain, { id, step: step + 1 }).files),
    });
    expect(whole(live.chain, live.tip.id)).toEqual(whole(late.chain, late.tip.id));
    const first = lineage(live.chain, findCommit(live.chain, live.tip.id))[0]?.id as ContextId;
    expect(JSON.stringify(stateAt(live.chain, { id: first }))).toBe(seen[0]);
    expect(fileAt(live.chain, { id: live.tip.id, path: '/f1' }).content).toBe('version 5');
    expect(fileAt(live.chain, { id: live.tip.id, path: '/f1', step: 12 }).content).toBe('version 1');
  });

  test('the recording of an ancestor is the same before and after that of its descendant', () => {
    const [before, after] = [sample(), sample()];
    for (const tip of tips(before, {})) {
      const commits = lineage(before, findCommit(before, tip.id));
      const seen = (chain: WriteChain, id: ContextId) => {
        const { steps } = replaySteps(chain, id);
        return { steps, turns: listTurns(chain, { id }), states: steps.map((_, step) => stateAt(chain, { id, step: step + 1 })) };
      };
      // The oldest commit first: each recording extends the one before.
      const alone = commits.map(({ id }) => seen(before, id));
      replaySteps(after, tip.id);
      expect(commits.map(({ id }) => seen(after, id))).toEqual(alone);
      const [first] = commits;
      const last = alone.at(-1)?.steps.at(-1)?.key;
      if (first && commits.length > 1) expect(() => stateAt(after, { id: first.id, entry: last })).toThrow(/has no entry/);
    }
  });

  test('any range of steps has its content, across compactions', () => {
    const chain = sample();
    for (const tip of tips(chain, {})) {
      const { steps } = replaySteps(chain, tip.id);
      for (const [offset, limit] of [
        [0, 10_000],
        [3, 9],
        [steps.length - 2, 5],
      ] as const)
        expect(stepEntries(chain, { id: tip.id, offset, limit }).entries.map((entry) => entry.key)).toEqual(
          steps.slice(offset, offset + limit).map((step) => step.key),
        );
    }
  });

  test('a step beyond the end is refused', () => {
    const chain = emptyChain();
    const tip = grown(chain, null, prompt('u0', 'hello'));
    expect(stateAt(chain, { id: tip.id, step: 0 })).toMatchObject({ step: 0, steps: 1, entry: null, window: { entries: 0, tokens: 0 }, files: [] });
    expect(() => stateAt(chain, { id: tip.id, step: 2 })).toThrow(/has 1 steps/);
  });
});
