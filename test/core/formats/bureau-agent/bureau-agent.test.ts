import { expect, test } from 'vitest';
import { type EntryKey, encodeText } from '../../../../src/core/base/index.js';
import { bureauAgent, type WritableEntry } from '../../../../src/core/formats/index.js';
import { type Cbor, decodeCbor, encodeCbor } from '../../../../src/core/formats/shared/cbor.js';

const options = { newId: () => '', now: '2026-01-01T00:00:00.000Z' as never };
const conversation: readonly WritableEntry[] = [
  { role: 'user', kind: 'text', text: 'read it' },
  { role: 'assistant', kind: 'thinking', text: 'hm', result: { signature: 'sig' }, messageId: 'a' },
  { role: 'assistant', kind: 'text', text: 'I read.', messageId: 'a' },
  { role: 'assistant', kind: 'tool_call', toolName: 'Read', toolCallId: 'c1', arguments: { path: 'x' }, messageId: 'a' },
  { role: 'assistant', kind: 'tool_call', toolName: 'search', toolCallId: 's1', arguments: { q: 1 }, marks: ['server'], messageId: 'a' },
  { role: 'tool', kind: 'tool_result', toolCallId: 'c1', text: 'gone', isError: true },
  { role: 'tool', kind: 'tool_result', toolCallId: 's1', text: 'found', marks: ['server'] },
];

test('[F28] messages have the names and the shape of the Go structs, and inputs are raw JSON', () => {
  const nothing = { Text: '', ToolUse: null, ToolResult: null, ServerToolUse: null, ServerToolResult: null, Thinking: null };
  expect(decodeCbor(bureauAgent.write(conversation, options))).toEqual([
    { Role: 'user', Content: [{ ...nothing, Type: 'text', Text: 'read it' }] },
    {
      Role: 'assistant',
      Content: [
        { ...nothing, Type: 'thinking', Thinking: { Content: 'hm', Signature: 'sig' } },
        { ...nothing, Type: 'text', Text: 'I read.' },
        { ...nothing, Type: 'tool_use', ToolUse: { ID: 'c1', Name: 'Read', Input: encodeText('{"path":"x"}') } },
        { ...nothing, Type: 'server_tool_use', ServerToolUse: { ID: 's1', Name: 'search', Input: encodeText('{"q":1}') } },
      ],
    },
    {
      Role: 'user',
      Content: [
        { ...nothing, Type: 'tool_result', ToolResult: { ToolUseID: 'c1', Content: 'gone', IsError: true } },
        { ...nothing, Type: 'server_tool_result', ServerToolResult: { ToolUseID: 's1', Content: 'found', IsError: false } },
      ],
    },
  ]);
});

test('field names are read without regard to case and underscores', () => {
  const message = (block: Cbor): Uint8Array => encodeCbor([{ role: 'assistant', content: [block] }]);
  const read = (block: Cbor): unknown => bureauAgent.parse(message(block)).entries[0];
  expect(read({ type: 'tool_use', tool_use: { id: 'c', name: 'Read', input: encodeText('{"a":1}') } })).toMatchObject({
    kind: 'tool_call',
    toolCallId: 'c',
    arguments: { a: 1 },
  });
  expect(read({ TYPE: 'tool_result', toolResult: { tool_use_id: 'c', content: 'x', is_error: true } })).toMatchObject({
    kind: 'tool_result',
    toolCallId: 'c',
    isError: true,
  });
});

test('[F10] an item that is not a message is named, and the others are read', () => {
  const { entries, problems } = bureauAgent.parse(
    encodeCbor([{ Role: 'user', Content: [{ Type: 'text', Text: 'a' }] }, 7, { Role: 'user', Content: 'b' }]),
  );
  expect(entries.map(({ text }) => text)).toEqual(['a', 'b']);
  expect(problems).toEqual([{ line: 2, reason: 'not a message: Role or Content is missing' }]);
});

test('[F13] a cut keeps everything up to the entry, also inside of a message', () => {
  const delta = bureauAgent.write(conversation, options);
  const { entries } = bureauAgent.parse(delta);
  const kept = bureauAgent.parse(bureauAgent.cut(delta, entries[3]?.key as EntryKey)).entries;
  expect(kept.map(({ kind }) => kind)).toEqual(['text', 'thinking', 'text', 'tool_call']);
  expect(() => bureauAgent.cut(delta, 'nowhere.0' as EntryKey)).toThrow('nowhere.0');
});

test('[F22] it is recognized by its first message', () => {
  expect(bureauAgent.recognize(bureauAgent.write(conversation, options).subarray(0, 400), 'x')).toBeGreaterThan(0.5);
  expect(bureauAgent.recognize(encodeCbor([{ type: 'prompt' }]), 'x')).toBe(0);
});
