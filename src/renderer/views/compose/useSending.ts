import { useRef, useState } from 'react';
import type { ComposedMessage, ContextId, EntryDraft } from '../../../core/contract/index.js';
import { api } from '../../client';
import { modelField, providerField } from '../../forms';
import { type FormSpec, givenIn, readStream, refreshProject, textIn } from '../../state';

export interface Sending {
  readonly state: 'running' | 'done' | 'stopped' | 'failed';
  readonly text: string;
  readonly commit: ContextId | undefined;
  readonly error: unknown;
}

interface SendInput {
  readonly before: readonly ComposedMessage[];
  readonly question: string;
  readonly provider: string;
  readonly model: string | undefined;
}

/** Sends a composition to a model. Its messages start a new chain, and the reply is a commit of that chain. */
export function useSending() {
  const [sending, setSending] = useState<Sending>();
  const controller = useRef<AbortController>(undefined);
  const send = async ({ before, question, provider, model }: SendInput): Promise<void> => {
    const own = new AbortController();
    controller.current = own;
    const messages = before.filter(({ role }) => role !== 'system');
    const start = messages.length === 0 ? null : await beginChain(messages);
    const system = before.flatMap(({ role, layer, content }) => (role === 'system' && content.trim() !== '' ? [{ layer, text: content }] : []));
    const stream = await api.turn.ask({ id: start, text: question, provider, system, ...(model && { model }) }, { signal: own.signal });
    setSending({ state: 'running', text: '', commit: undefined, error: undefined });
    void read(stream, own.signal, setSending);
  };
  return { sending, send, stop: () => controller.current?.abort() };
}

/** Stores the dialogue as a new chain. The system messages are sent with the question, each as a message of its own. */
async function beginChain(messages: readonly ComposedMessage[]): Promise<ContextId> {
  const edits = draftEntries(messages).map((entry) => ({ op: 'append' as const, entry }));
  const { id } = await api.context.fork({ id: null, edits, template: 'composition', summary: 'A composition' });
  return id;
}

type Change = (change: (old: Sending | undefined) => Sending | undefined) => void;

async function read(stream: Awaited<ReturnType<typeof api.turn.ask>>, signal: AbortSignal, set: Change): Promise<void> {
  const change = (part: Partial<Sending>): void => set((old) => old && { ...old, ...part });
  let text = '';
  try {
    const result = await readStream(
      async () => stream,
      signal,
      ({ kind, delta }) => {
        if (kind === 'failed') throw new Error(delta);
        if (kind !== 'text') return;
        text += delta;
        change({ text });
      },
    );
    if (!result) return change({ state: 'stopped' });
    await refreshProject();
    change({ state: 'done', commit: result.commits[0] ?? result.base });
  } catch (error) {
    change({ state: 'failed', error });
  }
}

/** The form that asks for the model and the question to send with the composition. */
export function sendForm(messages: readonly ComposedMessage[], send: (input: SendInput) => Promise<void>): FormSpec {
  const { before, question } = divided(messages);
  return {
    title: 'Send this composition',
    intro: 'The messages start a new chain, exactly as they are shown. The reply is stored as a commit. The original stays as it is.',
    fields: [
      providerField,
      modelField(),
      { name: 'text', label: 'Question', kind: 'long', required: true, hint: 'The last message of the composition.' },
    ],
    start: { text: question },
    action: 'Send',
    submit: (values) => send({ before, question: textIn(values, 'text'), provider: textIn(values, 'provider'), model: givenIn(values, 'model') }),
  };
}

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
