import { PackagePlus } from 'lucide-react';
import { useState } from 'react';
import type { ContextId, Ticket } from '../../../core/contract/index.js';
import { api } from '../../client';
import { attempt, Button, LinkButton } from '../../parts';
import { go, refreshProject } from '../../state';

/** The ticket whose text is handed over, with a button that adds the context in which the ticket was written. */
export function PackTicket({ ticket: { ticketId, title, contextId }, onBox }: { ticket: Ticket; onBox: (boxId: string) => void }) {
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
            disabled={isSent}
            title={`Adds a box with the context ${contextId}`}
            onClick={attempt(() => send(contextId as ContextId))}
          >
            {isSent ? 'Context added' : 'Add its context'}
          </Button>
        )}
        <Button small look="plain" onClick={() => go({ ticket: undefined })}>
          Remove ticket
        </Button>
      </span>
    </div>
  );
}
