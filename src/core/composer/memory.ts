import { defined, isObject, stringAt } from '../base/index.js';
import type { MemoryMessage } from '../contract/index.js';
import { countTokens } from '../formats/index.js';

/** A thought that a provider signed. Only that provider accepts it. */
export interface SignedThought {
  readonly text: string;
  /** The signature of the Messages API. */
  readonly signature?: string | undefined;
  /** A redacted thought of the Messages API. */
  readonly data?: string | undefined;
  /** An encrypted thought of the Responses API. */
  readonly encrypted_content?: string | undefined;
}

/** The signed thoughts before the text and the calls of an AI message. */
export function thoughtsOf({ role, thinking }: MemoryMessage): readonly SignedThought[] {
  if (role !== 'ai' || !Array.isArray(thinking)) return [];
  return thinking.filter(isObject).map((thought) => ({
    text: stringAt(thought, 'text') ?? '',
    signature: stringAt(thought, 'signature'),
    data: stringAt(thought, 'data'),
    encrypted_content: stringAt(thought, 'encrypted_content'),
  }));
}

/** The tool calls of a message, with the signatures that Gemini gave them. */
export function toolCallsOf({ tool_calls: calls }: MemoryMessage) {
  if (!Array.isArray(calls)) return [];
  return calls.filter(isObject).flatMap((call) => {
    const id = stringAt(call, 'id');
    const thoughtSignature = stringAt(call, 'thoughtSignature') || undefined;
    return id === undefined ? [] : [{ id, name: stringAt(call, 'name') ?? 'tool', args: call.args ?? {}, ...defined({ thoughtSignature }) }];
  });
}

/** The id of the call that a tool message answers. */
export const answeredCall = (message: MemoryMessage): string | undefined => (message.role === 'tool' ? stringAt(message, 'tool_call_id') : undefined);

/** The estimated tokens of a message with its calls. */
export const countMessage = (message: MemoryMessage): number =>
  countTokens(message.content) + toolCallsOf(message).reduce((sum, call) => sum + countTokens(call.name) + countTokens(JSON.stringify(call.args)), 0);

/** What memory keeps: messages of people and of the model, without system, tool and internal messages, and without calls. */
export const dialogueOf = (messages: readonly MemoryMessage[]): readonly MemoryMessage[] =>
  messages
    .filter((message) => (message.role === 'human' || message.role === 'ai') && message.internal !== true)
    .map(({ role, content, id, name }) => ({ role, content, ...defined({ id, name }) }));
