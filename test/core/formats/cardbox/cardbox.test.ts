import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { EntryKey, Timestamp } from '../../../../src/core/base/index.js';
import { cardbox } from '../../../../src/core/formats/index.js';
import { runs } from '../../../support/properties.js';
import { conversations, facts } from '../conversations.js';

const options = { newId: randomUUID, now: '2026-01-01T00:00:00.000Z' as Timestamp };
const bytesOf = (text: string): Uint8Array => Buffer.from(text);
const line = (card: object): string => `${JSON.stringify(card)}\n`;
const said = (cardId: string, text: string, more: object = {}) =>
  line({ cardId, content: { kind: 'text', text }, metadata: { type: 'agent.thought', role: 'assistant' }, authorId: 'a', ...more });

test('entries written as cards are read back', () => {
  fc.assert(
    fc.property(conversations({ thinking: true, images: true, errors: true }), (entries) => {
      const { entries: read, problems } = cardbox.parse(cardbox.write(entries, options));
      expect(problems).toEqual([]);
      expect(facts(read)).toEqual(facts(entries));
    }),
    { numRuns: runs(150) },
  );
});

test('[F28] -0 in the arguments of a call is read as 0', () => {
  const call = { role: 'assistant', kind: 'tool_call', toolName: 'Tool', toolCallId: 'c', arguments: { a: -0 } } as const;
  expect(cardbox.parse(cardbox.write([call], options)).entries[0]?.arguments).toEqual({ a: 0 });
});

test('[F12] cards keep the keys of entries from any runtime', () => {
  fc.assert(
    fc.property(conversations({ thinking: true, images: false, errors: false }), (entries) => {
      const keyed = entries.map((entry, at) => ({ ...entry, key: `record-${Math.floor(at / 2)}.${at % 2}` as EntryKey }));
      const once = cardbox.parse(cardbox.write(keyed, options)).entries;
      expect(once.map((entry) => entry.key)).toEqual(keyed.map((entry) => entry.key));
      expect(cardbox.parse(cardbox.write(once, options)).entries.map((entry) => entry.key)).toEqual(keyed.map((entry) => entry.key));
    }),
    { numRuns: runs(100) },
  );
});

test('[F13] a cut among the calls of one card keeps the calls before it', () => {
  const calls = ['x', 'y', 'z'].map((id) => ({ id, function: { name: 'Tool', arguments: '{}' } }));
  const delta = bytesOf(said('a', 'first') + said('b', 'look', { toolCalls: calls }) + said('c', 'last'));
  const kept = (key: string) => cardbox.parse(cardbox.cut(delta, key as EntryKey)).entries.map((entry) => entry.key);
  expect(kept('a.0')).toEqual(['a.0']);
  expect(kept('b.0')).toEqual(['a.0', 'b.0']);
  expect(kept('b.2')).toEqual(['a.0', 'b.0', 'b.1', 'b.2']);
  expect(kept('b.3')).toEqual(['a.0', 'b.0', 'b.1', 'b.2', 'b.3']);
  expect(kept('c.0')).toHaveLength(6);
});

test('[F10] a broken line is named, and the lines around it are read', () => {
  const delta = bytesOf(
    `${said('a', 'one')}{"cardId":\n[]\n${line({ cardId: 'x', content: { kind: 'file', uri: 's3://b' } })}${line({ cardId: '' })}\n${said('b', 'two')}`,
  );
  const { entries, problems } = cardbox.parse(delta);
  expect(entries.map((entry) => entry.key)).toEqual(['a.0', 'b.0']);
  expect(problems.map((problem) => problem.line)).toEqual([2, 3, 4, 5]);
});

test('a call that a thought carries is read once, and tools are no message', () => {
  const call = {
    cardId: 't',
    content: { kind: 'json', data: { tool_name: 'Tool', arguments: { a: 1 } } },
    metadata: { type: 'tool.call', role: 'assistant' },
    authorId: 'a',
    toolCallId: 'x',
  };
  const tools = { cardId: 's', content: { kind: 'json', data: { tools: [] } }, metadata: { type: 'sys.tools', role: 'system' }, authorId: 'a' };
  const seen = (text: string) =>
    cardbox
      .parse(bytesOf(text))
      .entries.filter((entry) => !entry.marks?.includes('hidden'))
      .map((entry) => [entry.kind, entry.toolCallId]);
  expect(seen(said('b', '', { toolCalls: [{ id: 'x', name: 'Tool', arguments: { a: 1 } }] }) + line(call) + line(tools))).toEqual([
    ['tool_call', 'x'],
  ]);
  expect(seen(line(call))).toEqual([['tool_call', 'x']]);
});

test('a file of cards is recognized, and a file of other lines is not', () => {
  expect(cardbox.recognize(bytesOf(said('a', 'one') + said('b', 'two').slice(0, 20)), 'x.jsonl')).toBeGreaterThan(0.5);
  expect(cardbox.recognize(bytesOf('{"type":"user","uuid":"u"}\n{"type":"assistant"}\n'), 'x.jsonl')).toBe(0);
});
