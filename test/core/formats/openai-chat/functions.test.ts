import { expect, test } from 'vitest';
import { decodeText, encodeText } from '../../../../src/core/base/index.js';
import { checkpoint, entries, materialize, materializedBytes } from '../../../../src/core/chain/index.js';
import { findFormat, openaiChat } from '../../../../src/core/formats/index.js';
import { emptyChain } from '../../../support/project.js';

/** The form of the API from June to November 2023. */
const asked = [
  { role: 'user', content: 'weather?' },
  { role: 'assistant', content: null, function_call: { name: 'weather', arguments: '{"city":"Bern"}' } },
];
const answered = { role: 'function', name: 'weather', content: '{"sky":"clear"}' };
const last = { role: 'assistant', content: 'Clear.' };
const document = (...messages: unknown[]): string => JSON.stringify({ messages });

test('[F29] functions of 2023 become tool calls, field by field, and the chain keeps its bytes', () => {
  const chain = emptyChain();
  const stored = document(...asked, answered, last);
  const commit = checkpoint(chain, { parent: null, type: 'delta', template: 't', checkpoint: 'explicit', format: 'openai-chat-v0', text: stored });
  const made = materialize(chain, { id: commit.id, format: 'openai-chat-v1' });
  expect(made).toMatchObject({ tier: 'translated', losses: [] });
  const { messages } = JSON.parse(decodeText(materializedBytes(chain, { id: commit.id, format: 'openai-chat-v1' }).bytes)) as {
    messages: { tool_call_id?: string }[];
  };
  const id = messages[2]?.tool_call_id;
  expect(messages).toEqual([
    { role: 'user', content: 'weather?' },
    { role: 'assistant', content: null, tool_calls: [{ id, type: 'function', function: { name: 'weather', arguments: '{"city":"Bern"}' } }] },
    { role: 'tool', tool_call_id: id, content: '{"sky":"clear"}' },
    { role: 'assistant', content: 'Clear.' },
  ]);
  expect(decodeText(chain.artifacts.read(chain.artifacts.find(commit.artifactRef)))).toBe(stored);
  expect(JSON.parse(decodeText(materializedBytes(chain, { id: commit.id }).bytes))).toEqual(JSON.parse(stored));
  expect(materialize(chain, { id: commit.id })).toMatchObject({ tier: 'native', format: 'openai-chat-v0' });
  expect(entries(chain, { id: commit.id }).entries.map(({ kind }) => kind)).toEqual(['text', 'tool_call', 'tool_result', 'text']);
});

test('[F29] a call and its answer in two deltas are paired', () => {
  const upgrade = (text: string): Uint8Array => openaiChat.older?.[0]?.upgrade(encodeText(text)) ?? new Uint8Array();
  const { entries: read } = openaiChat.parse(openaiChat.concat([upgrade(document(...asked)), upgrade(document(answered, last))]));
  expect(read[2]).toMatchObject({ kind: 'tool_result', toolCallId: read[1]?.toolCallId });
});

test('[F29] content in the newer form stays unchanged', () => {
  const newer = openaiChat.write(
    [
      { role: 'assistant', kind: 'tool_call', toolName: 'a', toolCallId: 'x', arguments: {} },
      { role: 'tool', kind: 'tool_result', toolCallId: 'x', text: 'y' },
    ],
    { newId: () => '', now: '2026-01-01T00:00:00.000Z' as never },
  );
  expect(decodeText(openaiChat.older?.[0]?.upgrade(newer) ?? new Uint8Array())).toBe(decodeText(newer));
  expect(findFormat('openai-chat-v0')?.parse(newer).entries).toEqual(openaiChat.parse(newer).entries);
});
