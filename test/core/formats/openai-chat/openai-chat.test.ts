import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { EntryKey, Timestamp } from '../../../../src/core/base/index.js';
import { openaiChat } from '../../../../src/core/formats/index.js';
import { runs } from '../../../support/properties.js';
import { conversations, facts } from '../conversations.js';

const options = { newId: () => 'id', now: '2026-01-01T00:00:00.000Z' as Timestamp };
const messagesIn = (bytes: Uint8Array): unknown => (JSON.parse(Buffer.from(bytes).toString()) as { messages: unknown }).messages;

test('[F19] each call is answered once, directly after the message that made it', () => {
  const said = { role: 'assistant' as const, messageId: 'm' };
  const bytes = openaiChat.write(
    [
      { role: 'system', kind: 'text', text: 'Be brief' },
      { role: 'user', kind: 'text', text: 'do' },
      { ...said, kind: 'text', text: 'Both.' },
      { ...said, kind: 'tool_call', toolName: 'A', toolCallId: '1', arguments: { x: 1 } },
      { ...said, kind: 'tool_call', toolName: 'B', toolCallId: '2', arguments: {} },
      { role: 'tool', kind: 'tool_result', toolCallId: '2', text: 'second' },
      { role: 'user', kind: 'text', text: 'meanwhile' },
      { role: 'tool', kind: 'tool_result', toolCallId: '1', text: 'first' },
      { role: 'assistant', kind: 'tool_call', toolName: 'C', toolCallId: '3', arguments: {} },
    ],
    options,
  );
  expect(messagesIn(bytes)).toEqual([
    { role: 'system', content: 'Be brief' },
    { role: 'user', content: 'do' },
    {
      role: 'assistant',
      content: 'Both.',
      tool_calls: [
        { id: '1', type: 'function', function: { name: 'A', arguments: '{"x":1}' } },
        { id: '2', type: 'function', function: { name: 'B', arguments: '{}' } },
      ],
    },
    { role: 'tool', tool_call_id: '1', content: 'first' },
    { role: 'tool', tool_call_id: '2', content: 'second' },
    { role: 'user', content: 'meanwhile' },
    { role: 'assistant', content: null, tool_calls: [{ id: '3', type: 'function', function: { name: 'C', arguments: '{}' } }] },
    { role: 'tool', tool_call_id: '3', content: '[no result was recorded]' },
  ]);
});

test('written entries are read back', () => {
  fc.assert(
    fc.property(conversations({ thinking: false, images: false, errors: false }), (entries) => {
      const { entries: read, problems } = openaiChat.parse(openaiChat.write(entries, options));
      expect(problems).toEqual([]);
      expect(facts(read)).toEqual(JSON.parse(JSON.stringify(facts(entries))));
    }),
    { numRuns: runs(150) },
  );
});

test('images are parts of their message, and hidden entries and thinking are dropped', () => {
  const asked = { role: 'user' as const, messageId: 'u' };
  const bytes = openaiChat.write(
    [
      { ...asked, kind: 'image', media: { mediaType: 'image/png', bytes: Buffer.from([1, 2, 3]) } },
      { ...asked, kind: 'text', text: 'what is it?' },
      { role: 'assistant', kind: 'thinking', text: 'hm' },
      { role: 'system', kind: 'event', text: 'never sent', marks: ['hidden'] },
    ],
    options,
  );
  expect(messagesIn(bytes)).toEqual([
    {
      role: 'user',
      content: [
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AQID' } },
        { type: 'text', text: 'what is it?' },
      ],
    },
  ]);
  expect(openaiChat.parse(bytes).entries).toMatchObject([{ kind: 'image', media: { mediaType: 'image/png' } }, { kind: 'text' }]);
});

test('[F13] [F10] it is cut after any entry, and bad input is named', () => {
  const whole = openaiChat.write(
    [
      { role: 'user', kind: 'text', text: 'hi' },
      { role: 'assistant', kind: 'text', text: 'hello' },
    ],
    options,
  );
  const [first] = openaiChat.parse(whole).entries;
  expect(openaiChat.parse(openaiChat.cut(whole, first?.key as EntryKey)).entries).toHaveLength(1);
  expect(() => openaiChat.cut(whole, 'none.0' as EntryKey)).toThrow('none.0');
  expect(openaiChat.parse(Buffer.from('no')).problems).toHaveLength(1);
});
