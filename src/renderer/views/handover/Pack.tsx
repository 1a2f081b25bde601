import { Package, PackagePlus, Save, Trash2 } from 'lucide-react';
import { useDeferredValue, useState } from 'react';
import type { Agent, Card, ContextId, Ticket } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, attempt, Button, describeProblem, Empty, IconButton, LinkButton, Loading, ProblemLine, Select, say } from '../../parts';
import {
  ask,
  FieldError,
  type FormSpec,
  go,
  notify,
  refreshProject,
  reloadAndOpen,
  textIn,
  useNavigation,
  useProject,
  useProjectQuery,
  useQuery,
} from '../../state';
import { formFor, type PackForm, type PackFormInput, readForm } from './form';
import { Packed } from './Packed';
import { ArgumentRows, InheritedBoxes, PackTarget, RuleRows } from './PackRows';

const listedBoxes = 1_000;

/** Packs a box by hand, starting from the selected ticket, the selected box, or an empty form. */
export function Pack({ project, agents }: { project: string; agents: readonly Agent[] }) {
  const ticketId = useNavigation(({ route }) => route.ticket);
  const ticket = useQuery(ticketId ? `${project} ${ticketId}` : null, (signal) => api.ticket.get({ ticketId: ticketId as string }, { signal }));
  if (ticket.status === 'loading') return <Loading what="Loading the ticket" />;
  const from = ticket.data;
  return <PackEditor key={from?.ticketId ?? ''} project={project} agents={agents} ticket={from} />;
}

/** Arguments and rules on the left, a preview of the box on the right. */
function PackEditor({ project, agents, ticket }: { project: string; agents: readonly Agent[]; ticket: Ticket | undefined }) {
  const selectedBox = useNavigation(({ route }) => route.box);
  const [form, setForm] = useState<PackForm>(() => formFor(ticket, selectedBox));
  const profiles = useProjectQuery(project, project, () => api.profile.list({}));
  const boxes = useProjectQuery(project, `boxes ${project}`, () => api.box.list({ limit: listedBoxes }));
  const change = (part: Partial<PackForm>) => setForm({ ...form, ...part });
  return (
    <div className="pack">
      <form className="pack-form stack gap-4" aria-label="Contents of the box" onSubmit={(event) => event.preventDefault()}>
        <SavedPacks project={project} form={form} onLoad={setForm} />
        {ticket && <PackTicket ticket={ticket} onBox={(boxId) => change({ boxes: [...form.boxes, boxId] })} />}
        <PackTarget form={form} onChange={change} agents={agents} profiles={profiles.data?.map(({ name }) => name)} />
        <ArgumentRows form={form} onChange={change} />
        <RuleRows form={form} onChange={change} />
        <InheritedBoxes form={form} onChange={change} boxes={boxes.data?.boxes} />
      </form>
      <PackPreview project={project} form={form} />
    </div>
  );
}

/** The ticket whose text is handed over, with a button that adds the context in which the ticket was written. */
function PackTicket({ ticket: { ticketId, title, contextId }, onBox }: { ticket: Ticket; onBox: (boxId: string) => void }) {
  const [isSent, setIsSent] = useState(false);
  const send = async (id: ContextId) => {
    const { boxId } = await api.box.fromContext({ id });
    await refreshProject();
    setIsSent(true);
    onBox(boxId);
  };
  return (
    <div className="pack-ticket stack gap-6">
      <p>
        <span className="muted">From ticket</span>{' '}
        <LinkButton title={title} onClick={() => go({ view: 'reviews', ticket: ticketId })}>
          <span className="mono">{ticketId}</span> {title}
        </LinkButton>
      </p>
      <span className="row gap-6 shrinks">
        {contextId?.startsWith('ctx-') && (
          <Button
            small
            icon={PackagePlus}
            label={isSent ? 'Context added' : 'Add its context'}
            disabled={isSent}
            title={`Adds a box with the context ${contextId}`}
            onClick={attempt(() => send(contextId as ContextId))}
          />
        )}
        <Button small look="plain" label="Remove ticket" onClick={() => go({ ticket: undefined })} />
      </span>
    </div>
  );
}

/** The box that the form would create, as planned by the engine. */
export function PackPreview({ project, form }: { project: string; form: PackForm }) {
  const revision = useProject((state) => state.revision);
  const settled = useDeferredValue(form);
  const input = readForm(settled);
  const query = useQuery('problem' in input ? null : `${project} ${revision} ${JSON.stringify(input)}`, () =>
    api.handover.preview(input as PackFormInput),
  );
  if ('problem' in input)
    return (
      <div className="stack shrinks">
        <Empty title="No preview yet" picture={Package}>
          The cards of the box appear here. {input.problem}
        </Empty>
      </div>
    );
  return (
    <section className="stack shrinks" aria-label="Preview of the box">
      {query.status === 'failed' ? (
        <ProblemLine>{describeProblem(query.error).message}</ProblemLine>
      ) : (
        <Answer query={query} what="Cannot preview the box" loading="Packing" lines={6}>
          {({ profile, cards, dropped }) => (
            <>
              <header className="thing-head bar wrap">
                <h2>For {profile.name}</h2>
                <span className="muted">
                  {say.plural(cards.length, 'card')}
                  {dropped.length > 0 && `, ${say.plural(dropped.length, 'duplicate')} dropped`}
                </span>
                <span className="grow" />
                <Button small look="primary" icon={Package} label="Create box" onClick={attempt(() => createBox(input))} />
              </header>
              <div className="pack-cards overflows">
                <Packed rows={cards} dropped={dropped} />
              </div>
            </>
          )}
        </Answer>
      )}
    </section>
  );
}

async function createBox(input: PackFormInput): Promise<void> {
  const { contextBoxId, attachedCardIds } = await api.handover.pack(input);
  await reloadAndOpen({ view: 'boxes', box: contextBoxId, card: undefined }, `Created a box with ${say.plural(attachedCardIds.length, 'card')}`);
}

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
