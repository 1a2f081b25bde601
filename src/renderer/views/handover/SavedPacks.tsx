import { Save, Trash2 } from 'lucide-react';
import type { Card } from '../../../core/contract/index.js';
import { api } from '../../client';
import { attempt, Button, IconButton, Select } from '../../parts';
import { ask, FieldError, type FormSpec, notify, refreshProject, textIn, useProjectQuery } from '../../state';
import { type PackForm, readForm } from './form';

/** The type of a card that holds a saved handover. */
const savedType = 'handover.config';
const maxSaved = 200;

/** Handover configurations by name, to choose, save and delete. Each is stored as a card, so that agents find it too. */
export function SavedPacks({ project, form, onLoad }: { project: string; form: PackForm; onLoad: (form: PackForm) => void }) {
  const query = useProjectQuery(project, `${project} saved handovers`, () => api.card.list({ type: savedType, limit: maxSaved }));
  const saved = (query.data?.cards ?? []).filter(({ deletedAt }) => deletedAt === undefined);
  const chosen = saved.find((card) => savedName(card) === form.name);
  return (
    <div className="row gap-6 wrap">
      <Select
        className="grow"
        label="Saved handover"
        value={chosen?.cardId ?? ''}
        options={[
          ['', saved.length === 0 ? 'No saved handovers' : 'Saved handovers…'],
          ...saved.map((card) => [card.cardId, savedName(card)] as const),
        ]}
        onChange={(value) => {
          const card = saved.find(({ cardId }) => cardId === value);
          if (card) onLoad(formOfSaved(card, form));
        }}
      />
      <Button small icon={Save} label="Save…" onClick={() => ask(saveForm(form, saved, onLoad))} />
      {chosen && <IconButton small icon={Trash2} label={`Delete ${savedName(chosen)}`} onClick={attempt(() => remove(chosen))} />}
    </div>
  );
}

/** Saves the form under a name. The same name replaces the earlier configuration. */
const saveForm = (form: PackForm, saved: readonly Card[], onSaved: (form: PackForm) => void): FormSpec => ({
  title: 'Save this handover',
  intro: 'The profile, arguments and rules are saved. Boxes are chosen each time. The same name replaces the earlier one.',
  fields: [{ name: 'name', label: 'Name', required: true }],
  start: { name: form.name ?? '' },
  action: 'Save',
  submit: async (values) => {
    const name = textIn(values, 'name');
    const same = saved.find((card) => savedName(card) === name);
    await api.card.add({ card: { ...savedOf({ ...form, name }), ...(same && { cardId: same.cardId }) } });
    await refreshProject();
    onSaved({ ...form, name });
    notify(`Saved as ${name}`);
  },
});

async function remove(card: Card): Promise<void> {
  await api.card.delete({ cardId: card.cardId });
  await refreshProject();
  const { deletedAt: _, ...again } = card;
  notify(`Deleted ${savedName(card)}`, { name: 'Undo', act: () => void api.card.add({ card: again }).then(refreshProject) });
}

interface Saved {
  readonly name: string;
  /** The rules in the form of `handover.pack`. */
  readonly handover: Record<string, unknown>;
  readonly form: Omit<PackForm, 'boxes'>;
}

/** The card of a saved handover. @throws FieldError if the form is not complete */
function savedOf(form: PackForm) {
  const input = readForm({ ...form, boxes: [] });
  if ('problem' in input) throw new FieldError('name', `The handover is not complete: ${input.problem}`);
  const { boxes: _, ...rest } = form;
  const data: Saved = { name: form.name ?? '', handover: input.handover, form: rest };
  return { type: savedType, content: { kind: 'json' as const, data: { ...data } } };
}

const readData = (card: Card): Partial<Saved> =>
  card.content.kind === 'json' && !Array.isArray(card.content.data) ? (card.content.data as Partial<Saved>) : {};

const savedName = (card: Card): string => readData(card).name ?? card.cardId;

/** The form of a saved handover, with the currently chosen boxes. */
const formOfSaved = (card: Card, now: PackForm): PackForm => ({ ...now, ...readData(card).form, boxes: now.boxes, name: savedName(card) });
