import { existsSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkpoint, entries, type WriteChain } from '../../../src/core/chain/index.js';
import type { Entry, ReplyCheck } from '../../../src/core/contract/index.js';
import { checkReply } from '../../../src/core/experiments/checks.js';
import {
  exportExperiment,
  getExperiment,
  judgeResult,
  listExperiments,
  removeExperiment,
  runExperiment,
  saveExperiment,
} from '../../../src/core/experiments/index.js';
import type { ModelProvider, ReplyPiece } from '../../../src/core/turns/index.js';
import { answer, prompt } from '../../support/claude-lines.js';
import { emptyChain, scratch } from '../../support/project.js';
import { refusal } from '../../support/refusal.js';

const turnIn = (chain: WriteChain) =>
  checkpoint(chain, {
    parent: null,
    type: 'delta',
    format: 'claude-code-v1',
    text: prompt('u1', 'name a color') + answer('a1', 'blue', { parent: 'u1' }),
    template: 'coder',
    checkpoint: 'turn_boundary',
  }).id;

/** A model that replies with its setting. */
function painter(...answers: (string | Error)[]): ModelProvider {
  let asked = 0;
  return {
    id: 'painter',
    title: 'Painter',
    wire: 'anthropic',
    models: async () => ({ models: [] }),
    async *stream() {
      const said = answers[asked++ % answers.length];
      if (said instanceof Error) throw said;
      yield { kind: 'usage', tokens: { input: 10, output: 3 }, cost: 0.5 } satisfies ReplyPiece;
      yield { kind: 'text', delta: said ?? '' } satisfies ReplyPiece;
    },
  };
}

async function drained<T>(stream: AsyncGenerator<unknown, T>): Promise<T> {
  for (;;) {
    const step = await stream.next();
    if (step.done) return step.value;
  }
}

const isBlue: ReplyCheck = { kind: 'contains', text: 'BLUE', ignoreCase: true };

describe('an experiment', () => {
  test('[P6] cases are saved, run as branches, checked, judged, and run again as a new round', async () => {
    const chain = emptyChain();
    const turnId = turnIn(chain);
    const { experimentId, cases } = saveExperiment(chain, {
      title: 'Which color',
      checks: [isBlue],
      cases: [
        { title: 'as it was', turnId, provider: 'recorded' },
        { title: 'short', turnId, provider: 'painter', model: 'm1', samples: 2, request: { system: ['Be short.'], settings: { temperature: 0 } } },
      ],
    });
    const first = await drained(runExperiment(chain, { experimentId }, [painter('deep blue', 'red')]));
    expect(first.results.map(({ title, sample, outcome, judgedBy }) => [title, sample, outcome, judgedBy])).toEqual([
      ['as it was', 0, 'pass', 'checks'],
      ['short', 0, 'pass', 'checks'],
      ['short', 1, 'fail', 'checks'],
    ]);
    expect(first.results[0]).toMatchObject({ model: null, cost: null, ms: null, tokens: { input: null, output: null }, head: 'blue' });
    const red = first.results[2];
    expect(red).toMatchObject({
      model: 'm1',
      cost: 0.5,
      tokens: { input: 10, output: 3 },
      settings: 'temperature 0',
      edits: 'system prompt',
      head: 'red',
    });
    expect(entries(chain, { id: red?.commit as never }).entries.at(-1)?.text).toBe('red');
    // A person's verdict overrides the checks, can be withdrawn, and keeps its note.
    expect(judgeResult(chain, { resultId: red?.resultId ?? '', verdict: 'pass', note: 'I like it' })).toMatchObject({
      outcome: 'pass',
      judgedBy: 'person',
      note: 'I like it',
    });
    expect(judgeResult(chain, { resultId: red?.resultId ?? '', verdict: null })).toMatchObject({
      outcome: 'fail',
      judgedBy: 'checks',
      note: 'I like it',
    });
    const again = await drained(runExperiment(chain, { experimentId, caseIds: [cases[1]?.caseId ?? ''] }, [painter('blue')]));
    expect(again).toMatchObject({ round: 2, results: [{ round: 2 }, { round: 2 }] });
    expect(getExperiment(chain, experimentId).results.map((result) => result.round)).toEqual([2, 2, 1, 1, 1]);
    expect(listExperiments(chain)).toMatchObject([{ experimentId, cases: 2, results: 5, passed: 4, failed: 1 }]);
  });

  test('new checks apply to old results; a removed experiment comes back when it is saved', async () => {
    const chain = emptyChain();
    const { experimentId, cases } = saveExperiment(chain, { title: 'x', cases: [{ title: 'a', turnId: turnIn(chain), provider: 'recorded' }] });
    await drained(runExperiment(chain, { experimentId }, []));
    expect(getExperiment(chain, experimentId).results).toMatchObject([{ outcome: 'unjudged', judgedBy: null }]);
    const saved = saveExperiment(chain, { experimentId, title: 'y', cases, checks: [{ kind: 'matches', pattern: '^blue$' }] });
    expect(saved).toMatchObject({ title: 'y', results: [{ outcome: 'pass' }] });
    removeExperiment(chain, experimentId);
    expect(listExperiments(chain)).toEqual([]);
    saveExperiment(chain, { experimentId, title: 'y', cases });
    expect(listExperiments(chain)).toHaveLength(1);
  });

  test('a failed case is a row with its problem, the others run; a stop starts no more', async () => {
    const chain = emptyChain();
    const turnId = turnIn(chain);
    const { experimentId } = saveExperiment(chain, {
      title: 'x',
      cases: [
        { title: 'nobody', turnId, provider: 'nobody' },
        { title: 'falls', turnId, provider: 'painter', samples: 2 },
        { title: 'fine', turnId, provider: 'recorded' },
      ],
    });
    const { results } = await drained(runExperiment(chain, { experimentId }, [painter(new Error('line cut'))]));
    expect(results.map(({ title, outcome, problem, commit }) => [title, outcome, problem?.slice(0, 24), commit !== null])).toEqual([
      ['nobody', 'problem', 'Unknown provider "nobody', false],
      ['falls', 'problem', 'line cut', false],
      ['falls', 'problem', 'line cut', false],
      ['fine', 'unjudged', undefined, true],
    ]);
    const stopped = await drained(runExperiment(chain, { experimentId }, [], AbortSignal.abort()));
    expect(stopped.results).toEqual([]);
  });

  test('invalid checks, cases and experiments are refused with the reason', async () => {
    const chain = emptyChain();
    const turnId = turnIn(chain);
    const saving = (checks: ReplyCheck[]) => refusal(() => saveExperiment(chain, { title: 'x', checks, cases: [] }));
    expect(saving([isBlue, { kind: 'matches', pattern: '(' }])).toMatchObject({ code: 'BAD_REQUEST', data: { field: 'checks.1' } });
    expect(saving([{ kind: 'json', schema: { type: 'string', pattern: '(a+)+$' } }]).message).toContain('cannot contain patterns');
    expect(saving([{ kind: 'json', schema: { type: 'nonsense' } }]).code).toBe('BAD_REQUEST');
    expect(refusal(() => saveExperiment(chain, { experimentId: 'no', title: 'x', cases: [] })).code).toBe('NOT_FOUND');
    expect(
      refusal(() => saveExperiment(chain, { title: 'x', cases: [{ title: '', turnId: 'ctx-00000000' as never, provider: 'recorded' }] })).code,
    ).toBe('NOT_FOUND');
    const { experimentId } = saveExperiment(chain, { title: 'x', cases: [{ title: '', turnId, provider: 'recorded' }] });
    await expect(drained(runExperiment(chain, { experimentId, caseIds: ['none'] }, []))).rejects.toMatchObject({ code: 'BAD_REQUEST' });
    expect(refusal(() => judgeResult(chain, { resultId: 'none', verdict: 'pass' })).code).toBe('NOT_FOUND');
  });

  test('[P7] the table is exported as Markdown and as CSV without formulas, to new files only', async () => {
    const chain = emptyChain();
    const { experimentId } = saveExperiment(chain, { title: 'x | y', cases: [{ title: '=1+1', turnId: turnIn(chain), provider: 'painter' }] });
    await drained(runExperiment(chain, { experimentId }, [painter('say "hi", | then\nleave')]));
    const csv = exportExperiment(chain, { experimentId, format: 'csv' }).text ?? '';
    expect(csv.split('\r\n')[0]).toMatch(/^round,case,sample,provider,model,settings,edits,input tokens/);
    expect(csv).toContain(`1,'=1+1,1,painter,`);
    expect(csv).toContain('"say ""hi"", | then\nleave"');
    expect(exportExperiment(chain, { experimentId, format: 'markdown' }).text).toContain('| say "hi", \\| then leave |');
    const path = join(scratch(), 'table.csv');
    exportExperiment(chain, { experimentId, format: 'csv', path });
    expect(existsSync(path)).toBe(true);
    expect(refusal(() => exportExperiment(chain, { experimentId, format: 'csv', path })).code).toBe('CONFLICT');
  });
});

describe('checks', () => {
  const said = (text: string): Entry =>
    ({ key: 'k', role: 'assistant', kind: 'text', text, tokens: 5, source: { commit: 'ctx-00000000', index: 0 } }) as Entry;
  const called = (toolName: string, given: unknown): Entry => ({ ...said(''), kind: 'tool_call', toolName, arguments: given });
  const passes = (reply: Entry[], check: ReplyCheck): boolean => checkReply(reply, [check])[0]?.passed === true;

  test('texts, patterns, schemas, calls and lengths, also negated', () => {
    const reply = [said('The color is Blue.'), called('Read', { file_path: '/a', limit: 5 })];
    expect(passes(reply, { kind: 'contains', text: 'Blue' })).toBe(true);
    expect(passes(reply, { kind: 'contains', text: 'blue' })).toBe(false);
    expect(passes(reply, { kind: 'contains', text: 'red', absent: true })).toBe(true);
    expect(passes(reply, { kind: 'matches', pattern: '^the .*\\.$', flags: 'i' })).toBe(true);
    expect(passes(reply, { kind: 'calls', toolName: 'Read', with: { file_path: '/a' } })).toBe(true);
    expect(passes(reply, { kind: 'calls', toolName: 'Read', with: { file_path: '/b' } })).toBe(false);
    expect(passes(reply, { kind: 'calls', toolName: 'Bash', absent: true })).toBe(true);
    expect(passes(reply, { kind: 'short', tokens: 9 })).toBe(false);
    const shape = { type: 'object', properties: { color: { type: 'string' } }, required: ['color'] };
    expect(passes([said('{"color": "blue"}')], { kind: 'json', schema: shape })).toBe(true);
    expect(passes([said('Here:\n```json\n{"color": "blue"}\n```\n')], { kind: 'json', schema: shape })).toBe(true);
    expect(checkReply([said('{"color": 5}')], [{ kind: 'json', schema: shape }])[0]?.why).toContain('color');
    expect(passes([said('blue')], { kind: 'json', schema: shape })).toBe(false);
  });

  test('a pattern that takes too long fails, and the next check still runs', () => {
    const reply = [said(`${'a'.repeat(60)}!`)];
    const found = checkReply(reply, [
      { kind: 'matches', pattern: '^(a+)+$' },
      { kind: 'contains', text: '!' },
    ]);
    expect(found.map((check) => check.passed)).toEqual([false, true]);
    expect(found[0]?.why).toContain('longer than');
  });

  test('[P5] a reply is read and never run', { tags: 'long' }, () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const [found] = checkReply([said(text)], [{ kind: 'matches', pattern: '^[\\s\\S]*$' }]);
        return found?.passed === true;
      }),
      { numRuns: 100 },
    );
    for (const text of ['"); globalThis.hit = 1; ("', '`process.exit(1)`', '__proto__'])
      expect(passes([said(text)], { kind: 'contains', text })).toBe(true);
  });
});
