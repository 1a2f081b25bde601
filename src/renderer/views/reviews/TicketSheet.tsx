import { X } from 'lucide-react';
import { useState } from 'react';
import type { Ticket } from '../../../core/contract/index.js';
import { api } from '../../client';
import { describeProblem, IconButton, Input, LinkButton, namesIn, Select, say, statusNames } from '../../parts';
import { useKeptQuery } from '../../state';
import { openFirst, typeName } from './words';
import { TextField, TicketField, useOccasion, WritingSheet } from './writing';

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
      title: title.trim(),
      body,
      type,
      labels: namesIn(labels),
      dependsOn: [...dependsOn],
      ...occasion,
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
      <DependsOn ticketId={ticket?.ticketId} chosen={dependsOn} onChange={setDependsOn} />
      {field}
    </WritingSheet>
  );
}

const maxMatches = 20;

/** The tickets on which a ticket depends: they are found by their words and chosen from a list. */
function DependsOn(props: { ticketId: string | undefined; chosen: readonly string[]; onChange: (chosen: readonly string[]) => void }) {
  const { ticketId: own, chosen, onChange } = props;
  const [words, setWords] = useState('');
  const text = words.trim();
  const found = useKeptQuery('tickets', `pick ${text}`, () => api.ticket.overview({ limit: 200, ...(text && { text }) }));
  const named = useKeptQuery('named', `picked ${chosen.join(' ')}`, () => api.ticket.overview({ ids: [...chosen] }));
  const titles = new Map([found, named].flatMap((query) => (query.status === 'done' ? query.data.rows.map((row) => [row.ticketId, row.title]) : [])));
  const rows = found.status === 'done' ? openFirst(found.data.rows).filter(({ ticketId }) => ticketId !== own && !chosen.includes(ticketId)) : [];
  return (
    <fieldset className="ticket-field form-picks">
      <legend>Depends on</legend>
      <ol className="picked" aria-label="Depends on, chosen">
        {chosen.map((ticketId) => (
          <li key={ticketId}>
            <span className="ellipsis grow" title={ticketId}>
              {titles.get(ticketId) ?? ticketId}
            </span>
            <IconButton
              small
              icon={X}
              label={`Remove ${titles.get(ticketId) ?? ticketId}`}
              onClick={() => onChange(chosen.filter((one) => one !== ticketId))}
            />
          </li>
        ))}
      </ol>
      <Input
        type="search"
        label="Find a ticket for Depends on"
        placeholder="Find a ticket by its words"
        value={words}
        onChange={setWords}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return;
          event.preventDefault();
          const [first] = rows;
          if (first && text !== '' && !event.nativeEvent.isComposing && event.keyCode !== 229) onChange([...chosen, first.ticketId]);
        }}
      />
      <ul className="picks" aria-label="Tickets for Depends on">
        {rows.slice(0, maxMatches).map(({ ticketId, title, status }) => (
          <li key={ticketId}>
            <LinkButton className="ellipsis" onClick={() => onChange([...chosen, ticketId])}>
              Add <span>{title}</span> <span className="muted">{statusNames[status].toLowerCase()}</span>
            </LinkButton>
          </li>
        ))}
        {rows.length > maxMatches && <li className="muted">And {say.exact(rows.length - maxMatches)} more. Type to find them.</li>}
        {found.status === 'done' && rows.length === 0 && <li className="muted">{text ? 'No ticket matches.' : 'There is no other ticket.'}</li>}
        {found.status === 'failed' && <li className="form-problem">{describeProblem(found.error).message}</li>}
      </ul>
      <p className="muted small">The ticket is ready when these are closed.</p>
    </fieldset>
  );
}
