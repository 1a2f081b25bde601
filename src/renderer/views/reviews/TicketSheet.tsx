import { useId, useState } from 'react';
import type { Ticket } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Input, Select } from '../../parts';
import { TextField } from './TextField';
import { TicketPicks } from './TicketPicks';
import { typeName } from './words';
import { namesIn, useOccasion, useWriting, WritingSheet } from './writing';

const types = ['task', 'bug', 'feature', 'question', 'review'] as const;

interface TicketSheetProps {
  /** The ticket to change; without it the sheet creates a new one. */
  readonly ticket?: Ticket;
  readonly parent?: Ticket;
  readonly people: readonly string[];
  readonly onClose: () => void;
  readonly onSaved: (ticketId: string) => void;
}

/** Creates a ticket or a finding, or changes one. */
export function TicketSheet({ ticket, parent, people, onClose, onSaved }: TicketSheetProps) {
  const [title, setTitle] = useState(ticket?.title ?? '');
  const [body, setBody] = useState(ticket?.body ?? '');
  const [type, setType] = useState(ticket?.type ?? (parent ? 'review_finding' : 'task'));
  const [labels, setLabels] = useState(ticket?.labels.join(', ') ?? '');
  const [dependsOn, setDependsOn] = useState<readonly string[]>(ticket?.dependsOn ?? []);
  const [assignee, setAssignee] = useState(ticket?.assignee ?? '');
  const { occasion, field } = useOccasion();
  const { busy, problem, write } = useWriting();
  const ids = useId();
  const offered = [...new Set([...types, ...(parent ? ['review_finding'] : []), type])];
  const save = async (): Promise<void> => {
    let saved = ticket?.ticketId ?? '';
    const given = { title: title.trim(), body, type, labels: namesIn(labels), dependsOn: [...dependsOn], ...occasion };
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
  const name = ticket ? `Change ${ticket.ticketId}` : parent ? `New finding of ${parent.ticketId}` : 'New ticket';
  return (
    <WritingSheet
      title={name}
      onClose={onClose}
      action={{
        label: ticket ? 'Save' : type === 'review_finding' ? 'Create finding' : 'Create ticket',
        disabled: busy || title.trim() === '',
        run: () => void save(),
      }}
      problem={problem}
    >
      <TextField id={`${ids}-title`} label="Title" value={title} onChange={setTitle} />
      <TextField id={`${ids}-body`} label="Text" value={body} onChange={setBody} long lines={8} hint="Markdown" />
      <div className="ticket-fields">
        <TypeField ids={ids} value={type} offered={offered} onChange={setType} />
        <AssigneeField ids={ids} value={assignee} people={people} onChange={setAssignee} />
        <TextField id={`${ids}-labels`} label="Labels" hint="Separated by commas" value={labels} onChange={setLabels} />
      </div>
      <TicketPicks
        label="Depends on"
        hint="The ticket is ready when these are closed."
        chosen={dependsOn}
        except={ticket?.ticketId}
        onChange={setDependsOn}
      />
      {field}
    </WritingSheet>
  );
}

interface FieldProps {
  readonly ids: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function TypeField({ ids, value, offered, onChange }: FieldProps & { readonly offered: readonly string[] }) {
  return (
    <div className="ticket-field">
      <label htmlFor={`${ids}-type`}>Type</label>
      <Select id={`${ids}-type`} value={value} options={offered.map((each) => [each, typeName(each)])} onChange={onChange} />
    </div>
  );
}

function AssigneeField({ ids, value, people, onChange }: FieldProps & { readonly people: readonly string[] }) {
  return (
    <div className="ticket-field">
      <label htmlFor={`${ids}-assignee`}>Assignee</label>
      <Input id={`${ids}-assignee`} list={`${ids}-people`} value={value} onChange={onChange} />
      <datalist id={`${ids}-people`}>
        {people.map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
    </div>
  );
}
