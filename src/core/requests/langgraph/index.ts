// requests/langgraph: model calls as a LangGraph thread's checkpoints have them: each answer was one.
// It says which model gave it and what that counted. What was sent is put together from the messages before it:
// a graph may have sent others, or a system prompt that is in no state, so that no more is claimed.
import { isObject, type Json, parseJson, textOf } from '../../base/index.js';
import { fromEntries } from '../from-entries.js';
import { type Answer, type Delta, type Runtime, unknownUsage } from '../runtime.js';

export const langgraph: Runtime = {
  ...fromEntries,
  format: 'langgraph-v1',
  source: 'langgraph',
  answer,
};

function answer({ bytes, entries }: Delta, at: number): Answer | undefined {
  const entry = entries[at];
  if (!entry) return undefined;
  const line = entry.raw && parseJson(textOf(bytes.subarray(entry.raw.start, entry.raw.end)));
  const messages = isObject(line) && Array.isArray(line.messages) ? line.messages.filter(isObject) : [];
  const fields = messages.map(({ kwargs, data, ...rest }) => (isObject(kwargs) ? kwargs : isObject(data) ? data : rest));
  const usage = fields.find(({ id }) => id === entry.messageId)?.usage_metadata;
  if (!isObject(usage)) return { model: entry.author ?? null, usage: unknownUsage };
  const details = isObject(usage.input_token_details) ? usage.input_token_details : {};
  const [input, cacheRead, cacheWrite] = [usage.input_tokens, details.cache_read, details.cache_creation].map(countOf) as (number | null)[];
  return {
    model: entry.author ?? null,
    usage: {
      // Its input counts what was cached too.
      input: input === null || input === undefined ? null : Math.max(0, input - (cacheRead ?? 0) - (cacheWrite ?? 0)),
      output: countOf(usage.output_tokens),
      cacheRead: cacheRead ?? null,
      cacheWrite: cacheWrite ?? null,
    },
  };
}

const countOf = (value: Json | undefined): number | null => (Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : null);
