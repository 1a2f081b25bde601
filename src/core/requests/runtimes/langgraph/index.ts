// requests/runtimes/langgraph: model calls in the checkpoints of a LangGraph thread. Each answer is one.
// The answer names its model and usage. The body is rebuilt from the messages before it. It only counts as
// rebuilt, because a graph may have sent other messages, or a system prompt that no state contains.
import { decodeText, isObject, parseJson } from '../../../base/index.js';
import { usageIn } from '../../../formats/index.js';
import { fromEntries } from '../from-entries.js';
import { type Answer, type CallReader, type Delta, unknownUsage } from '../runtime.js';

export const langgraph: CallReader = {
  ...fromEntries,
  format: 'langgraph-v1',
  source: 'langgraph',
  answer,
};

function answer({ bytes, entries }: Delta, at: number): Answer | undefined {
  const entry = entries[at];
  if (!entry) return undefined;
  const line = entry.raw && parseJson(decodeText(bytes.subarray(entry.raw.start, entry.raw.end)));
  const messages = isObject(line) && Array.isArray(line.messages) ? line.messages.filter(isObject) : [];
  const fields = messages.map(({ kwargs, data, ...rest }) => (isObject(kwargs) ? kwargs : isObject(data) ? data : rest));
  const usage = fields.find(({ id }) => id === entry.messageId)?.usage_metadata;
  if (!isObject(usage)) return { model: entry.author ?? null, usage: unknownUsage };
  const details = isObject(usage.input_token_details) ? usage.input_token_details : {};
  const thought = isObject(usage.output_token_details) ? usage.output_token_details.reasoning : undefined;
  return {
    model: entry.author ?? null,
    // The input count includes cached tokens.
    usage:
      usageIn(
        {
          input: usage.input_tokens,
          output: usage.output_tokens,
          cacheRead: details.cache_read,
          cacheWrite: details.cache_creation,
          reasoning: thought,
        },
        'within',
      ) ?? unknownUsage,
  };
}
