import { expect, test } from 'vitest';
import { type EntryKey, encodeText } from '../../../../src/core/base/index.js';
import { events, type WritableEntry } from '../../../../src/core/formats/index.js';
import { decodeCbor, encodeCbor } from '../../../../src/core/formats/shared/cbor.js';

const at = '2026-01-01T00:00:00.000Z';
const options = { newId: () => '', now: at as never };
/** One event of every type, as a driver reports them. */
const reported = encodeCbor([
  { timestamp: '2026-01-01T01:00:00+01:00', type: 'prompt', prompt: { content: 'fix it', source: 'ann' } },
  { timestamp: at, type: 'thinking', thinking: { content: 'hm', signature: 'sig' } },
  { timestamp: at, type: 'response', response: { content: 'Looking.' } },
  { timestamp: at, type: 'tool_call', tool_call: { id: 'c', name: 'Bash', input: encodeText('{"command":"ls"}') } },
  { timestamp: at, type: 'tool_result', tool_result: { id: 'c', is_error: true, output: 'no' } },
  { timestamp: at, type: 'metric', metric: { input_tokens: 10, cost_usd: 0.25 } },
  { timestamp: at, type: 'output', output: { raw: encodeText('{"odd":1}') } },
  { timestamp: at, type: 'error', error: { message: 'overloaded' } },
  { timestamp: at, type: 'system', system: { subtype: 'init', message: 'ready', metadata: encodeText('{"cwd":"/w"}') } },
]);

test('[F28] events are read by type, and events that no model saw are hidden', () => {
  const { entries, problems } = events.parse(reported);
  expect(problems).toEqual([]);
  expect(entries).toMatchObject([
    { role: 'user', kind: 'text', text: 'fix it', author: 'ann', at },
    { role: 'assistant', kind: 'thinking', text: 'hm', result: { signature: 'sig' } },
    { role: 'assistant', kind: 'text', text: 'Looking.' },
    { role: 'assistant', kind: 'tool_call', toolName: 'Bash', toolCallId: 'c', arguments: { command: 'ls' } },
    { role: 'tool', kind: 'tool_result', toolCallId: 'c', text: 'no', isError: true },
    { kind: 'event', toolName: 'metric', result: { input_tokens: 10, cost_usd: 0.25 }, marks: ['hidden', 'metric'] },
    { kind: 'event', toolName: 'output', text: '{"odd":1}', marks: ['hidden', 'output'] },
    { kind: 'event', toolName: 'error', text: 'overloaded', isError: true, marks: ['hidden', 'error'] },
    { kind: 'event', toolName: 'init', text: 'ready', result: { cwd: '/w' }, marks: ['hidden', 'init'] },
  ]);
  expect(new Set(entries.slice(1, 4).map(({ messageId }) => messageId)).size).toBe(1);
});

test('[F28] events are written with their own fields only', () => {
  const entries: readonly WritableEntry[] = [
    { role: 'user', kind: 'text', text: 'go', at: at as never },
    { role: 'assistant', kind: 'tool_call', toolName: 'Bash', toolCallId: 'c', arguments: {} },
    { role: 'tool', kind: 'tool_result', toolCallId: 'c', text: '' },
  ];
  expect(decodeCbor(events.write(entries, options))).toEqual([
    { timestamp: at, type: 'prompt', prompt: { content: 'go' } },
    { type: 'tool_call', tool_call: { id: 'c', name: 'Bash', input: encodeText('{}') } },
    { type: 'tool_result', tool_result: { id: 'c', output: '' } },
  ]);
});

test('[F10] [F13] [F22] odd events are named, cuts keep events, the first tells the format', () => {
  const { problems, entries } = events.parse(encodeCbor([{ type: 'dance' }, { type: 'prompt', prompt: { content: 'x' } }]));
  expect(problems).toEqual([{ line: 1, reason: 'not an event: its type is missing or unknown' }]);
  expect(entries).toHaveLength(1);
  const all = events.parse(reported).entries;
  expect(events.parse(events.cut(reported, all[5]?.key as EntryKey)).entries).toEqual(all.slice(0, 6));
  expect(events.recognize(reported.subarray(0, 300), 'x')).toBeGreaterThan(0.5);
});
