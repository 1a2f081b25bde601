import type { BoxEntry, Card, ContextId, Entry } from '../../../core/contract/index.js';
import type { KindFamily } from '../../parts';

/** The color family of a card: the family of the entry that it becomes. */
export function familyOfCard({ type, metadata }: Pick<Card, 'type' | 'metadata'>): KindFamily {
  if (type.startsWith('tool.')) return 'tool';
  if (type === 'agent.thought' || type === 'task.deliverable') return 'assistant';
  if (type.startsWith('sys.') || type.startsWith('meta.')) return 'system';
  return metadata.role;
}

/** Why a model no longer receives a card; undefined if it does. */
export const cardState = (card: Pick<Card, 'deletedAt' | 'expired'>): 'deleted' | 'expired' | undefined =>
  card.deletedAt !== undefined ? 'deleted' : card.expired ? 'expired' : undefined;

/** An entry of a box in the shape of a commit's entry. Its commit is empty. */
export const asEntry = ({ cardId: _, ...entry }: BoxEntry, index: number): Entry => ({ ...entry, source: { commit: '' as ContextId, index } });

/** An entry, or a tool call with its result (null if it has none). */
export type CardBlock = { readonly entry: Entry; readonly cardId: string; readonly result?: Entry | null };

/** Joins tool calls with their results, in order. Hidden entries are omitted. */
export function joinCards(entries: readonly BoxEntry[]): CardBlock[] {
  const shown = entries.filter((entry) => !entry.marks?.includes('hidden'));
  const results = new Map(
    shown.flatMap((entry, index) => (entry.kind === 'tool_result' && entry.toolCallId ? [[entry.toolCallId, asEntry(entry, index)] as const] : [])),
  );
  const called = new Set(shown.flatMap((entry) => (entry.kind === 'tool_call' && entry.toolCallId ? [entry.toolCallId] : [])));
  return shown.flatMap((entry, index): CardBlock[] => {
    const at = { entry: asEntry(entry, index), cardId: entry.cardId };
    if (entry.kind === 'tool_call') return [{ ...at, result: (entry.toolCallId && results.get(entry.toolCallId)) || null }];
    return entry.kind === 'tool_result' && entry.toolCallId && called.has(entry.toolCallId) ? [] : [at];
  });
}
