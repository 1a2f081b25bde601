import { useId, useState } from 'react';
import { type Ticket, type TicketStatus, ticketMoves } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, Select, Sheet, statusNames } from '../../parts';
import { notify, useQuery } from '../../state';
import { TextField } from './TextField';
import { moveName, whyNotClosed } from './words';
import { namesIn, useOccasion, useWriting, WritingSheet } from './writing';

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

function Moving({ ticket, to, onClose }: { ticket: Ticket; to: TicketStatus | undefined; onClose: () => void }) {
  const allowed = Object.keys(ticketMoves[ticket.status]) as TicketStatus[];
  const [target, setTarget] = useState<TicketStatus>(to && allowed.includes(to) ? to : (allowed[0] ?? 'open'));
  const [assignee, setAssignee] = useState(ticket.assignee ?? '');
  const [reviewers, setReviewers] = useState(ticket.reviewers.map(({ name }) => name).join(', '));
  const [resolution, setResolution] = useState(ticket.resolution ?? '');
  const [reason, setReason] = useState('');
  const { occasion, field } = useOccasion();
  const { busy, problem, write } = useWriting();
  const ids = useId();

  const isFinding = ticket.type === 'review_finding';
  const obstacles = target === 'closed' ? whyNotClosed(ticket) : [];
  const needsAssignee = target === 'in_progress';
  const needsReviewers = target === 'review';
  const needsResolution = target === 'closed' && isFinding;
  const lacks =
    (needsAssignee && assignee.trim() === '') ||
    (needsReviewers && namesIn(reviewers).length === 0) ||
    (needsResolution && resolution.trim() === '') ||
    (obstacles.length > 0 && reason.trim() === '');
  const move = async (): Promise<void> => {
    const done = await write(() =>
      api.ticket.transition({
        ticketId: ticket.ticketId,
        to: target,
        ...(needsAssignee && { assignee: assignee.trim() }),
        ...(needsReviewers && { reviewers: namesIn(reviewers) }),
        ...(needsResolution && { resolution: resolution.trim() }),
        ...(reason.trim() && { reason: reason.trim() }),
        ...occasion,
      }),
    );
    if (!done) return;
    notify(`${ticket.ticketId}: ${statusNames[target].toLowerCase()}`);
    onClose();
  };
  return (
    <WritingSheet
      title={`Move ${ticket.ticketId}`}
      onClose={onClose}
      action={{ label: obstacles.length > 0 ? 'Close anyway' : moveName(ticket.status, target), disabled: busy || lacks, run: () => void move() }}
      problem={problem}
    >
      <p>{ticket.title}</p>
      <div className="ticket-field">
        <label htmlFor={`${ids}-to`}>From {statusNames[ticket.status].toLowerCase()} to</label>
        <Select id={`${ids}-to`} value={target} options={allowed.map((status) => [status, statusNames[status]])} onChange={setTarget} />
      </div>
      <NeededFields {...{ target, isFinding, ids, assignee, setAssignee, reviewers, setReviewers, resolution, setResolution }} />
      {obstacles.length > 0 && <p className="notice-line">{obstacles.join('; ')}. You can still close it with a reason, which is recorded.</p>}
      <TextField id={`${ids}-reason`} label={obstacles.length > 0 ? 'Reason' : 'Reason (optional)'} value={reason} onChange={setReason} />
      {field}
    </WritingSheet>
  );
}

interface NeededFieldsProps {
  readonly target: TicketStatus;
  readonly isFinding: boolean;
  readonly ids: string;
  readonly assignee: string;
  readonly setAssignee: (value: string) => void;
  readonly reviewers: string;
  readonly setReviewers: (value: string) => void;
  readonly resolution: string;
  readonly setResolution: (value: string) => void;
}

function NeededFields(props: NeededFieldsProps) {
  const { target, isFinding, ids, assignee, setAssignee, reviewers, setReviewers, resolution, setResolution } = props;
  return (
    <>
      {target === 'in_progress' && (
        <TextField
          id={`${ids}-who`}
          label="Assignee"
          value={assignee}
          onChange={setAssignee}
          hint="Requests that they start, from their own work on the ticket."
        />
      )}
      {target === 'review' && (
        <TextField
          id={`${ids}-reviewers`}
          label="Reviewers"
          value={reviewers}
          onChange={setReviewers}
          hint="Separated by commas. Requests that each starts, from their earlier review of this ticket or fresh. Verdicts start over."
        />
      )}
      {target === 'closed' && isFinding && (
        <TextField
          id={`${ids}-resolution`}
          label="How it was resolved"
          value={resolution}
          onChange={setResolution}
          long
          hint="Requests that the author of the finding verifies this, from the end of the discussion."
        />
      )}
    </>
  );
}
