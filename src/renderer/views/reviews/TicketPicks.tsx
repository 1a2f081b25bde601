import { X } from 'lucide-react';
import { useId, useState } from 'react';
import { api } from '../../client';
import { describeProblem, IconButton, Input, LinkButton, say, statusNames } from '../../parts';
import { useKeptQuery } from '../../state';
import { openFirst } from './words';

interface TicketPicksProps {
  readonly label: string;
  readonly hint: string;
  readonly chosen: readonly string[];
  /** The ticket that cannot be chosen, because it is the one that chooses. */
  readonly except: string | undefined;
  readonly onChange: (chosen: readonly string[]) => void;
}

const maxMatches = 20;

/** Tickets that are found by their words and chosen from a list. */
export function TicketPicks({ label, hint, chosen, except, onChange }: TicketPicksProps) {
  const id = useId();
  const [words, setWords] = useState('');
  const text = words.trim();
  const found = useKeptQuery('tickets', `pick ${text}`, () => api.ticket.overview({ limit: 200, ...(text && { text }) }));
  const named = useKeptQuery('named', `picked ${chosen.join(' ')}`, () => api.ticket.overview({ ids: [...chosen] }));
  const titles = new Map([found, named].flatMap((query) => (query.status === 'done' ? query.data.rows.map((row) => [row.ticketId, row.title]) : [])));
  const rows = found.status === 'done' ? openFirst(found.data.rows).filter(({ ticketId }) => ticketId !== except && !chosen.includes(ticketId)) : [];
  return (
    <fieldset className="ticket-field form-picks">
      <legend>{label}</legend>
      <ol className="picked" aria-label={`${label}, chosen`}>
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
        id={id}
        type="search"
        label={`Find a ticket for ${label}`}
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
      <ul className="picks" aria-label={`Tickets for ${label}`}>
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
      <p className="muted small">{hint}</p>
    </fieldset>
  );
}
