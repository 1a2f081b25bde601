import type { Box, Card } from '../../../core/contract/index.js';
import { api } from '../../client';
import { cardFields, cardIn, cardOptions, newCard, valuesOfCard } from '../../forms';
import { attempt, reloadAndSay, say } from '../../parts';
import { ask, type FormSpec, type FormValues, givenIn, notify, picksIn, refreshProject, reloadAndOpen } from '../../state';

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
    await reloadAndOpen({ view: 'boxes', card: card.cardId }, box ? 'Card written and added to the box' : 'Card written');
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
    await reloadAndOpen({ view: 'boxes', card: card.cardId }, 'Card saved');
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

interface CardsForm extends Omit<FormSpec, 'fields' | 'submit'> {
  readonly fields?: FormSpec['fields'];
  /** Makes or changes the box with the chosen cards. */
  readonly write: (cardIds: string[], values: FormValues) => Promise<Box>;
  /** The notice, with the number of cards in words. */
  readonly done: (cards: string) => string;
}

/** A form for the cards of a box, which is shown afterwards. */
const cardsForm = ({ write, done, ...form }: CardsForm): FormSpec => ({
  fields: [cardsField],
  ...form,
  submit: async (values) => {
    const { boxId, cardIds } = await write(picksIn(values, 'cardIds'), values);
    await reloadAndOpen({ view: 'boxes', box: boxId, card: undefined }, done(say.plural(cardIds.length, 'card')));
  },
});

/** Builds a box from cards in an order. */
export const newBoxForm = (): FormSpec =>
  cardsForm({
    title: 'New box',
    intro: 'A box is an ordered list of cards that one agent hands to another.',
    fields: [
      { ...cardsField, hint: 'A model reads the cards in this order.' },
      { name: 'boxId', label: 'Id', hint: 'Leave it empty to get a new id.' },
    ],
    action: 'Create box',
    draft: 'box',
    write: (cardIds, values) => api.box.create({ cardIds, boxId: givenIn(values, 'boxId') }),
    done: (cards) => `Created a box with ${cards}`,
  });

/** Adds cards at the end of a box. */
export const appendForm = ({ boxId }: Box): FormSpec =>
  cardsForm({
    title: 'Append cards',
    intro: 'The cards are added at the end of this box. Cards that it contains already are not added again.',
    fields: [{ ...cardsField, required: true }],
    action: 'Append',
    write: (cardIds) => api.box.append({ boxId, cardIds }),
    done: (cards) => `The box has ${cards} now`,
  });

/** Replaces a box: other cards, or another order. */
export const replaceForm = ({ boxId, cardIds: before }: Box): FormSpec =>
  cardsForm({
    title: 'Reorder or replace',
    intro: 'A new box takes the place of this one. This box stays readable, and turns that read it are not changed.',
    start: { cardIds: before },
    action: 'Replace box',
    write: (cardIds) => api.box.replace({ boxId, cardIds }),
    done: () => 'The new box replaces the earlier one',
  });

/** Creates a second box from the cards of this box. */
export const branchForm = ({ cardIds: before }: Box): FormSpec =>
  cardsForm({
    title: 'Branch box',
    intro: 'A second box starts with the cards that you keep. This box stays as it is.',
    start: { cardIds: before },
    action: 'Create branch',
    write: (cardIds) => api.box.create({ cardIds }),
    done: (cards) => `Created a branch with ${cards}`,
  });

/** The action that deletes a card. It stays readable, and the message offers to restore it. */
export const removeCard = (card: Card): (() => void) =>
  attempt(async () => {
    await api.card.delete({ cardId: card.cardId });
    await refreshProject();
    notify('Card deleted. Turns that begin later do not receive it.', { name: 'Undo', act: restoreCard(card) });
  });

/** The action that restores a deleted card by adding it again. */
export const restoreCard = ({ deletedAt: _, ...card }: Card): (() => void) =>
  attempt(async () => {
    await api.card.add({ card });
    await reloadAndSay('Card restored');
  });

/** Opens a form. */
export const open = (form: FormSpec) => (): void => ask(form);
