import { Package, PackagePlus, Plus, X } from 'lucide-react';
import { type ReactNode, useDeferredValue, useState } from 'react';
import type { Agent, BoxRow, ContextId, Ticket } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, Button, Empty, IconButton, Loading, notifyProblem, ProblemLine, problemOf, say } from '../../parts';
import { go, notify, refreshProject, useKept, useNavigation, useProject, useQuery } from '../../state';
import { formFor, inputOf, nextId, type PackForm, type PackInput } from './form';
import { Packed } from './Packed';

const cardTypes = ['task.instruction', 'task.context', 'task.result_fields', 'agent.thought', 'task.deliverable'];

/** Packing by hand, from what is chosen: a ticket, a box, or nothing. */
export function Pack({ project, agents }: { project: string; agents: readonly Agent[] }) {
  const ticketId = useNavigation(({ route }) => route.ticket);
  const ticket = useQuery(ticketId ? `${project} ${ticketId}` : null, (signal) => api.ticket.get({ ticketId: ticketId as string }, { signal }));
  if (ticket.status === 'loading') return <Loading what="Reading the ticket" />;
  const from = ticket.status === 'done' ? ticket.data : undefined;
  return <Packing key={from?.ticketId ?? ''} project={project} agents={agents} ticket={from} />;
}

/** Arguments and rules on the left, the box that would be written on the right. */
function Packing({ project, agents, ticket }: { project: string; agents: readonly Agent[]; ticket: Ticket | undefined }) {
  const revision = useProject((state) => state.revision);
  const chosenBox = useNavigation(({ route }) => route.box);
  const [form, setForm] = useState<PackForm>(() => formFor(ticket, chosenBox));
  const profiles = useKept(
    useQuery(`${project} ${revision}`, () => api.profile.list({})),
    project,
  );
  const boxes = useKept(
    useQuery(`boxes ${project} ${revision}`, () => api.box.list({ limit: 1_000 })),
    project,
  );
  const set = (change: Partial<PackForm>) => setForm({ ...form, ...change });
  return (
    <div className="pack">
      <form className="pack-form" aria-label="What to pack" onSubmit={(event) => event.preventDefault()}>
        {ticket && <OfTicket ticket={ticket} onBox={(boxId) => set({ boxes: [...form.boxes, boxId] })} />}
        <Part title="For">
          {profiles.status === 'done' && profiles.data.length === 0 ? (
            <NewProfile />
          ) : (
            <select className="field" aria-label="Profile" value={form.profile} onChange={(event) => set({ profile: event.target.value })}>
              <option value="">Profile…</option>
              {profiles.status === 'done' && profiles.data.map((profile) => <option key={profile.name}>{profile.name}</option>)}
            </select>
          )}
          <label className="pack-line">
            <span className="muted">from</span>
            <input className="field grow" list="pack-agents" value={form.source} onChange={(event) => set({ source: event.target.value })} />
          </label>
          <datalist id="pack-agents">
            {agents.map((agent) => (
              <option key={agent.agentId} value={agent.agentId}>
                {agent.displayName}
              </option>
            ))}
          </datalist>
        </Part>
        <Part title="Arguments" add={() => set({ args: [...form.args, { id: nextId(form.args), name: '', value: '', as: 'text' }] })}>
          {form.args.map((row) => {
            const change = (more: Partial<typeof row>) => set({ args: form.args.map((one) => (one.id === row.id ? { ...one, ...more } : one)) });
            return (
              <div key={row.id} className="pack-argument">
                <span className="pack-line">
                  <input
                    className="field grow mono"
                    placeholder="name"
                    aria-label="Name of the argument"
                    value={row.name}
                    onChange={(event) => change({ name: event.target.value })}
                  />
                  <select
                    className="field"
                    aria-label="Value is"
                    value={row.as}
                    onChange={(event) => change({ as: event.target.value as 'text' | 'json' })}
                  >
                    <option value="text">text</option>
                    <option value="json">JSON</option>
                  </select>
                  <IconButton
                    small
                    icon={X}
                    label="Remove the argument"
                    onClick={() => set({ args: form.args.filter((one) => one.id !== row.id) })}
                  />
                </span>
                <textarea
                  className="field"
                  rows={Math.max(2, Math.min(12, row.value.split('\n').length))}
                  placeholder="value"
                  aria-label={`Value of ${row.name || 'the argument'}`}
                  value={row.value}
                  onChange={(event) => change({ value: event.target.value })}
                />
              </div>
            );
          })}
        </Part>
        <Part
          title="Rules"
          add={() =>
            set({ rules: [...form.rules, { id: nextId(form.rules), argument: form.args.at(-1)?.name ?? '', type: 'task.context', role: '' }] })
          }
        >
          {form.rules.map((row) => {
            const change = (more: Partial<typeof row>) => set({ rules: form.rules.map((one) => (one.id === row.id ? { ...one, ...more } : one)) });
            return (
              <span key={row.id} className="pack-line">
                <select
                  className="field grow"
                  aria-label="Argument"
                  value={row.argument}
                  onChange={(event) => change({ argument: event.target.value })}
                >
                  {[...new Set([row.argument, ...form.args.map((one) => one.name)])].filter(Boolean).map((name) => (
                    <option key={name}>{name}</option>
                  ))}
                </select>
                <span className="muted">as</span>
                <input
                  className="field grow mono"
                  list="pack-types"
                  aria-label="Type of the card"
                  value={row.type}
                  onChange={(event) => change({ type: event.target.value })}
                />
                <select className="field" aria-label="Role" value={row.role} onChange={(event) => change({ role: event.target.value })}>
                  <option value="">user</option>
                  <option>system</option>
                  <option>assistant</option>
                  <option>tool</option>
                </select>
                <IconButton small icon={X} label="Remove the rule" onClick={() => set({ rules: form.rules.filter((one) => one.id !== row.id) })} />
              </span>
            );
          })}
          <datalist id="pack-types">
            {cardTypes.map((type) => (
              <option key={type}>{type}</option>
            ))}
          </datalist>
        </Part>
        <Part title="Inherited boxes">
          {form.boxes.map((boxId) => (
            <span key={boxId} className="pack-line">
              <span className="grow ellipsis" title={boxId}>
                {headOf(boxes.status === 'done' ? boxes.data.boxes : [], boxId)}
              </span>
              <IconButton small icon={X} label="Do not inherit this box" onClick={() => set({ boxes: form.boxes.filter((one) => one !== boxId) })} />
            </span>
          ))}
          {boxes.status === 'done' && (
            <select className="field" aria-label="Inherit a box" value="" onChange={(event) => set({ boxes: [...form.boxes, event.target.value] })}>
              <option value="">Add a box…</option>
              {boxes.data.boxes
                .filter((box) => !form.boxes.includes(box.boxId))
                .map((box) => (
                  <option key={box.boxId} value={box.boxId}>
                    {nameOf(box)}
                  </option>
                ))}
            </select>
          )}
          <label className="pack-line">
            <input type="checkbox" checked={form.parent} onChange={(event) => set({ parent: event.target.checked })} />
            Pointer to the parent
          </label>
        </Part>
      </form>
      <Preview project={project} form={form} />
    </div>
  );
}

/** The ticket whose words are handed over, and the way to send along what was understood then. */
function OfTicket({ ticket: { ticketId, title, contextId }, onBox }: { ticket: Ticket; onBox: (boxId: string) => void }) {
  const [isSent, setSent] = useState(false);
  const send = async (id: ContextId) => {
    try {
      const { boxId } = await api.box.fromContext({ id });
      await refreshProject();
      setSent(true);
      onBox(boxId);
    } catch (error) {
      notifyProblem(error);
    }
  };
  return (
    <div className="pack-ticket">
      <p>
        <span className="muted">Of the ticket</span>{' '}
        <button type="button" className="link-button" title={title} onClick={() => go({ view: 'reviews', ticket: ticketId })}>
          <span className="mono">{ticketId}</span> {title}
        </button>
      </p>
      <span className="pack-line">
        {contextId?.startsWith('ctx-') && (
          <Button
            small
            icon={PackagePlus}
            disabled={isSent}
            title={`A box of ${contextId}, to be inherited`}
            onClick={() => void send(contextId as ContextId)}
          >
            {isSent ? 'What was understood goes along' : 'Send what was understood along'}
          </Button>
        )}
        <Button small look="plain" onClick={() => go({ ticket: undefined })}>
          Without the ticket
        </Button>
      </span>
    </div>
  );
}

const nameOf = (box: BoxRow): string => `${say.firstLine(box.head ?? 'Empty', 60)} · ${say.plural(box.cards, 'card')} · ${say.shortId(box.boxId)}`;
const headOf = (boxes: readonly BoxRow[], boxId: string): string => {
  const box = boxes.find((one) => one.boxId === boxId);
  return box ? nameOf(box) : boxId;
};

function Part({ title, add, children }: { title: string; add?: () => void; children: ReactNode }) {
  return (
    <fieldset className="pack-part">
      <legend>
        {title}
        {add && <IconButton small icon={Plus} label={`Add to ${title.toLowerCase()}`} onClick={add} />}
      </legend>
      {children}
    </fieldset>
  );
}

function NewProfile() {
  const [name, setName] = useState('');
  const [prompt, setPrompt] = useState('');
  const make = async () => {
    try {
      await api.profile.put({ name, card: { content: { kind: 'json', data: { name, display_name: name, system_prompt_template: prompt } } } });
      await refreshProject();
    } catch (error) {
      notifyProblem(error);
    }
  };
  return (
    <>
      <p className="muted">There is no profile yet. A profile says who an agent is.</p>
      <input className="field" placeholder="Name" aria-label="Name of the profile" value={name} onChange={(event) => setName(event.target.value)} />
      <textarea
        className="field"
        rows={3}
        placeholder="System prompt"
        aria-label="System prompt"
        value={prompt}
        onChange={(event) => setPrompt(event.target.value)}
      />
      <Button small icon={Plus} disabled={name.trim() === ''} onClick={() => void make()}>
        Make the profile
      </Button>
    </>
  );
}

/** What would be written, from the engine's own plan. */
function Preview({ project, form }: { project: string; form: PackForm }) {
  const revision = useProject((state) => state.revision);
  const settled = useDeferredValue(form);
  const input = inputOf(settled);
  const query = useQuery('problem' in input ? null : `${project} ${revision} ${JSON.stringify(input)}`, () =>
    api.handover.preview(input as PackInput),
  );
  if ('problem' in input)
    return (
      <div className="pack-preview">
        <Empty title="Nothing to pack yet" picture={<Package size={48} strokeWidth={1} />}>
          {input.problem}
        </Empty>
      </div>
    );
  return (
    <section className="pack-preview" aria-label="The box that would be written">
      {query.status === 'failed' ? (
        <ProblemLine>{problemOf(query.error).message}</ProblemLine>
      ) : (
        <Answer query={query} what="The box cannot be shown" loading="Packing" lines={6}>
          {({ profile, cards, dropped }) => (
            <>
              <header className="thing-head">
                <h2>For {profile.name}</h2>
                <span className="muted">
                  {say.plural(cards.length, 'card')}
                  {dropped.length > 0 && `, ${say.plural(dropped.length, 'repetition')} left out`}
                </span>
                <span className="grow" />
                <Button small look="primary" icon={Package} onClick={() => void write(input)}>
                  Write the box
                </Button>
              </header>
              <div className="pack-cards">
                <Packed rows={cards} dropped={dropped} />
              </div>
            </>
          )}
        </Answer>
      )}
    </section>
  );
}

async function write(input: PackInput): Promise<void> {
  try {
    const { contextBoxId, attachedCardIds } = await api.handover.pack(input);
    await refreshProject();
    go({ view: 'boxes', box: contextBoxId, card: undefined });
    notify(`Packed ${say.plural(attachedCardIds.length, 'card')}.`);
  } catch (error) {
    notifyProblem(error);
  }
}
