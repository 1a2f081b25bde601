import { type ComponentProps, useState } from 'react';
import { type Ticket, type TicketStatus, ticketMoves, type Verdict } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, namesIn, Select, Sheet, statusNames } from '../../parts';
import { notify, useQuery, useTickets } from '../../state';
import { moveName, verdictNames, whyNotClosed } from './words';
import { TextField, TicketField, useOccasion, WritingSheet } from './writing';

/** Moves a ticket. The sheet requests what the move requires. */
export function MoveSheet({ ticketId, to, onClose }: { ticketId: string; to: TicketStatus | undefined; onClose: () => void }) {
  const query = useQuery(`move ${ticketId}`, () => api.ticket.get({ ticketId }));
  return query.status === 'done' ? (
    <Moving ticket={query.data} to={to} onClose={onClose} />
  ) : (
    <Sheet title={`Move ${ticketId}`} onClose={onClose}>
      <Answer query={query} what="Cannot read the ticket" loading="Loading the ticket" lines={4}>
        {() => null}
      </Answer>
    </Sheet>
  );
}

interface Need {
  readonly name: 'assignee' | 'reviewers' | 'resolution';
  readonly field: Pick<ComponentProps<typeof TextField>, 'label' | 'hint' | 'lines'>;
}

const needs: Readonly<Partial<Record<TicketStatus, Need>>> = {
  in_progress: { name: 'assignee', field: { label: 'Assignee', hint: 'Requests that they start, from their own work on the ticket.' } },
  review: {
    name: 'reviewers',
    field: {
      label: 'Reviewers',
      hint: 'Separated by commas. Requests that each starts, from their earlier review of this ticket or fresh. Verdicts start over.',
    },
  },
  closed: {
    name: 'resolution',
    field: { label: 'How it was resolved', hint: 'Requests that the author of the finding verifies this, from the end of the discussion.', lines: 3 },
  },
};

function Moving({ ticket, to, onClose }: { ticket: Ticket; to: TicketStatus | undefined; onClose: () => void }) {
  const { ticketId, status, assignee, reviewers, resolution } = ticket;
  const allowed = Object.keys(ticketMoves[status]) as TicketStatus[];
  const [target, setTarget] = useState<TicketStatus>(to && allowed.includes(to) ? to : (allowed[0] ?? 'open'));
  const [given, setGiven] = useState({
    assignee: assignee ?? '',
    reviewers: reviewers.map(({ name }) => name).join(', '),
    resolution: resolution ?? '',
  });
  const [reason, setReason] = useState('');
  const { occasion, field } = useOccasion();
  const obstacles = target === 'closed' ? whyNotClosed(ticket) : [];
  const need = target === 'closed' && ticket.type !== 'review_finding' ? undefined : needs[target];
  const text = need ? given[need.name].trim() : '';
  const isMissing = need && (need.name === 'reviewers' ? namesIn(text).length === 0 : text === '');
  const move = (): Promise<Ticket> =>
    api.ticket.transition({
      ticketId,
      to: target,
      ...(need?.name === 'assignee' && { assignee: text }),
      ...(need?.name === 'reviewers' && { reviewers: namesIn(text) }),
      ...(need?.name === 'resolution' && { resolution: text }),
      ...(reason.trim() && { reason: reason.trim() }),
      ...occasion,
    });
  return (
    <WritingSheet
      title={`Move ${ticketId}`}
      label={obstacles.length > 0 ? 'Close anyway' : moveName(status, target)}
      lacks={isMissing || (obstacles.length > 0 && reason.trim() === '')}
      work={move}
      onDone={() => notify(`${ticketId}: ${statusNames[target].toLowerCase()}`)}
      onClose={onClose}
    >
      <p>{ticket.title}</p>
      <TicketField label={`From ${statusNames[status].toLowerCase()} to`}>
        {({ id }) => <Select id={id} value={target} options={allowed.map((each) => [each, statusNames[each]])} onChange={setTarget} />}
      </TicketField>
      {need && (
        <TextField key={need.name} {...need.field} value={given[need.name]} onChange={(value) => setGiven({ ...given, [need.name]: value })} />
      )}
      {obstacles.length > 0 && <p className="notice-line">{obstacles.join('; ')}. You can still close it with a reason, which is recorded.</p>}
      <TextField label={obstacles.length > 0 ? 'Reason' : 'Reason (optional)'} value={reason} onChange={setReason} />
      {field}
    </WritingSheet>
  );
}

const verdicts = ['approved', 'changes_requested', 'commented'] as const satisfies readonly Verdict[];

/** Records a reviewer's verdict. */
export function VerdictSheet({ ticket: { ticketId }, reviewer, onClose }: { ticket: Ticket; reviewer: string; onClose: () => void }) {
  const [verdict, setVerdict] = useState<(typeof verdicts)[number]>('approved');
  const [reason, setReason] = useState('');
  return (
    <WritingSheet
      title={`Verdict of ${reviewer}`}
      label="Give the verdict"
      work={() => api.ticket.verdict({ ticketId, reviewer, verdict, ...(reason.trim() && { reason: reason.trim() }) })}
      onClose={onClose}
    >
      <p className="muted">A verdict moves nothing by itself: the assignee decides. It is recorded for {reviewer}, with their latest context.</p>
      {verdicts.map((each) => (
        <label key={each} className="verdict-choice gap-8">
          <input type="radio" name="verdict" checked={verdict === each} onChange={() => setVerdict(each)} /> {reviewer} {verdictNames[each]}
        </label>
      ))}
      <TextField label="Comment" value={reason} onChange={setReason} lines={3} />
    </WritingSheet>
  );
}

/** Changes the reviewers of a ticket. */
export function ReviewersSheet({ ticket: { ticketId, reviewers }, onClose }: { ticket: Ticket; onClose: () => void }) {
  const [names, setNames] = useState(reviewers.map(({ name }) => name).join(', '));
  const by = useTickets((state) => state.actor);
  return (
    <WritingSheet
      title={`Reviewers of ${ticketId}`}
      label="Save"
      lacks={namesIn(names).length === 0}
      work={() => api.ticket.update({ ticketId, reviewers: namesIn(names), by })}
      onClose={onClose}
    >
      <TextField
        label="Reviewers, separated by commas"
        value={names}
        onChange={setNames}
        hint="Reviewers who stay keep their verdicts. For new ones a start is requested."
      />
    </WritingSheet>
  );
}
