import { useId, useState } from 'react';
import type { Ticket } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Button, Sheet } from '../../parts';
import { Words } from './MoveSheet';
import { typeName } from './words';
import { namesIn, Problem, useOccasion, useWriting } from './writing';

const types = ['task', 'bug', 'feature', 'question', 'review'] as const;

interface TicketSheetProps {
  /** The ticket that is changed; without one a new one is made. */
  readonly ticket?: Ticket;
  /** The ticket that the new one stands under. */
  readonly parent?: Ticket;
  readonly people: readonly string[];
  readonly onClose: () => void;
  readonly onSaved: (ticketId: string) => void;
}

/** Makes a ticket or a finding, or changes what one says. */
export function TicketSheet({ ticket, parent, people, onClose, onSaved }: TicketSheetProps) {
  const [title, setTitle] = useState(ticket?.title ?? '');
  const [body, setBody] = useState(ticket?.body ?? '');
  const [type, setType] = useState(ticket?.type ?? (parent ? 'review_finding' : 'task'));
  const [labels, setLabels] = useState(ticket?.labels.join(', ') ?? '');
  const [dependsOn, setDependsOn] = useState(ticket?.dependsOn.join(', ') ?? '');
  const [assignee, setAssignee] = useState(ticket?.assignee ?? '');
  const { occasion, field } = useOccasion();
  const { busy, problem, write } = useWriting();
  const ids = useId();
  const offered = [...new Set([...types, ...(parent ? ['review_finding'] : []), type])];
  const save = async (): Promise<void> => {
    let saved = ticket?.ticketId ?? '';
    const given = { title: title.trim(), body, type, labels: namesIn(labels), dependsOn: namesIn(dependsOn), ...occasion };
    const done = await write(async () => {
      const written = ticket
        ? await api.ticket.update({
            ...given,
            ticketId: ticket.ticketId,
            ...(assignee.trim() && assignee.trim() !== ticket.assignee && { assignee: assignee.trim() }),
          })
        : await api.ticket.create({ ...given, ...(parent && { parent: parent.ticketId }), ...(assignee.trim() && { assignee: assignee.trim() }) });
      saved = written.ticketId;
    });
    if (!done) return;
    onClose();
    onSaved(saved);
  };
  const name = ticket ? `Change ${ticket.ticketId}` : parent ? `New under ${parent.ticketId}` : 'New ticket';
  return (
    <Sheet
      title={name}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" disabled={busy || title.trim() === ''} onClick={() => void save()}>
            {ticket ? 'Save' : type === 'review_finding' ? 'Make the finding' : 'Make the ticket'}
          </Button>
        </>
      }
    >
      <form
        className="ticket-form"
        onSubmit={(event) => {
          event.preventDefault();
          if (!busy && title.trim() !== '') void save();
        }}
      >
        <Words id={`${ids}-title`} label="Title" value={title} onChange={setTitle} />
        <Words id={`${ids}-body`} label="Text" value={body} onChange={setBody} long lines={8} hint="Markdown" />
        <div className="ticket-fields">
          <div className="ticket-field">
            <label htmlFor={`${ids}-type`}>Type</label>
            <select id={`${ids}-type`} className="field" value={type} onChange={(event) => setType(event.target.value)}>
              {offered.map((each) => (
                <option key={each} value={each}>
                  {typeName(each)}
                </option>
              ))}
            </select>
          </div>
          <div className="ticket-field">
            <label htmlFor={`${ids}-assignee`}>Assignee</label>
            <input
              id={`${ids}-assignee`}
              className="field"
              list={`${ids}-people`}
              value={assignee}
              onChange={(event) => setAssignee(event.target.value)}
            />
            <datalist id={`${ids}-people`}>
              {people.map((each) => (
                <option key={each} value={each} />
              ))}
            </datalist>
          </div>
          <Words id={`${ids}-labels`} label="Labels, with commas" value={labels} onChange={setLabels} />
          <Words id={`${ids}-depends`} label="Depends on (tkt-…, with commas)" value={dependsOn} onChange={setDependsOn} />
        </div>
        {field}
        <Problem>{problem}</Problem>
        <button type="submit" hidden />
      </form>
    </Sheet>
  );
}
