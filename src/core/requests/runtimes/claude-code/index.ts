// requests/runtimes/claude-code: model calls in Claude Code's transcripts.
// records.ts reads the lines that record whole calls, whose bodies are stored and verified.
// The call of an answer without such a line is rebuilt from entries, with the usage in the answer's own line.
import { type CallCount, claudeCode as claudeCodeFormat } from '../../../formats/index.js';
import { fromEntries } from '../from-entries.js';
import { type Answer, type CallReader, type Delta, unknownUsage } from '../runtime.js';
import { hasRecords } from './records.js';

/** The model name of messages that the runtime wrote instead of a reply. */
const synthetic = '<synthetic>';

export const claudeCode: CallReader = {
  ...fromEntries,
  format: 'claude-code-v1',
  hasRecords,
  answer({ bytes, entries }: Delta, at: number): Answer | undefined {
    const first = entries[at];
    if (!first || first.author === synthetic) return undefined;
    const counted = readCounts(bytes).get(first.messageId ?? first.key);
    if (!counted) return { model: first.author ?? null, usage: unknownUsage };
    const { input, output, cacheRead, cacheWrite, cacheWrite1h, reasoning, flaw } = counted;
    return {
      model: first.author ?? null,
      usage: { input, output, cacheRead, cacheWrite, cacheWrite1h, reasoning, ...(flaw !== undefined && { countFlaw: flaw }) },
    };
  },
};

/** The counts of the delta that was read last, because its answers are read one after the other. */
let latest: { readonly bytes: Uint8Array; readonly counts: ReadonlyMap<string, CallCount> } | undefined;
function readCounts(bytes: Uint8Array): ReadonlyMap<string, CallCount> {
  if (latest?.bytes !== bytes) latest = { bytes, counts: new Map(claudeCodeFormat.calls(bytes).map((call) => [call.id, call])) };
  return latest.counts;
}
