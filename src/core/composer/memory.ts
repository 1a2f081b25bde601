import { isObject, stringAt } from '../base/index.js';
import type { MemoryMessage } from '../contract/index.js';
import { countTokens } from '../formats/index.js';

/** A call of a tool, as an AI message of memory carries it in `tool_calls`. */
export interface MemoryToolCall {
  readonly id: string;
  readonly name: string;
  readonly args: unknown;
}

export function toolCallsOf(message: MemoryMessage): readonly MemoryToolCall[] {
  const calls = message.tool_calls;
  if (!Array.isArray(calls)) return [];
  return calls.filter(isObject).flatMap((call) => {
    const id = stringAt(call, 'id');
    return id === undefined ? [] : [{ id, name: stringAt(call, 'name') ?? 'tool', args: call.args ?? {} }];
  });
}

/** The call that a tool message answers. */
export const answeredCall = (message: MemoryMessage): string | undefined => (message.role === 'tool' ? stringAt(message, 'tool_call_id') : undefined);

export const tokensOf = (message: MemoryMessage): number =>
  countTokens(message.content) + toolCallsOf(message).reduce((sum, call) => sum + countTokens(call.name) + countTokens(JSON.stringify(call.args)), 0);

/**
 * What memory shows of a list of messages: the dialogue. System messages, tool messages and what was meant for one
 * call stay out, and the calls of an AI message leave together with their results.
 */
export const dialogueOf = (messages: readonly MemoryMessage[]): readonly MemoryMessage[] =>
  messages
    .filter((message) => (message.role === 'human' || message.role === 'ai') && message.internal !== true)
    .map(({ role, content, id, name }) => ({ role, content, ...(id === undefined ? {} : { id }), ...(name === undefined ? {} : { name }) }));
