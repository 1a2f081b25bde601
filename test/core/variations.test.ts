import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { contextEntries, tips, type WriteChain } from '../../src/core/chain/index.js';
import { listSessions } from '../../src/core/sessions/index.js';
import { loadPrices } from '../../src/core/usage/index.js';
import { usageCalls, usageSessions } from '../support/counted.js';
import { importInto } from '../support/imports.js';
import { emptyChain, scratch } from '../support/project.js';
import { reordered } from '../support/reordered.js';

beforeAll(() => loadPrices());

const cases = join(import.meta.dirname, '../fixtures/cases');
const textOf = (name: string): string => readFileSync(join(cases, name), 'utf8');
type Line = Record<string, unknown>;
const linesOf = (name: string): Line[] =>
  textOf(name)
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as Line);
const jsonl = (lines: readonly object[]): string => lines.map((line) => `${JSON.stringify(line)}\n`).join('');

function imported(name: string, text: string): WriteChain {
  const path = join(scratch(), name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  const chain = emptyChain();
  importInto(chain, path);
  return chain;
}

/** Calls, what the models read and what they wrote. */
function sumsOf(chain: WriteChain): { calls: number; input: number; output: number } {
  const { input, cacheRead, cacheWrite, output } = usageSessions(chain, { groupBy: null }).totals.tokens;
  return { calls: usageCalls(chain, {}).total, input: input + cacheRead + cacheWrite, output };
}

const log = (): Line[] => linesOf('claude-stream-json/out.jsonl');
const advisor = (): [Line, Line] => linesOf('advisor-iterations/a33c7303-d4bc-4322-a00a-0f53787677c5.jsonl') as [Line, Line];
const advisorFile = 'a33c7303-d4bc-4322-a00a-0f53787677c5.jsonl';

describe('headless logs', () => {
  test.each(['lines', 'list'])('[N20] without the record of the result, as %s: each reply counts once', (form) => {
    const lines = log().filter(({ type }) => type !== 'result');
    const chain = imported('out.json', form === 'lines' ? jsonl(lines) : JSON.stringify(lines, null, 1));
    expect(sumsOf(chain)).toMatchObject({ calls: 2, input: 2_263 });
    expect(listSessions(chain, {}).sessions).toMatchObject([{ turns: 1 }]);
  });

  test.each([0, 1])('[N20] a list that was cut off is read up to there, which is named (indent %i)', (indent) => {
    const path = join(scratch(), 'out.json');
    const text = JSON.stringify(log(), null, indent);
    const cut = text.slice(0, text.search(/"type": ?"result"/));
    writeFileSync(path, cut);
    const chain = emptyChain();
    const { skipped } = importInto(chain, path);
    expect(sumsOf(chain)).toMatchObject({ calls: 2, input: 2_263 });
    expect(skipped).toEqual([{ path, line: cut.split('\n').length - indent, reason: expect.stringMatching(/cut off/) }]);
  });

  test.each(['gemini.jsonl', 'cursor.jsonl'])('[N20] a list of %s that was cut off is read up to there', (name) => {
    const path = join(scratch(), 'out.json');
    writeFileSync(path, JSON.stringify(linesOf(`gemini-stream-json/${name}`), null, 2).slice(0, -20));
    const chain = emptyChain();
    const { skipped } = importInto(chain, path);
    expect(listSessions(chain, {}).sessions).toMatchObject([{ turns: 1 }]);
    expect(skipped).toMatchObject([{ path, reason: expect.stringMatching(/cut off/) }]);
  });

  test('[N20] with BOM and CRLF', () => {
    const chain = imported('out.jsonl', `\uFEFF${textOf('claude-stream-json/out.jsonl').replaceAll('\n', '\r\n')}`);
    expect(sumsOf(chain)).toMatchObject({ calls: 2, input: 2_263 });
  });

  test('[N20] two runs in one file: each is a session', () => {
    const again = JSON.parse(
      JSON.stringify(log())
        .replaceAll('b5bf27b2', 'c5bf27b2')
        .replaceAll('msg_s', 'msg_t')
        .replaceAll('0a6b1f95', '1a6b1f95')
        .replaceAll('f31d108c', 'e31d108c'),
    ) as Line[];
    const chain = imported('out.jsonl', jsonl([...log(), ...again]));
    expect(sumsOf(chain)).toMatchObject({ calls: 4, input: 4_526 });
  });

  test('[N20] of Codex, cut in the last line: the turn is read, and counts nothing', () => {
    const text = textOf('codex-exec-json/out.jsonl');
    const chain = imported('out.jsonl', text.slice(0, -20));
    expect(sumsOf(chain)).toMatchObject({ input: 0, output: 0 });
    expect(listSessions(chain, {}).sessions).toMatchObject([{ turns: 1 }]);
  });

  test('[N20] of Codex with two turns: the counts of each', () => {
    const lines = linesOf('codex-exec-json/out.jsonl');
    const second = [
      { type: 'turn.started' },
      { type: 'item.completed', item: { id: 'item_3', type: 'agent_message', text: 'Again' } },
      { type: 'turn.completed', usage: { input_tokens: 3_000, cached_input_tokens: 900, output_tokens: 70 } },
    ];
    expect(sumsOf(imported('out.jsonl', jsonl([...lines, ...second])))).toMatchObject({ input: 3_000 + 1_000, output: 90 });
  });

  test('[N20] of Gemini CLI without the record of the result', () => {
    const lines = linesOf('gemini-stream-json/gemini.jsonl').filter(({ type }) => type !== 'result');
    expect(listSessions(imported('g.jsonl', jsonl(lines)), {}).sessions).toMatchObject([{ turns: 1, agent: 'gemini' }]);
  });
});

describe('advisors', () => {
  test('[N20] two lines of one reply repeat its iterations: the advisor counts once', () => {
    const [prompt, reply] = advisor();
    const message = reply.message as Line & { content: object[] };
    const part = (at: number, uuid: string, parentUuid: unknown): Line => ({
      ...reply,
      uuid,
      parentUuid,
      message: { ...message, content: [message.content[at]] },
    });
    const chain = imported(advisorFile, jsonl([prompt, part(0, 'u-a', prompt.uuid), part(1, 'u-b', 'u-a'), part(2, 'u-c', 'u-b')]));
    expect(
      usageCalls(chain, {})
        .calls.map(({ model, window }) => [model, window])
        .sort(),
    ).toEqual([
      ['claude-opus-4-8', 100_000],
      ['claude-sonnet-4-6', 117_551],
    ]);
  });

  test('[N20] two advisors of one reply are two calls', () => {
    const [prompt, reply] = advisor();
    const message = structuredClone(reply.message) as { usage: { iterations: Line[] } };
    const [first, advice, last] = message.usage.iterations as [Line, Line, Line];
    message.usage.iterations = [first, advice, { ...advice, input_tokens: 50_000, output_tokens: 1_000 }, last];
    const chain = imported(advisorFile, jsonl([prompt, { ...reply, message }]));
    expect(sumsOf(chain)).toEqual({ calls: 3, input: 234_441 + 150_000, output: 491 + 3_000 });
  });

  test('[N20] an advisor without a model has no price, and is counted', () => {
    const [prompt, reply] = advisor();
    const message = structuredClone(reply.message) as { usage: { iterations: Line[] } };
    delete (message.usage.iterations[1] as Line).model;
    const { advisorModel: _, ...rest } = reply;
    const { calls } = usageCalls(imported(advisorFile, jsonl([prompt, { ...rest, message }])), {});
    expect(new Map(calls.map(({ model, cost }) => [model, cost === null]))).toEqual(
      new Map([
        ['claude-sonnet-4-6', false],
        [null, true],
      ]),
    );
  });
});

describe('totals and counts', () => {
  test('[N20] a total of the agent that is smaller than its calls adds no call', () => {
    const lines = linesOf('cost-state/c6a3d6f9-2d8e-425d-a92c-cdbb6ca9a6e4.jsonl');
    const smaller = JSON.parse(JSON.stringify(lines).replaceAll('21000', '900')) as Line[];
    const before = sumsOf(imported('c6a3d6f9-2d8e-425d-a92c-cdbb6ca9a6e4.jsonl', jsonl(lines)));
    expect(before.calls).toBe(2);
    const state = smaller.filter(({ type }) => type === 'cost-state');
    for (const one of state) {
      const usage = one.modelUsage as Record<string, Line>;
      for (const model of Object.keys(usage)) if (!/sonnet|opus/.test(model)) delete usage[model];
      for (const model of Object.keys(usage))
        Object.assign(usage[model] as Line, { inputTokens: 1, outputTokens: 1, cacheReadInputTokens: 0, cacheCreationInputTokens: 0 });
    }
    expect(sumsOf(imported('c6a3d6f9-2d8e-425d-a92c-cdbb6ca9a6e4.jsonl', jsonl(smaller))).calls).toBe(1);
  });

  test('[N20] a later total replaces an earlier one', () => {
    const lines = linesOf('cost-state/c6a3d6f9-2d8e-425d-a92c-cdbb6ca9a6e4.jsonl');
    const twice = lines.flatMap((line) => (line.type === 'cost-state' ? [line, line] : [line]));
    const name = 'c6a3d6f9-2d8e-425d-a92c-cdbb6ca9a6e4.jsonl';
    expect(sumsOf(imported(name, jsonl(twice)))).toEqual(sumsOf(imported(name, jsonl(lines))));
  });

  test('[N20] counts below zero and counts that are texts are not added', () => {
    const lines = linesOf('stream-last-wins/f7b44cfa-fd5c-4222-ad54-98196c8a2e7b.jsonl');
    const odd = lines.map((line) => JSON.parse(JSON.stringify(line).replace(/"output_tokens":\d+/, '"output_tokens":-5')) as Line);
    const { calls } = usageCalls(imported('f7b44cfa-fd5c-4222-ad54-98196c8a2e7b.jsonl', jsonl(odd)), {});
    expect(calls.every(({ tokens, flaw }) => tokens.output === null && flaw !== undefined)).toBe(true);
  });
});

describe('a transcript of Cursor', () => {
  const text = readFileSync(join(import.meta.dirname, '../fixtures/cursor/agent-transcript-large.jsonl'), 'utf8');
  const entriesIn = (chain: WriteChain): number => tips(chain, {}).reduce((sum, { id }) => sum + contextEntries(chain, { id }).length, 0);

  test('[N20] is recognized with the members of its records in another order', () => {
    const right = entriesIn(imported('t.jsonl', text));
    expect(right).toBeGreaterThan(0);
    expect(entriesIn(imported('t.jsonl', reordered(text)))).toBe(right);
  });

  test('[N20] says which line is cut off', () => {
    const path = join(scratch(), 't.jsonl');
    writeFileSync(path, text.slice(0, -20));
    const line = text.trimEnd().split('\n').length;
    expect(importInto(emptyChain(), path).skipped).toEqual([{ path, line, reason: 'not JSON' }]);
  });
});
