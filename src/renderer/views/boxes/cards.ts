import type { BoxEntry, Card, ContextId, Entry } from '../../../core/contract/index.js';
import type { Family } from '../../parts';

/** The hue of a card: that of the entry it would be. */
export function familyOfCard({ type, metadata }: Pick<Card, 'type' | 'metadata'>): Family {
  if (type.startsWith('tool.')) return 'tool';
  if (type === 'agent.thought' || type === 'task.deliverable') return 'assistant';
  if (type.startsWith('sys.') || type.startsWith('meta.')) return 'system';
  return metadata.role;
}

/** What became of a card that a model no longer sees. */
export const fateOf = (card: Pick<Card, 'deletedAt' | 'expired'>): 'deleted' | 'expired' | undefined =>
  card.deletedAt !== undefined ? 'deleted' : card.expired ? 'expired' : undefined;

/** An entry of a box in the shape that entries of commits have; it stands in no commit. */
export const asEntry = ({ cardId: _, ...entry }: BoxEntry, index: number): Entry => ({ ...entry, source: { commit: '' as ContextId, index } });

/** Calls set with their results, everything else by itself, in order. */
export type Block = { readonly entry: Entry; readonly cardId: string; readonly result?: Entry | null };

export function blocksOf(entries: readonly BoxEntry[]): Block[] {
  const shown = entries.filter((entry) => !entry.marks?.includes('hidden'));
  const results = new Map(
    shown.flatMap((entry, index) => (entry.kind === 'tool_result' && entry.toolCallId ? [[entry.toolCallId, asEntry(entry, index)] as const] : [])),
  );
  const called = new Set(shown.flatMap((entry) => (entry.kind === 'tool_call' && entry.toolCallId ? [entry.toolCallId] : [])));
  return shown.flatMap((entry, index): Block[] => {
    const at = { entry: asEntry(entry, index), cardId: entry.cardId };
    if (entry.kind === 'tool_call') return [{ ...at, result: (entry.toolCallId && results.get(entry.toolCallId)) || null }];
    return entry.kind === 'tool_result' && entry.toolCallId && called.has(entry.toolCallId) ? [] : [at];
  });
}
