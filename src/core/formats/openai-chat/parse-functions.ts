import { canonicalJson, isObject, type Json, type JsonObject, stringAt } from '../../base/index.js';
import { digest } from '../digest.js';

/** Maps the API's form of 2023 (`function_call`, role `function`) to calls with ids. Across deltas, the function's name is the id. */
export function withToolCalls(messages: readonly Json[]): readonly Json[] {
  let open: string | undefined;
  return messages.map((message, at) => {
    if (!isObject(message)) return message;
    if (isObject(message.function_call)) {
      const { function_call: call, ...rest } = message;
      const next = messages[at + 1];
      const isAnswered = isObject(next) && next.role === 'function';
      open = isAnswered ? `call_${digest(`${at}${canonicalJson(call)}`)}` : openId(call);
      const given = { name: stringAt(call, 'name') ?? '', arguments: stringAt(call, 'arguments') ?? '{}' };
      return { ...rest, tool_calls: [{ id: open, type: 'function', function: given }] };
    }
    if (message.role !== 'function') return message;
    const { name: _, ...rest } = message;
    const answered: JsonObject = { ...rest, role: 'tool', tool_call_id: open ?? openId(message) };
    open = undefined;
    return answered;
  });
}

const openId = (named: JsonObject): string => `call_${stringAt(named, 'name') ?? 'function'}`;
