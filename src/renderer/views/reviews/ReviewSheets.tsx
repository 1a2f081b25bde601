import { useState } from 'react';
import type { Ticket, Verdict } from '../../../core/contract/index.js';
import { api } from '../../client';
import { useTickets } from '../../state';
import { verdictNames } from './words';
import { namesIn, TextField, WritingSheet } from './writing';

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
