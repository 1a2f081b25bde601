import { useId, useState } from 'react';
import { type Ticket, type TicketStatus, ticketMoves } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, Button, Sheet, statusNames } from '../../parts';
import { notify, useQuery } from '../../state';
import { moveName, whyNotClosed } from './words';
import { namesIn, Problem, useOccasion, useWriting } from './writing';

/** Moves a ticket: where to, and what that move needs, asked for before it is refused. */
export function MoveSheet({ ticketId, to, onClose }: { ticketId: string; to: TicketStatus | undefined; onClose: () => void }) {
  const query = useQuery(`move ${ticketId}`, () => api.ticket.get({ ticketId }));
  return query.status === 'done' ? (
    <Moving ticket={query.data} to={to} onClose={onClose} />
  ) : (
    <Sheet title={`Move ${ticketId}`} onClose={onClose}>
      <Answer query={query} what="The ticket cannot be read" loading="Reading the ticket" lines={4}>
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
    <Sheet
      title={`Move ${ticket.ticketId}`}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" disabled={busy || lacks} onClick={() => void move()}>
            {obstacles.length > 0 ? 'Close anyway' : moveName(ticket.status, target)}
          </Button>
        </>
      }
    >
      <form
        className="ticket-form"
        onSubmit={(event) => {
          event.preventDefault();
          if (!busy && !lacks) void move();
        }}
      >
        <p>{ticket.title}</p>
        <div className="ticket-field">
          <label htmlFor={`${ids}-to`}>From {statusNames[ticket.status].toLowerCase()} to</label>
          <select id={`${ids}-to`} className="field" value={target} onChange={(event) => setTarget(event.target.value as TicketStatus)}>
            {allowed.map((status) => (
              <option key={status} value={status}>
                {statusNames[status]}
              </option>
            ))}
          </select>
        </div>
        {needsAssignee && (
          <Words
            id={`${ids}-who`}
            label="Who does it"
            value={assignee}
            onChange={setAssignee}
            hint="They are asked to start, from their own work on it."
          />
        )}
        {needsReviewers && (
          <Words
            id={`${ids}-reviewers`}
            label="Reviewers"
            value={reviewers}
            onChange={setReviewers}
            hint="With commas. Each is asked to start: from their earlier review of this ticket, else fresh. Verdicts begin anew."
          />
        )}
        {needsResolution && (
          <Words
            id={`${ids}-resolution`}
            label="How it was resolved"
            value={resolution}
            onChange={setResolution}
            long
            hint="Whoever found it is asked to verify this, from the end of the discussion."
          />
        )}
        {obstacles.length > 0 && <p className="notice-line">{obstacles.join('; ')}. It can still be closed, with a reason that stays on record.</p>}
        <Words id={`${ids}-reason`} label={obstacles.length > 0 ? 'Reason' : 'Reason, if there is one to keep'} value={reason} onChange={setReason} />
        {field}
        <Problem>{problem}</Problem>
        <button type="submit" hidden />
      </form>
    </Sheet>
  );
}

/** A text to fill in, with its name over it and what it is for under it. */
export function Words(props: {
  id: string;
  label: string;
  value: string;
  onChange: (value: string) => void;
  hint?: string;
  long?: boolean;
  lines?: number;
}) {
  const { id, label, value, onChange, hint, long, lines = 3 } = props;
  const described = hint ? `${id}-hint` : undefined;
  return (
    <div className="ticket-field">
      <label htmlFor={id}>{label}</label>
      {long ? (
        <textarea
          id={id}
          className="field"
          rows={lines}
          value={value}
          aria-describedby={described}
          onChange={(event) => onChange(event.target.value)}
        />
      ) : (
        <input id={id} className="field" value={value} aria-describedby={described} onChange={(event) => onChange(event.target.value)} />
      )}
      {hint && (
        <p id={described} className="muted">
          {hint}
        </p>
      )}
    </div>
  );
}
