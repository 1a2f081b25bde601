import type { ComposedMessage, EntryDraft } from '../../../core/contract/index.js';

/** Splits a composition into the question (the query, else the last message of a person) and the messages before it. */
export function divided(messages: readonly ComposedMessage[]): { readonly before: readonly ComposedMessage[]; readonly question: string } {
  const last = messages.at(-1);
  return last?.role === 'human' ? { before: messages.slice(0, -1), question: last.content } : { before: messages, question: '' };
}

interface Call {
  readonly id: string;
  readonly name: string;
  readonly args: unknown;
}
type Thought = { readonly text: string } & Readonly<Record<string, string>>;
type Message = ComposedMessage & { tool_calls?: readonly Call[]; tool_call_id?: string; thinking?: readonly Thought[] };

/** The dialogue of a composition as entries of a chain. A result that stands in for a missing one is not stored: its call stays open. */
export function draftEntries(messages: readonly ComposedMessage[]): EntryDraft[] {
  return (messages as readonly Message[]).flatMap(({ role, content, internal, tool_calls, tool_call_id, thinking, name }): EntryDraft[] => {
    if (role === 'system' || (role === 'tool' && internal)) return [];
    if (role === 'tool')
      return [{ role: 'tool', kind: 'tool_result', text: content, toolCallId: tool_call_id, ...(name !== undefined && { toolName: name }) }];
    if (role === 'human') return [{ role: 'user', kind: 'text', text: content }];
    return [
      ...(thinking ?? []).map(({ text, ...seal }): EntryDraft => ({ role: 'assistant', kind: 'thinking', text, result: seal })),
      ...(content === '' ? [] : [{ role: 'assistant', kind: 'text', text: content } as const]),
      ...(tool_calls ?? []).map(
        ({ id, name: toolName, args }): EntryDraft => ({ role: 'assistant', kind: 'tool_call', toolName, toolCallId: id, arguments: args }),
      ),
    ];
  });
}
