import type { Card } from '../../../core/contract/index.js';
import { FieldError } from '../../state';
import { type PackForm, readForm } from './form';

/** The type of a card that holds a saved handover. */
export const savedType = 'handover.config';

interface Saved {
  readonly name: string;
  /** The rules in the form of `handover.pack`. */
  readonly handover: Record<string, unknown>;
  readonly form: Omit<PackForm, 'boxes'>;
}

/** The card of a saved handover. @throws FieldError if the form is not complete */
export function savedOf(form: PackForm) {
  const input = readForm({ ...form, boxes: [] });
  if ('problem' in input) throw new FieldError('name', `The handover is not complete: ${input.problem}`);
  const { boxes: _, ...rest } = form;
  const data: Saved = { name: form.name ?? '', handover: input.handover, form: rest };
  return { type: savedType, content: { kind: 'json' as const, data: { ...data } } };
}

const readData = (card: Card): Partial<Saved> =>
  card.content.kind === 'json' && !Array.isArray(card.content.data) ? (card.content.data as Partial<Saved>) : {};

/** The name of a saved handover. */
export const savedName = (card: Card): string => readData(card).name ?? card.cardId;

/** The form of a saved handover, with the currently chosen boxes. */
export const formOfSaved = (card: Card, now: PackForm): PackForm => ({ ...now, ...readData(card).form, boxes: now.boxes, name: savedName(card) });
