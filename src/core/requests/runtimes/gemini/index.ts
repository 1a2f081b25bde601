// requests/runtimes/gemini: model calls in Gemini CLI's sessions: the contents, by the rules of version 0.61.0.
// System instruction, tools, settings and the calls of compressions are not recorded.
// Signatures of thoughts are sent with calls and rarely recorded.
import { type Json, type JsonObject, stringAt } from '../../../base/index.js';
import { geminiAnswer, geminiContents, geminiUsage } from '../../../formats/index.js';
import { fromEntries } from '../from-entries.js';
import { type CallReader, recordId, unknownUsage } from '../runtime.js';

export const gemini: CallReader = {
  ...fromEntries,
  format: 'gemini-v1',
  source: 'gemini',
  proof: 'recorded',
  isListed: ({ role, kind }) => role !== 'system' && kind !== 'thinking',
  // Consecutive entries of one role are one content.
  startsMessage: (entry, begun) => begun === undefined || (entry.role === 'assistant') !== (begun.role === 'assistant'),
  answer({ bytes, entries }, at) {
    const entry = entries[at];
    const message = entry?.raw && geminiAnswer(bytes, entry.raw, recordId(entry.key));
    if (!entry) return undefined;
    return { model: stringAt(message, 'model') ?? entry.author ?? null, usage: (message && geminiUsage(message)) ?? unknownUsage };
  },
  body({ replyKey, answer: { model }, deltas }) {
    const { contents, isReopened } = geminiContents(
      deltas().map(({ bytes }) => bytes),
      recordId(replyKey),
    );
    const isUnsigned = contents.some(({ parts }) => isUnsignedCall(parts));
    return {
      provider: 'gemini',
      body: { contents },
      missing: [
        ...(model === null ? ['model'] : []),
        'systemInstruction',
        'tools',
        'generationConfig',
        ...(isUnsigned ? ['contents: signatures of thoughts beside calls'] : []),
        ...(isReopened ? ['contents[0]: place and time as they were told when the session was opened again'] : []),
      ],
    };
  },
};

/** The model signs the first call of a turn. */
function isUnsignedCall(parts: Json | undefined): boolean {
  const call = Array.isArray(parts) ? (parts as readonly JsonObject[]).find(({ functionCall }) => functionCall !== undefined) : undefined;
  return call !== undefined && call.thoughtSignature === undefined;
}
