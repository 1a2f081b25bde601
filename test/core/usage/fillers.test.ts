import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { ContextId } from '../../../src/core/base/index.js';
import { entries, outlineRows, tips } from '../../../src/core/chain/index.js';
import type { UsageFiller } from '../../../src/core/contract/index.js';
import { loadTokenizer, usageFillers, usageOfContext, usageSeries } from '../../../src/core/usage/index.js';
import { prompt, result } from '../../support/claude-lines.js';
import { reply, usage } from '../../support/counted-lines.js';
import { importInto } from '../../support/imports.js';
import { largestOf } from '../../support/largest.js';
import { emptyChain, scratch } from '../../support/project.js';
import { openWriter } from '../../support/request-records.js';

beforeAll(loadTokenizer);

/** A session of Copilot CLI with three calls, each after another record of the system prompt, since its compaction. */
const live = join(import.meta.dirname, '../../fixtures/copilot-cli/live-1.0.102');

const read = (id: string, path: string) => ({ type: 'tool_use', id, name: 'Read', input: { file_path: path } });

/** A file is read twice, and each result stays for the calls after it. */
function chainWithReads() {
  const text = 'const line = 1;\n'.repeat(100);
  const lines = [
    prompt('p', 'look'),
    reply('a', { parent: 'p', block: read('t1', '/src/a.ts'), stop: 'tool_use', usage: usage(1_000, 0, 0, 5) }),
    result('r1', 't1', text, { parent: 'a' }),
    reply('b', { parent: 'r1', block: read('t2', '/src/a.ts'), stop: 'tool_use', usage: usage(1_500, 0, 0, 5) }),
    result('r2', 't2', text, { parent: 'b' }),
    reply('c', { parent: 'r2', usage: usage(2_000, 0, 0, 5) }),
  ];
  const chain = emptyChain();
  const path = join(scratch(), 'session.jsonl');
  writeFileSync(path, lines.join(''));
  importInto(chain, path);
  return { chain, tip: tips(chain, {})[0]?.id as never };
}

test('[N9] fillers have tokens, the calls they stayed, and their first copy', () => {
  const { chain, tip } = chainWithReads();
  const fillers = usageFillers(chain, { id: tip });
  const [first, second] = fillers;
  expect(first).toMatchObject({ key: 'r1.0', path: '/src/a.ts', tool: 'Read', kind: 'tool_result', tokens: 400, calls: 2, tokenCalls: 800 });
  expect(second).toMatchObject({ key: 'r2.0', calls: 1, tokenCalls: 400, duplicateOf: 'r1.0' });
  expect(fillers.map(({ tokenCalls }) => tokenCalls)).toEqual(fillers.map(({ tokenCalls }) => tokenCalls).toSorted((a, b) => b - a));
});

test('[N8] the series divides the counted total of each call', () => {
  const { chain, tip } = chainWithReads();
  const { calls, kinds } = usageSeries(chain, tip);
  expect(calls.map(({ counted }) => counted)).toEqual([1_000, 1_500, 2_000]);
  for (const { counted, parts } of calls) expect(parts.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(counted ?? 0);
  expect(calls.map(({ parts }) => parts[kinds.indexOf('tool_result')])).toEqual([0, 600, 1_200]);
  const keys = entries(chain, { id: tip, offset: 0, limit: 100 }).entries;
  for (const { replyKey } of calls) expect(keys.find(({ key }) => key === replyKey)?.role).toBe('assistant');
});

test('[N1] the last call of the series has the parts of its context', () => {
  const { chain, tip } = chainWithReads();
  const { parts, notRecorded } = usageOfContext(chain, tip);
  const { calls, kinds } = usageSeries(chain, tip);
  const last = calls.at(-1);
  expect(kinds.map((kind, at) => ({ kind, tokens: last?.parts[at] ?? 0 })).filter(({ tokens }) => tokens > 0)).toEqual(
    parts.map(({ kind, tokens }) => ({ kind, tokens })),
  );
  expect(last?.notRecorded).toBe(notRecorded);
});

test('[N9] results of an MCP server count together, and so do reminders of the agent', () => {
  const ask = { type: 'tool_use', id: 't1', name: 'mcp__maps__route', input: { to: 'home' } };
  const chain = emptyChain();
  const path = join(scratch(), 'session.jsonl');
  const lines = [
    prompt('p', 'go'),
    prompt('m', 'Remember the list.', { parent: 'p', extra: { isMeta: true } }),
    reply('a', { parent: 'm', block: ask, stop: 'tool_use', usage: usage(1_000, 0, 0, 5) }),
    result('r', 't1', 'left '.repeat(200), { parent: 'a' }),
    reply('b', { parent: 'r', usage: usage(1_500, 0, 0, 5) }),
  ];
  writeFileSync(path, lines.join(''));
  importInto(chain, path);
  const fillers = usageFillers(chain, { id: tips(chain, {})[0]?.id as never });
  expect(fillers.filter(({ group }) => group === 'MCP server maps').map(({ kind }) => kind)).toEqual(['tool_result', 'tool_call']);
  expect(fillers.find(({ group }) => group === 'Reminders of the agent')).toMatchObject({ key: 'm.0', calls: 2 });
});

test('[N9] a recorded request lists its system prompt and the tools that no call used', () => {
  const chain = emptyChain();
  const path = join(scratch(), 'session.jsonl');
  const writer = openWriter('s');
  const system = [{ type: 'text', text: 'You are careful.' }];
  const tools = ['mcp__maps__route', 'Bash', 'Read'].map((name) => ({ name, description: 'x'.repeat(400), input_schema: { type: 'object' } }));
  writer.prompt('go');
  writer.send({ system, tools }, [{ role: 'user', content: 'go' }]);
  writer.reply([read('t1', '/a.ts')]);
  writeFileSync(path, writer.text());
  importInto(chain, path);
  const fillers = usageFillers(chain, { id: tips(chain, {})[0]?.id as never });
  expect(fillers.filter(({ kind }) => kind === 'tools')).toMatchObject([
    { tool: 'mcp__maps__route', group: 'MCP server maps', unused: true },
    { tool: 'Bash', group: 'Tools never used', unused: true },
    { tool: 'Read', group: 'Tools that were used' },
  ]);
  expect(fillers.find(({ kind }) => kind === 'system')).toMatchObject({ calls: 1 });
});

test('[N9] a system prompt recorded at each turn fills the window once', () => {
  const chain = emptyChain();
  importInto(chain, live);
  const promptsIn = (id: ContextId) => outlineRows(chain, { id }).rows.filter(({ role, kind }) => role === 'system' && kind === 'text');
  const id = tips(chain, {}).find((tip) => promptsIn(tip.id).length === 3)?.id as ContextId;
  const listed = usageFillers(chain, { id }).filter(({ kind }) => kind === 'system');
  expect(listed).toMatchObject([{ key: promptsIn(id).at(-1)?.key, calls: 3 }]);
});

test('[N14] an entry is named by what its tool was given, or by what a person typed', () => {
  const tool = (id: string, name: string, input: unknown) => ({ type: 'tool_use', id, name, input });
  const chain = emptyChain();
  const path = join(scratch(), 'session.jsonl');
  const patch = '*** Begin Patch\n*** Update File: src/a.ts\n@@\n-x\n+y\n*** End Patch';
  const lines = [
    prompt('p', `<command-name>/fix</command-name>\n<command-args>${'the login '.repeat(30)}</command-args>`),
    reply('a', { parent: 'p', block: tool('t1', 'Bash', { command: 'npm test' }), stop: 'tool_use', usage: usage(1_000, 0, 0, 5) }),
    result('r1', 't1', 'line of the output\n'.repeat(90), { parent: 'a' }),
    reply('b', { parent: 'r1', block: tool('t2', 'apply_patch', { input: patch }), stop: 'tool_use', usage: usage(1_500, 0, 0, 5) }),
    result('r2', 't2', 'Done', { parent: 'b' }),
    reply('c', { parent: 'r2', usage: usage(2_000, 0, 0, 5) }),
  ];
  writeFileSync(path, lines.join(''));
  importInto(chain, path);
  const byKey = new Map(usageFillers(chain, { id: tips(chain, {})[0]?.id as never }).map((filler) => [filler.key as string, filler]));
  expect(byKey.get('p.0')?.head).toMatch(/^\/fix the login/);
  expect(byKey.get('r1.0')).toMatchObject({ tool: 'Bash', head: 'npm test' });
  expect(byKey.get('b.0')).toMatchObject({ tool: 'apply_patch', path: 'src/a.ts', head: 'src/a.ts' });
});

test('[N9] what filled a window is one row for a file, however often it was read', () => {
  const filler = (key: string, more: Partial<UsageFiller>): UsageFiller => ({
    key: key as never,
    kind: 'tool_result',
    tokens: 100,
    calls: 4,
    tokenCalls: 400,
    ...more,
  });
  const fillers = [
    filler('a', { path: '/x.ts', tool: 'Read' }),
    filler('b', { path: '/x.ts', tool: 'Read', calls: 2, tokenCalls: 200, duplicateOf: 'a' as never }),
    filler('c', { tool: 'Bash', head: 'make', tokens: 125, tokenCalls: 500 }),
    // It came after the last call, so it filled no window.
    filler('d', { tool: 'Bash', head: 'make all', calls: 0, tokenCalls: 0 }),
  ];
  expect(largestOf(fillers, 5)).toEqual([
    { name: '/x.ts', kind: 'tool_result', key: 'a', tokens: 200, calls: 4, tokenCalls: 600, times: 2, duplicates: 1, unused: 0 },
    { name: 'Bash make', side: 'result', kind: 'tool_result', key: 'c', tokens: 125, calls: 4, tokenCalls: 500, times: 1, duplicates: 0, unused: 0 },
  ]);

  // A damaged history can use a key twice. The later entry names the row.
  expect(largestOf([filler('a', { tool: 'Bash', head: 'make' }), filler('a', { kind: 'summary' })], 5)).toEqual([
    { name: 'summary', kind: 'summary', key: 'a', tokens: 200, calls: 4, tokenCalls: 800, times: 2, duplicates: 0, unused: 0 },
  ]);

  const offered = ['Bash', 'Glob'].map((tool): UsageFiller => {
    const { key: _, ...rest } = filler('', { tool, kind: 'tools', group: 'Tools never used', unused: true });
    return rest;
  });
  expect(largestOf(offered, 5)).toEqual([
    { name: 'Tools never used', kind: 'tools', tokens: 200, calls: 4, tokenCalls: 800, times: 2, duplicates: 0, unused: 2 },
  ]);
});
