import { PackagePlus } from 'lucide-react';
import { useState } from 'react';
import type { Agent, ContextId, Ticket } from '../../../core/contract/index.js';
import { api } from '../../client';
import { attempt, Button, LinkButton, Loading } from '../../parts';
import { go, refreshProject, useNavigation, useProjectQuery, useQuery } from '../../state';
import { formFor, type PackForm } from './form';
import { PackPreview } from './PackPreview';
import { ArgumentRows, InheritedBoxes, PackTarget, RuleRows } from './PackRows';
import { SavedPacks } from './SavedPacks';

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
