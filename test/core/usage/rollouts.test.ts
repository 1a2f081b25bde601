import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isObject, parseJson } from '../../../src/core/base/index.js';
import type { WriteChain } from '../../../src/core/chain/index.js';
import { listSessions } from '../../../src/core/sessions/index.js';
import { usageCalls, usageSessions } from '../../../src/core/usage/index.js';
import { importInto } from '../../support/imports.js';
import { emptyChain, scratch } from '../../support/project.js';

const fixtures = join(import.meta.dirname, '../../fixtures');
const cases = join(fixtures, 'cases');
/** Rollouts of real work, with their texts cut. */
const real = join(fixtures, 'codex-2026');

/** Input, cached input and output by the agent's own last sums. */
function lastTotals(path: string): readonly number[] {
  const sums = readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line) => {
      const record = line.includes('token_count') ? parseJson(line) : undefined;
      const info = isObject(record) && isObject(record.payload) ? record.payload.info : undefined;
      return isObject(info) && isObject(info.total_token_usage) ? [info.total_token_usage] : [];
    });
  const last = sums.at(-1) ?? {};
  return [last.input_tokens, last.cached_input_tokens, last.output_tokens].map(Number);
}

function sumsIn(chain: WriteChain): readonly number[] {
  const { input, cacheRead, cacheWrite, output } = usageSessions(chain, { groupBy: null }).totals.tokens;
  return [input + cacheRead + cacheWrite, cacheRead, output];
}

const added = (lists: readonly (readonly number[])[]): number[] => [0, 1, 2].map((at) => lists.reduce((sum, list) => sum + (list[at] ?? 0), 0));

/** One rollout with lines of a test. */
const meta = {
  type: 'session_meta',
  payload: { id: '64fdd873-1818-40eb-a394-7f3440718c43', timestamp: '2026-09-03T09:00:00.000Z', cwd: '/home/dev/app' },
};
const sums = (input: number, output: number) => ({ input_tokens: input, cached_input_tokens: 0, output_tokens: output, reasoning_output_tokens: 0 });
const counted = (total: readonly [number, number], last: readonly [number, number]) => ({
  type: 'event_msg',
  payload: { type: 'token_count', info: { total_token_usage: sums(...total), last_token_usage: sums(...last), model_context_window: 258_400 } },
});
const begin = (turn: string, model?: string) => [
  { type: 'event_msg', payload: { type: 'task_started', turn_id: turn } },
  ...(model === undefined ? [] : [{ type: 'turn_context', payload: { turn_id: turn, model } }]),
];
const asked = (text: string) => ({ type: 'response_item', payload: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] } });
const said = (text: string) => ({ type: 'response_item', payload: { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] } });

function rollout(...lines: readonly object[]): string {
  const path = join(scratch(), 'rollout-2026-09-03T09-00-00-64fdd873-1818-40eb-a394-7f3440718c43.jsonl');
  const at = (n: number): string => new Date(Date.parse('2026-09-03T09:00:00.000Z') + n * 1_000).toISOString();
  writeFileSync(path, [meta, ...lines].map((line, n) => `${JSON.stringify({ timestamp: at(n), ...line })}\n`).join(''));
  return path;
}

const callsOf = (path: string) => {
  const chain = emptyChain();
  importInto(chain, path);
  return usageCalls(chain, {}).calls;
};

describe('the sums of a rollout', () => {
  test('[N21] a count that the agent did not write belongs to the reply without one', () => {
    const path = rollout(
      ...begin('t1', 'gpt-5.5'),
      asked('go'),
      said('one'),
      { type: 'response_item', payload: { type: 'function_call_output', call_id: 'x', output: 'y' } },
      said('two'),
      counted([300, 30], [200, 20]),
      said('three'),
      counted([700, 60], [400, 30]),
    );
    // The agent starts counting at the first line that it wrote.
    const chain = emptyChain();
    importInto(chain, path);
    expect(usageCalls(chain, {}).calls.map(({ window }) => window)).toEqual([null, 200, 400]);
    const later = rollout(
      ...begin('t1', 'gpt-5.5'),
      asked('go'),
      said('zero'),
      counted([100, 10], [100, 10]),
      said('one'),
      { type: 'response_item', payload: { type: 'function_call_output', call_id: 'x', output: 'y' } },
      said('two'),
      counted([400, 40], [200, 20]),
    );
    expect(callsOf(later).map(({ window, tokens }) => [window, tokens.output])).toEqual([
      [100, 10],
      [100, 10],
      [200, 20],
    ]);
  });

  test('[N21] counts without any reply are calls beside the conversation', () => {
    const calls = callsOf(
      rollout(
        ...begin('t1', 'gpt-5.5'),
        asked('go'),
        said('one'),
        counted([100, 10], [100, 10]),
        counted([300, 20], [200, 10]),
        counted([300, 20], [200, 10]),
      ),
    );
    expect(calls.map(({ window, beside, model }) => [window, beside, model])).toEqual([
      [100, undefined, 'gpt-5.5'],
      [200, 'a call whose reply is not recorded', 'gpt-5.5'],
    ]);
  });

  test('[N21] sums that go back are named, and nothing is counted twice', () => {
    const calls = callsOf(
      rollout(...begin('t1', 'gpt-5.5'), asked('go'), said('one'), counted([1_000, 10], [1_000, 10]), said('two'), counted([200, 20], [200, 20])),
    );
    expect(calls.map(({ window, flaw }) => [window, flaw])).toEqual([
      [1_000, undefined],
      [200, "the agent's own sums went back here, from 1000 to 200 input tokens"],
    ]);
  });

  test('[N21] sums, model and window carry over turns that were taken back', () => {
    const calls = callsOf(
      rollout(
        ...[...begin('t1', 'gpt-5.5'), asked('a'), said('one'), counted([100, 10], [100, 10])],
        ...[...begin('t2', 'gpt-5.4'), asked('b'), said('two'), counted([300, 20], [200, 10])],
        { type: 'event_msg', payload: { type: 'thread_rolled_back', num_turns: 1 } },
        ...[...begin('t3'), asked('c'), said('three'), counted([600, 30], [300, 10])],
      ),
    );
    expect(calls.map(({ window, model, limit }) => [window, model, limit])).toEqual([
      [100, 'gpt-5.5', 258_400],
      [200, 'gpt-5.4', 258_400],
      [300, 'gpt-5.4', 258_400],
    ]);
  });

  test('[N22] a session takes back its calls from a fork that was imported first', () => {
    const folder = join(cases, 'codex-fork-replay/sessions/2026/09/03');
    const [parent = '', child = ''] = readdirSync(folder)
      .sort()
      .map((name) => join(folder, name));
    const chain = emptyChain();
    importInto(chain, child);
    importInto(chain, parent);
    expect(sumsIn(chain)).toEqual([450, 200, 90]);
    expect(
      usageSessions(chain, {})
        .rows.map(({ key, calls }) => [key.slice(0, 8), calls])
        .sort(),
    ).toEqual([
      ['8b203bc4', 1],
      ['ba9bfd84', 2],
    ]);
  });

  describe('of real work', () => {
    const files = readdirSync(real).filter((name) => name.endsWith('.jsonl'));

    test('[N21] each alone', () => {
      for (const name of files) {
        const chain = emptyChain();
        importInto(chain, join(real, name));
        expect([name, ...sumsIn(chain)]).toEqual([name, ...lastTotals(join(real, name))]);
        expect([name, ...usageCalls(chain, {}).calls.filter(({ model }) => model === null)]).toEqual([name]);
      }
    });

    test('[N21] all together', () => {
      const chain = emptyChain();
      importInto(chain, real);
      expect(sumsIn(chain)).toEqual(added(files.map((name) => lastTotals(join(real, name)))));
    });

    test.each(['older first', 'newer first'])('[N21] with older copies of a growing rollout, %s', (order) => {
      const name = files.find((file) => file.includes('46_c11fcf0c5c')) ?? '';
      const text = readFileSync(join(real, name), 'utf8');
      const lines = text.split('\n');
      const folder = scratch();
      const paths = [0.15, 0.4, 0.41, 0.83, 1].map((part, n) => {
        mkdirSync(join(folder, String(n)));
        const path = join(folder, String(n), name);
        writeFileSync(path, `${lines.slice(0, Math.floor((lines.length - 1) * part)).join('\n')}\n`);
        return path;
      });
      const chain = emptyChain();
      for (const path of order === 'older first' ? paths : paths.toReversed()) importInto(chain, path);
      expect(sumsIn(chain)).toEqual(lastTotals(join(real, name)));
      expect(listSessions(chain, {}).sessions.map(({ branches }) => branches)).toEqual([1]);
    });
  });
});
