import { isObject, type Json, type JsonObject, stringAt } from '../../base/index.js';
import type { ParsedEntry } from '../format.js';
import { type CallCount, type CallPart, type Counts, countIn, countsIn, doesOf, joinCalls, partOfEntries } from '../shared/calls.js';
import { isHidden } from '../shared/outline.js';
import { entriesOf } from './parse-entries.js';
import { scanLines } from './parse-lines.js';
import { messageIdOf, syntheticModel } from './schema.js';

/** The counts in a message's `usage`. The provider's `input_tokens` exclude cached tokens. */
export function countsOfUsage(usage: Json | undefined): Counts & { readonly flaw?: string } {
  const given = isObject(usage) ? usage : {};
  const written = isObject(given.cache_creation) ? given.cache_creation : {};
  const counts = countsIn({
    input: given.input_tokens,
    cacheRead: given.cache_read_input_tokens,
    cacheWrite: given.cache_creation_input_tokens,
    cacheWrite1h: written.ephemeral_1h_input_tokens,
    output: given.output_tokens,
    reasoning: isObject(given.output_tokens_details) ? given.output_tokens_details.thinking_tokens : undefined,
  });
  const { cacheWrite, cacheWrite1h } = counts;
  const short = countIn(written.ephemeral_5m_input_tokens);
  if (cacheWrite !== null && cacheWrite1h !== null && cacheWrite1h > cacheWrite)
    return { ...counts, cacheWrite1h: null, flaw: `one-hour cache writes (${cacheWrite1h}) exceed all cache writes (${cacheWrite})` };
  if (cacheWrite !== null && cacheWrite1h !== null && typeof short === 'number' && short + cacheWrite1h !== cacheWrite)
    return { ...counts, flaw: `cache writes for five minutes (${short}) and an hour (${cacheWrite1h}) are not all cache writes (${cacheWrite})` };
  // Without the split, all writes are five-minute writes, because the parameter for the longer cache also makes the provider report the split.
  return cacheWrite === null && typeof short === 'number' && cacheWrite1h !== null ? { ...counts, cacheWrite: short + cacheWrite1h } : counts;
}

/**
 * Whether the line was written after the reply had ended. Claude Code writes a line for each block while the reply still streams. Such a line has
 * only the output count of the first event, which is a few tokens, and its stop reason is null.
 */
export const isFinalMessage = (message: Json | undefined): boolean => isObject(message) && message.stop_reason !== null;

/** The facts of one record about calls. `entries` are the entries of the record. */
export function callPartOf(record: JsonObject, entries: readonly ParsedEntry[]): CallPart | undefined {
  if (record.type !== 'assistant') return partOfEntries(entries);
  const first = entries.find((entry) => !isHidden(entry));
  const model = stringAt(record.message, 'model');
  if (!first || model === syntheticModel) return undefined;
  const message = isObject(record.message) ? record.message : {};
  const { input, cacheRead, cacheWrite, cacheWrite1h, output, reasoning, flaw } = countsOfUsage(message.usage);
  return {
    at: first.at,
    reply: {
      id: messageIdOf(record) ?? first.key,
      key: first.key,
      model: model ?? null,
      isFinal: isFinalMessage(message),
      does: doesOf(entries),
      input,
      cacheRead,
      cacheWrite,
      cacheWrite1h,
      output,
      reasoning,
      flaw,
    },
  };
}

/** The calls whose replies a delta contains. */
export const callsIn = (delta: Uint8Array): CallCount[] =>
  joinCalls(
    scanLines(delta).pieces.flatMap(({ record, range, sort }) =>
      record && sort === 'record' ? (callPartOf(record, entriesOf(record, range)) ?? []) : [],
    ),
  );
