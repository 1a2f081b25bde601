import { useState } from 'react';
import type { Ticket } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Select } from '../../parts';
import { TicketPicks } from './TicketPicks';
import { typeName } from './words';
import { namesIn, TextField, TicketField, useOccasion, WritingSheet } from './writing';

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
  const offered = [...new Set([...types, ...(parent ? ['review_finding'] : []), type])];
  const save = (): Promise<Ticket> => {
    const who = assignee.trim() !== ticket?.assignee && assignee.trim();
    const given = {
      ...{ title: title.trim(), body, type, labels: namesIn(labels), dependsOn: [...dependsOn], ...occasion },
      ...(who && { assignee: who }),
    };
    return ticket
      ? api.ticket.update({ ...given, ticketId: ticket.ticketId })
      : api.ticket.create({ ...given, ...(parent && { parent: parent.ticketId }) });
  };
  return (
    <WritingSheet
      title={ticket ? `Change ${ticket.ticketId}` : parent ? `New finding of ${parent.ticketId}` : 'New ticket'}
      label={ticket ? 'Save' : type === 'review_finding' ? 'Create finding' : 'Create ticket'}
      lacks={title.trim() === ''}
      work={save}
      onDone={({ ticketId }) => onSaved(ticketId)}
      onClose={onClose}
    >
      <TextField label="Title" value={title} onChange={setTitle} />
      <TextField label="Text" value={body} onChange={setBody} lines={8} hint="Markdown" />
      <div className="ticket-fields gap-12">
        <TicketField label="Type">
          {({ id }) => <Select id={id} value={type} options={offered.map((each) => [each, typeName(each)])} onChange={setType} />}
        </TicketField>
        <TextField label="Assignee" value={assignee} suggestions={people} onChange={setAssignee} />
        <TextField label="Labels" hint="Separated by commas" value={labels} onChange={setLabels} />
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
