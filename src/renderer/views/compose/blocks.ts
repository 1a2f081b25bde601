import type { Card } from '../../../core/contract/index.js';
import { api } from '../../client';
import { useProjectQuery } from '../../state';

/** The type of a card that holds a saved block. */
const blockType = 'context.block';
const maxBlocks = 200;

export interface SavedBlock {
  readonly card: Card;
  readonly name: string;
  readonly layer: string;
  readonly text: string;
}

const textAt = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The saved blocks of the project, by name. */
export function useSavedBlocks(project: string): readonly SavedBlock[] {
  const query = useProjectQuery(project, `${project} blocks`, () => api.card.list({ type: blockType, limit: maxBlocks }));
  if (query.status !== 'done') return [];
  return query.data.cards
    .flatMap((card) => {
      const { metadata, content, deletedAt } = card;
      if (deletedAt !== undefined || content.kind !== 'text') return [];
      return [{ card, name: textAt(metadata.name), layer: textAt(metadata.layer), text: content.text }];
    })
    .sort((a, b) => a.name.localeCompare(b.name));
}

/** Saves a block under a name. The same name for the same layer replaces the earlier text. */
export async function saveBlock(saved: readonly SavedBlock[], name: string, layer: string, text: string): Promise<void> {
  const same = saved.find((block) => block.name === name && block.layer === layer);
  await api.card.add({
    card: {
      type: blockType,
      content: { kind: 'text', text },
      metadata: { type: blockType, role: 'system', name, layer },
      ...(same && { cardId: same.card.cardId }),
    },
  });
}
