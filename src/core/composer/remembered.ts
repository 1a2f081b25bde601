// What a composition needs of a delta of a long context, whose messages are added up instead of read.
import { type ContextId, numberOf } from '../base/index.js';
import type { Entry } from '../contract/index.js';
import { isHidden, type ParsedDelta, pairedCalls, toolClassOf } from '../formats/index.js';
import { countMessage } from './memory.js';
import { isPrompt, isRemembered, plannedIn, type RecordedLayers, type RecordedMessage, recordedLayers, type WholeMemory } from './recorded.js';

/** The messages of a delta as if it were a context of its own. */
export interface Remembered extends Omit<WholeMemory, 'commits'> {
  readonly leftOut: RecordedLayers['leftOut'];
  /** Whether the first and the last message are of the assistant: its message may go on in another delta. */
  readonly begins: boolean;
  readonly ends: boolean;
  /** Whether a call has no result, or a result no call: those of the next deltas may belong to them. */
  readonly isOpen: boolean;
  /** The numbers of the ids of calls, and of those that only results name. */
  readonly calls: readonly number[];
  readonly missed: readonly number[];
  readonly hasPrompt: boolean;
  /** Whether entries belong to layers other than memory. */
  readonly hasLayers: boolean;
  readonly todo: 'list' | 'tasks' | null;
}

/** The messages of deltas. Null for a delta that replaces earlier results. */
export const rememberedFacts = {
  name: 'remembered',
  version: () => 1,
  make: (parsed: ParsedDelta, format: string): Remembered | null => (parsed.elisions.length > 0 ? null : rememberedIn(parsed, format)),
};

function rememberedIn(parsed: ParsedDelta, format: string): Remembered {
  const entries = parsed.entries.filter((entry) => !isHidden(entry)).map((entry) => asEntry(entry, format));
  const paired = pairedCalls(entries);
  const recorded = recordedLayers(paired);
  const inMemory = paired.filter(isRemembered);
  const idsOf = (kind: Entry['kind']): string[] => entries.flatMap((entry) => (entry.kind === kind && entry.toolCallId ? [entry.toolCallId] : []));
  const calls = new Set(idsOf('tool_call'));
  return {
    ...sumMemory(recorded.memory),
    leftOut: recorded.leftOut,
    begins: inMemory[0]?.role === 'assistant',
    ends: inMemory.at(-1)?.role === 'assistant',
    // Pairing adds what is missing, and leaves out what fits nowhere.
    isOpen: paired.length !== entries.length || paired.some(({ key, kind }, at) => key !== entries[at]?.key || kind !== entries[at]?.kind),
    calls: [...calls].map(numberOf),
    missed: [...new Set(idsOf('tool_result'))].filter((id) => !calls.has(id)).map(numberOf),
    hasPrompt: recorded.memory.some(isPrompt),
    hasLayers: [recorded.systemPrompt, recorded.framework, recorded.summaries].some((layer) => layer.length > 0),
    todo: plannedIn(entries),
  };
}

/** The number of messages, and the tokens and entries in them. */
export const sumMemory = (memory: readonly RecordedMessage[]): Omit<WholeMemory, 'commits'> => ({
  messages: memory.length,
  tokens: memory.reduce((sum, { message }) => sum + countMessage(message), 0),
  entries: memory.reduce((sum, { from }) => sum + from.length, 0),
});

type ParsedEntry = ParsedDelta['entries'][number];

/** A parsed entry as a context shows it, as far as its layer and its size depend on it. */
function asEntry({ media, raw: _, messageId: __, usage: ___, ...entry }: ParsedEntry, format: string): Entry {
  const toolClass = entry.kind === 'tool_call' && entry.toolName !== undefined ? toolClassOf(format, entry.toolName) : undefined;
  return {
    ...entry,
    ...(toolClass && { toolClass }),
    ...(media && { media: { mediaType: media.mediaType, artifactRef: '' } }),
    source: { commit: '' as ContextId, index: 0 },
  } as Entry;
}

/**
 * The group of each delta: the messages of deltas belong together if a message of the assistant, or a call and its result, may lie in several of them.
 * Undefined if a call and its result, or two calls with one id, are further apart: then the context must be read as a whole.
 */
export function groupDeltas(deltas: readonly Remembered[]): readonly number[] | undefined {
  const groups: number[] = [];
  const groupOfCall = new Map<number, number>();
  for (const [at, delta] of deltas.entries()) {
    const before = deltas[at - 1];
    const isApart = !before || !((before.ends && delta.begins) || before.isOpen || delta.isOpen);
    const group = (groups.at(-1) ?? -1) + (isApart ? 1 : 0);
    groups.push(group);
    for (const call of delta.calls) {
      if ((groupOfCall.get(call) ?? group) !== group) return undefined;
      groupOfCall.set(call, group);
    }
  }
  const isNear = (call: number, group: number | undefined): boolean => (groupOfCall.get(call) ?? group) === group;
  return deltas.every(({ missed }, at) => missed.every((call) => isNear(call, groups[at]))) ? groups : undefined;
}
