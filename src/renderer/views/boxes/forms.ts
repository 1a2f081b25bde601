import type { Box, Card } from '../../../core/contract/index.js';
import { api } from '../../client';
import { cardFields, cardIn, cardOptions, newCard, valuesOfCard } from '../../forms';
import { notifyProblem, say } from '../../parts';
import { ask, type FormSpec, givenIn, go, notify, picksIn, refreshProject } from '../../state';

const shown = async (place: { readonly box?: string; readonly card?: string | undefined }, notice: string): Promise<void> => {
  await refreshProject();
  go({ view: 'boxes', ...place });
  notify(notice);
};

/** Writes a new card, optionally into a box. */
export const newCardForm = (box?: Box): FormSpec => ({
  title: 'New card',
  intro: box
    ? 'A card is one piece of content for an agent. It is added at the end of the box.'
    : 'A card is one piece of content for an agent. You can put it into any number of boxes.',
  fields: cardFields(),
  start: newCard(),
  action: 'Write card',
  draft: box ? `card in ${box.boxId}` : 'card',
  submit: async (values) => {
    const card = await api.card.add({ card: cardIn(values) });
    if (box) await api.box.append({ boxId: box.boxId, cardIds: [card.cardId] });
    await shown({ card: card.cardId }, box ? 'Card written and added to the box' : 'Card written');
  },
});

/** Changes a card in place. The engine refuses this while a turn holds the card. */
export const editCardForm = (card: Card): FormSpec => ({
  title: 'Edit card',
  intro: 'The earlier content stays in the audit trail. A card that a turn holds cannot be changed: copy it instead.',
  fields: cardFields(),
  start: valuesOfCard(card),
  action: 'Save',
  draft: `edit ${card.cardId}`,
  submit: async (values) => {
    await api.card.add({ card: { ...cardIn(values, card.metadata), cardId: card.cardId, createdAt: card.createdAt } });
    await shown({ card: card.cardId }, 'Card saved');
  },
});

/** Writes a new card, starting with the content of another card. */
export const copyCardForm = (card: Card): FormSpec => ({
  ...newCardForm(),
  title: 'Copy card',
  intro: 'The copy is a new card. The original stays as it is.',
  start: valuesOfCard(card),
  draft: `copy ${card.cardId}`,
});

const cardsField = { name: 'cardIds', label: 'Cards', kind: 'picks', options: cardOptions } as const;

/** Builds a box from cards in an order. */
export const newBoxForm = (): FormSpec => ({
  title: 'New box',
  intro: 'A box is an ordered list of cards that one agent hands to another.',
  fields: [
    { ...cardsField, hint: 'A model reads the cards in this order.' },
    { name: 'boxId', label: 'Id', hint: 'Leave it empty to get a new id.' },
  ],
  action: 'Create box',
  draft: 'box',
  submit: async (values) => {
    const box = await api.box.create({ cardIds: picksIn(values, 'cardIds'), boxId: givenIn(values, 'boxId') });
    await shown({ box: box.boxId, card: undefined }, `Created a box with ${say.plural(box.cardIds.length, 'card')}`);
  },
});

/** Adds cards at the end of a box. */
export const appendForm = ({ boxId }: Box): FormSpec => ({
  title: 'Append cards',
  intro: 'The cards are added at the end of this box. Cards that it contains already are not added again.',
  fields: [{ ...cardsField, required: true }],
  action: 'Append',
  submit: async (values) => {
    const box = await api.box.append({ boxId, cardIds: picksIn(values, 'cardIds') });
    await shown({ box: box.boxId }, `The box has ${say.plural(box.cardIds.length, 'card')} now`);
  },
});

/** Replaces a box: other cards, or another order. */
export const replaceForm = ({ boxId, cardIds }: Box): FormSpec => ({
  title: 'Reorder or replace',
  intro: 'A new box takes the place of this one. This box stays readable, and turns that read it are not changed.',
  fields: [cardsField],
  start: { cardIds },
  action: 'Replace box',
  submit: async (values) => {
    const box = await api.box.replace({ boxId, cardIds: picksIn(values, 'cardIds') });
    await shown({ box: box.boxId, card: undefined }, 'The new box replaces the earlier one');
  },
});

/** Creates a second box from the cards of this box. */
export const branchForm = ({ cardIds }: Box): FormSpec => ({
  title: 'Branch box',
  intro: 'A second box starts with the cards that you keep. This box stays as it is.',
  fields: [cardsField],
  start: { cardIds },
  action: 'Create branch',
  submit: async (values) => {
    const box = await api.box.create({ cardIds: picksIn(values, 'cardIds') });
    await shown({ box: box.boxId, card: undefined }, `Created a branch with ${say.plural(box.cardIds.length, 'card')}`);
  },
});

/** Deletes a card. It stays readable, and the message offers to restore it. */
export async function removeCard(card: Card): Promise<void> {
  try {
    await api.card.delete({ cardId: card.cardId });
    await refreshProject();
    notify('Card deleted. Turns that begin later do not receive it.', { name: 'Undo', act: () => void restoreCard(card) });
  } catch (error) {
    notifyProblem(error);
  }
}

/** Restores a deleted card by adding it again. */
export async function restoreCard(card: Card): Promise<void> {
  try {
    const { deletedAt: _, ...again } = card;
    await api.card.add({ card: again });
    await refreshProject();
    notify('Card restored');
  } catch (error) {
    notifyProblem(error);
  }
}

/** Opens a form. */
export const open = (form: FormSpec) => (): void => ask(form);
