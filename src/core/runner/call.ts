import { defined, finished, isObject, type Json } from '../base/index.js';
import type { NewCard } from '../cards/index.js';
import type { WriteChain } from '../chain/index.js';
import type { ComposedMessage, EntryDraft } from '../contract/index.js';
import type { CallReply } from '../handover/index.js';
import { composedBody, heard, type ModelProvider } from '../turns/index.js';
import type { Happening } from './jobs.js';
import { tellPart } from './telling.js';

/** The services that a turn needs for its model calls. */
export interface CallParts {
  readonly chain: WriteChain;
  /** Counts the calls toward the limits of the job. */
  readonly provider: ModelProvider;
  readonly signal: AbortSignal;
  tell(happening: Happening): void;
}

export interface PreparedCall {
  readonly messages: readonly ComposedMessage[];
  readonly tools: readonly Record<string, unknown>[] | null;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly model: string;
}

/** A tool call of a reply. Arguments that are not an object are invalid for every tool. */
export interface CalledTool {
  readonly id: string;
  readonly name: string;
  readonly arguments: unknown;
}

/** Makes one model call. @throws LimitReached at a limit; UNAVAILABLE without an answer; the signal's reason if it aborts. */
export async function callModel(parts: CallParts, call: PreparedCall): Promise<{ readonly entries: EntryDraft[]; readonly counted: CallReply }> {
  const { chain, provider, signal, tell } = parts;
  const { messages, tools, parameters, model } = call;
  const body = composedBody(messages, provider.wire, { model, tools: (tools ?? []) as readonly Json[], parameters });
  const entries: EntryDraft[] = [];
  const reply = heard(chain, provider, { model, body, headers: {} }, entries, (part) => part, signal);
  const { tokens, ms, cost, stop } = await finished(reply, (part) => tellPart(tell, part));
  signal.throwIfAborted();
  tell({ kind: 'usage', text: '', tokens });
  return { entries, counted: { tokens, ms, cost, stop } };
}

/** The cards of a reply. Without tool calls, its text is the deliverable of the turn. */
export function cardsOf(entries: readonly EntryDraft[]): NewCard[] {
  const of = (kind: EntryDraft['kind']) => entries.filter((entry) => entry.kind === kind);
  const textOf = (kind: EntryDraft['kind']): string => of(kind).reduce((all, { text = '' }) => all + text, '');
  const content = { kind: 'text', text: textOf('text') } as const;
  // Only the provider that signed a thought gets it back.
  const thoughts = of('thinking').flatMap(({ text = '', result }) => (isObject(result) ? [{ text, ...result }] : []));
  const reasoning = textOf('thinking');
  const metadata = {
    role: 'assistant' as const,
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(thoughts.length > 0 && { thinking: thoughts }),
  };
  const calls = of('tool_call').map(({ toolCallId = '', toolName = '', arguments: given, result }) => ({
    id: toolCallId,
    name: toolName,
    given: given ?? {},
    // Gemini signs calls. The signature is sent back with the call.
    signature: isObject(result) ? result.thoughtSignature : undefined,
  }));
  if (calls.length === 0) return [{ type: 'task.deliverable', content, metadata }];
  const toolCalls = calls.map(({ id, name, given, signature: thoughtSignature }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(given) },
    ...defined({ thoughtSignature }),
  }));
  return [
    { type: 'agent.thought', content, toolCalls, metadata },
    ...calls.map(
      ({ id, name, given }): NewCard => ({
        type: 'tool.call',
        toolCallId: id,
        content: { kind: 'json', data: { tool_name: name, arguments: isObject(given) ? given : {} } },
        metadata: { role: 'assistant' },
      }),
    ),
  ];
}
