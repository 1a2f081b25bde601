// The senders of the messages of a context, from its outlines.
import { type EntryKey, once } from '../base/index.js';
import { type DeltaOutline, type OutlineEntry, toolClassOf } from '../formats/index.js';
import type { ReadChain, Step } from './chain.js';
import { outlinesOf } from './outline.js';
import { newestFirst } from './walk.js';

/** The sender of messages: a part of the conversation, a tool, or someone whose name is in the content of an entry. */
export type MessageSender =
  | { readonly kind: 'user' | 'assistant' | 'system' | 'compaction' }
  | { readonly kind: 'tool'; readonly name: string }
  /** A subagent: its name is in the call that started it. */
  | { readonly kind: 'call'; readonly commit: Step['seq']; readonly toolCallId: string; readonly name: string }
  /** A tool that only the result names. */
  | { readonly kind: 'result'; readonly commit: Step['seq']; readonly key: EntryKey };

/** A sender from the text with which sums store it. */
export const senderIn = (text: string): MessageSender => JSON.parse(text) as MessageSender;

/** More senders are not stored, because every sum repeats those of the sum before. */
const maxSenders = 1_000;
/** The most commits before some others in which a call is looked for. */
const near = 64;

/** The senders with those of further commits. Undefined if they are too many. */
export function addSenders(
  chain: ReadChain,
  known: readonly string[] | undefined,
  steps: readonly Step[],
  outlines: readonly DeltaOutline[],
): readonly string[] | undefined {
  if (!known) return undefined;
  const senders = new Set(known);
  const calls = openCalls(chain, steps[0]);
  for (const [at, step] of steps.entries())
    for (const entry of outlines[at]?.entries ?? []) {
      if (entry.hidden) continue;
      calls.add(step, entry);
      const sender = senderOf(step, entry, calls.find);
      if (sender) senders.add(JSON.stringify(sender));
    }
  return senders.size > maxSenders ? undefined : [...senders];
}

interface Call {
  readonly step: Step;
  readonly name: string | undefined;
}

function senderOf(
  step: Step,
  { key, role, kind, toolCallId }: OutlineEntry,
  find: (toolCallId: string) => Call | undefined,
): MessageSender | undefined {
  switch (kind) {
    case 'text':
      return { kind: role === 'assistant' || role === 'user' ? role : 'system' };
    case 'image':
      return { kind: role === 'assistant' ? role : 'user' };
    case 'summary':
      return { kind: 'compaction' };
    case 'tool_call':
      return { kind: 'assistant' };
    case 'tool_result': {
      const { step: from, name } = (toolCallId && find(toolCallId)) || {};
      if (!from || !name || toolCallId === undefined) return { kind: 'result', commit: step.seq, key };
      return toolClassOf(from.format, name) === 'task' ? { kind: 'call', commit: from.seq, toolCallId, name } : { kind: 'tool', name };
    }
    case 'thinking':
    case 'event':
      return undefined;
  }
}

/** The calls of some commits, and of those just before them. */
function openCalls(chain: ReadChain, first: Step | undefined) {
  const calls = new Map<string, Call>();
  const add = (step: Step, { kind, toolCallId, head }: OutlineEntry, to = calls): void => {
    if (kind === 'tool_call' && toolCallId) to.set(toolCallId, { step, name: head });
  };
  const earlier = once(() => {
    const steps = first ? [...newestFirst(chain, first).drop(1).take(near)].reverse() : [];
    const found = new Map<string, Call>();
    for (const [at, { entries }] of outlinesOf(chain, steps).entries()) for (const entry of entries) add(steps[at] as Step, entry, found);
    return found;
  });
  return {
    add: (step: Step, entry: OutlineEntry) => add(step, entry),
    find: (toolCallId: string): Call | undefined => calls.get(toolCallId) ?? earlier().get(toolCallId),
  };
}
