import type { ComposedMessage, EntryDraft } from '../../../core/contract/index.js';

const objectOf = (value: unknown): Record<string, unknown> => (typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {});
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The entries that composed messages become when they start a chain. Empty messages are left out. */
export function entriesOfComposition(messages: readonly ComposedMessage[]): EntryDraft[] {
  return messages.flatMap((message): EntryDraft[] => {
    if (message.role === 'tool')
      return [{ role: 'tool', kind: 'tool_result', toolCallId: textOf(message.tool_call_id), toolName: message.name, result: message.content }];
    const role = message.role === 'ai' ? 'assistant' : message.role === 'human' ? 'user' : 'system';
    const calls = Array.isArray(message.tool_calls) ? message.tool_calls.map(objectOf) : [];
    return [
      ...(message.content.trim() === '' ? [] : [{ role, kind: 'text', text: message.content } as const]),
      ...calls.map(
        (call): EntryDraft => ({
          role: 'assistant',
          kind: 'tool_call',
          toolCallId: textOf(call.id),
          toolName: textOf(call.name),
          arguments: call.args,
        }),
      ),
    ];
  });
}

/** What is asked: the query, else the last message of a person. The rest of the composition comes before it. */
export function divided(messages: readonly ComposedMessage[]): { readonly before: readonly ComposedMessage[]; readonly question: string } {
  const last = messages.at(-1);
  return last?.role === 'human' ? { before: messages.slice(0, -1), question: last.content } : { before: messages, question: '' };
}
