import { useState } from 'react';
import type { Ticket, Verdict } from '../../../core/contract/index.js';
import { api } from '../../client';
import { useTickets } from '../../state';
import { TextField } from './TextField';
import { verdictNames } from './words';
import { namesIn, useWriting, WritingSheet } from './writing';

const verdicts = ['approved', 'changes_requested', 'commented'] as const satisfies readonly Verdict[];

/** Records a reviewer's verdict. */
export function VerdictSheet({ ticket, reviewer, onClose }: { ticket: Ticket; reviewer: string; onClose: () => void }) {
  const [verdict, setVerdict] = useState<(typeof verdicts)[number]>('approved');
  const [reason, setReason] = useState('');
  const { busy, problem, write } = useWriting();
  const give = async (): Promise<void> => {
    if (await write(() => api.ticket.verdict({ ticketId: ticket.ticketId, reviewer, verdict, ...(reason.trim() && { reason: reason.trim() }) })))
      onClose();
  };
  return (
    <WritingSheet
      title={`Verdict of ${reviewer}`}
      onClose={onClose}
      action={{ label: 'Give the verdict', disabled: busy, run: () => void give() }}
      problem={problem}
    >
      <p className="muted">A verdict moves nothing by itself: the assignee decides. It is recorded for {reviewer}, with their latest context.</p>
      {verdicts.map((each) => (
        <label key={each} className="verdict-choice">
          <input type="radio" name="verdict" checked={verdict === each} onChange={() => setVerdict(each)} /> {reviewer} {verdictNames[each]}
        </label>
      ))}
      <TextField id="verdict-words" label="Comment" value={reason} onChange={setReason} long />
    </WritingSheet>
  );
}

/** Changes the reviewers of a ticket. */
export function ReviewersSheet({ ticket, onClose }: { ticket: Ticket; onClose: () => void }) {
  const [names, setNames] = useState(ticket.reviewers.map(({ name }) => name).join(', '));
  const actor = useTickets((state) => state.actor);
  const { busy, problem, write } = useWriting();
  const save = async (): Promise<void> => {
    if (await write(() => api.ticket.update({ ticketId: ticket.ticketId, reviewers: namesIn(names), by: actor }))) onClose();
  };
  return (
    <WritingSheet
      title={`Reviewers of ${ticket.ticketId}`}
      onClose={onClose}
      action={{ label: 'Save', disabled: busy || namesIn(names).length === 0, run: () => void save() }}
      problem={problem}
    >
      <TextField
        id="reviewer-names"
        label="Reviewers, separated by commas"
        value={names}
        onChange={setNames}
        hint="Reviewers who stay keep their verdicts. For new ones a start is requested."
      />
    </WritingSheet>
  );
}
