import { decodeText, isObject, parseJson } from '../../base/index.js';
import { requireFormat, type WritableEntry } from '../../formats/index.js';
import { answeringModel, type CallBody, type CallPlace, type CallReader, recordId, unknownUsage } from './runtime.js';

/** Calls of other runtimes, rebuilt from the entries before the answer in the usual provider's wire format, and marked as rebuilt. */
export const fromEntries: CallReader = {
  format: '',
  source: 'entries',
  proof: 'rebuilt',
  startsAnswer: (entry, last) => last === undefined || (entry.messageId ?? recordId(entry.key)) !== (last.messageId ?? recordId(last.key)),
  isListed: ({ role }) => role !== 'system',
  // Blocks of one answer are one message, even with results between them.
  startsMessage: (entry, begun, last) =>
    entry.role === 'assistant'
      ? begun?.role !== 'assistant' && fromEntries.startsAnswer(entry, last)
      : begun === undefined || begun.role === 'assistant',
  answer(delta, at) {
    const entry = delta.entries[at];
    return entry && { model: answeringModel(entry), usage: entry.usage ?? unknownUsage };
  },
  body: (call) => bodyInWords(call, 'anthropic'),
};

export const openaiFromEntries: CallReader = {
  ...fromEntries,
  format: 'openai-chat-v1',
  isListed: () => true,
  startsMessage: (entry, begun) => entry.role !== 'assistant' || begun?.role !== 'assistant',
  body: (call) => bodyInWords(call, 'openai'),
};

const writers = { anthropic: 'anthropic-messages-v1', openai: 'openai-chat-v1' } as const;

/** The body in the provider's wire format, from the entries alone. */
export function bodyInWords(call: CallPlace, provider: keyof typeof writers): CallBody {
  const before = call.entries().map(({ tokens: _, raw: __, ...entry }): WritableEntry => entry);
  const written = parseJson(decodeText(requireFormat(writers[provider]).write(before, { newId: () => '', now: call.at })));
  const parts = isObject(written) ? written : {};
  const { model } = call.answer;
  return {
    provider,
    body: { ...(model !== null && { model }), ...parts },
    missing: [...(model === null ? ['model'] : []), ...(parts.system === undefined ? ['system'] : []), 'tools', 'parameters'],
  };
}
