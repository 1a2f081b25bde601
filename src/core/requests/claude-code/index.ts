// requests/claude-code: model calls as Claude Code's transcripts have them.
// records.ts reads the lines in which it writes down whole calls, whose bodies are stored and proved.
// An answer whose call has no such line is put together from entries, with the usage that its own line has.
import { isObject, parseJson, textOf } from '../../base/index.js';
import { fromEntries } from '../from-entries.js';
import type { Answer, Delta, Runtime } from '../runtime.js';
import { hasRecords, usageOf } from './records.js';

/** The model of messages that the runtime wrote in an answer's place. */
const synthetic = '<synthetic>';

export const claudeCode: Runtime = {
  ...fromEntries,
  format: 'claude-code-v1',
  hasRecords,
  answer({ bytes, entries }: Delta, at: number): Answer | undefined {
    const first = entries[at];
    if (!first || first.author === synthetic) return undefined;
    // Lines of one answer repeat its usage, and the last one is right.
    const last = entries.findLast((entry) => entry.role === 'assistant' && entry.messageId === first.messageId) ?? first;
    const line = last.raw && parseJson(textOf(bytes.subarray(last.raw.start, last.raw.end)));
    const message = isObject(line) ? line.message : undefined;
    return { model: first.author ?? null, usage: usageOf(isObject(message) ? message.usage : undefined) };
  },
};
