// requests/runtimes/langgraph: model calls in the checkpoints of a LangGraph thread. Each answer is one.
// The answer names its model and usage. The body is rebuilt from the messages before it. It only counts as
// rebuilt, because a graph may have sent other messages, or a system prompt that no state contains.
import { isObject } from '../../../base/index.js';
import { usageIn } from '../../../formats/index.js';
import { fromEntries } from '../from-entries.js';
import { type CallReader, lineOf, unknownUsage } from '../runtime.js';

export const langgraph: CallReader = {
  ...fromEntries,
  format: 'langgraph-v1',
  source: 'langgraph',
  answer({ bytes, entries }, at) {
    const entry = entries[at];
    if (!entry) return undefined;
    const line = lineOf(bytes, entry.raw);
    const messages = isObject(line) && Array.isArray(line.messages) ? line.messages.filter(isObject) : [];
    const fields = messages.map(({ kwargs, data, ...rest }) => (isObject(kwargs) ? kwargs : isObject(data) ? data : rest));
    const usage = fields.find(({ id }) => id === entry.messageId)?.usage_metadata;
    if (!isObject(usage)) return { model: entry.author ?? null, usage: unknownUsage };
    const { cache_read: cacheRead, cache_creation: cacheWrite } = isObject(usage.input_token_details) ? usage.input_token_details : {};
    const { reasoning } = isObject(usage.output_token_details) ? usage.output_token_details : {};
    // The input count includes cached tokens.
    const counts = usageIn({ input: usage.input_tokens, output: usage.output_tokens, cacheRead, cacheWrite, reasoning }, 'within');
    return { model: entry.author ?? null, usage: counts ?? unknownUsage };
  },
};
