import { type DragEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { type TicketRow, type TicketStatus, ticketMoves, ticketStatuses } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, Button, DamagedMark, type MenuEntry, say, statusNames, TaskProblem, WithContextMenu } from '../../parts';
import { copy, useKeptQuery, useTickets } from '../../state';
import { filterInput, type TicketFilter } from './filter';
import { MoveSheet } from './MoveSheet';
import { Findings, Labels, openTicket, Reviewers, statusColors, statusIcons, TypeMark } from './marks';
import { moveName } from './words';
import { useWriting } from './writing';

/** Cards shown in a column. The list shows the rest. */
const shownInColumn = 100;

/** The card opened last: it gets the focus when the board is shown again. */
let opened: string | undefined;

/** Tickets in columns by status. Cards are moved by dragging, or with the key m. */
export function Board({ revision, filter, onMore }: { revision: string; filter: TicketFilter; onMore: (status: TicketStatus) => void }) {
  const input = filterInput({ ...filter, status: '' });
  const query = useKeptQuery('', `${revision} ${JSON.stringify(input)}`, (signal) =>
    Promise.all(
      ticketStatuses.map(async (status) => ({ status, ...(await api.ticket.overview({ ...input, status, limit: shownInColumn }, { signal })) })),
    ),
  );
  const [dragged, setDragged] = useState<TicketRow>();
  const [moving, setMoving] = useState<{ readonly ticketId: string; readonly to: TicketStatus | undefined }>();
  const [pointed, setPointed] = useState<TicketRow>();
  const actor = useTickets((state) => state.actor);
  const { writing, write } = useWriting();
  const board = useRef<HTMLDivElement>(null);

  const drop = (ticket: TicketRow, to: TicketStatus): void => {
    setDragged(undefined);
    if (to === ticket.status) return;
    // A move that needs no further input happens at once. Others open the sheet.
    const needsNoInput = to === 'blocked' || to === 'deferred' || to === 'open' || (to === 'in_progress' && ticket.assignee !== null);
    if (needsNoInput) void write(() => api.ticket.transition({ ticketId: ticket.ticketId, to, by: actor }));
    else setMoving({ ticketId: ticket.ticketId, to });
  };

  const onKeyDown = (event: KeyboardEvent<HTMLElement>): void => {
    const card = (event.target as HTMLElement).closest<HTMLElement>('.ticket-card');
    if (!card || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = steps[event.key];
    const { ticket: ticketId } = card.dataset;
    if (step) stepTo(event.currentTarget, card, step);
    else if (event.key === 'm' && ticketId) setMoving({ ticketId, to: undefined });
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  const ready = query.status === 'done';
  useEffect(() => {
    if (!ready || opened === undefined) return;
    board.current?.querySelector<HTMLElement>(`[data-ticket="${opened}"]`)?.focus();
    opened = undefined;
  }, [ready]);

  return (
    <>
      <TaskProblem task={writing} />
      <Answer query={query} what="Cannot show the board" loading="Loading tickets" stillWorks="The list may still work.">
        {(columns) => (
          <WithContextMenu label="Ticket" items={pointed ? menuOf(pointed, (to) => drop(pointed, to)) : []}>
            {/* biome-ignore lint/a11y/noStaticElementInteractions: the cards take the keys */}
            <div ref={board} className="board" onKeyDown={onKeyDown}>
              {columns.map(({ status, rows, total }) => (
                <Column
                  key={status}
                  status={status}
                  rows={rows}
                  total={total}
                  dragged={dragged}
                  onDrop={() => dragged && drop(dragged, status)}
                  onMore={() => onMore(status)}
                  onDrag={setDragged}
                  onMenu={setPointed}
                />
              ))}
            </div>
          </WithContextMenu>
        )}
      </Answer>
      {moving && <MoveSheet {...moving} onClose={() => setMoving(undefined)} />}
    </>
  );
}

/** The menu of a card: the same moves as by dragging it. */
const menuOf = (ticket: TicketRow, onMove: (to: TicketStatus) => void): MenuEntry[] => [
  { name: 'Open', keys: 'Enter', act: () => openTicket(ticket.ticketId) },
  'line',
  ...(Object.keys(ticketMoves[ticket.status]) as TicketStatus[]).map((to) => ({
    name: moveName(ticket.status, to),
    icon: statusIcons[to],
    act: () => onMove(to),
  })),
  'line',
  { name: 'Copy id', act: () => void copy(ticket.ticketId) },
];

type Step = 'up' | 'down' | 'left' | 'right';
const steps: Readonly<Record<string, Step>> = {
  ArrowUp: 'up',
  k: 'up',
  ArrowDown: 'down',
  j: 'down',
  ArrowLeft: 'left',
  h: 'left',
  ArrowRight: 'right',
  l: 'right',
};

/** Moves the focus to the neighboring card: within the column, or at the same place in the next column that has cards. */
function stepTo(board: HTMLElement, from: HTMLElement, step: Step): void {
  const columns = [...board.querySelectorAll('.column')].map((column) => [...column.querySelectorAll<HTMLElement>('.ticket-card')]);
  const column = columns.findIndex((cards) => cards.includes(from));
  const place = columns[column]?.indexOf(from) ?? 0;
  if (step === 'up' || step === 'down') {
    columns[column]?.[place + (step === 'down' ? 1 : -1)]?.focus();
    return;
  }
  const beyond = step === 'right' ? columns.slice(column + 1) : columns.slice(0, column).reverse();
  const cards = beyond.find((each) => each.length > 0);
  cards?.[Math.min(place, cards.length - 1)]?.focus();
}

interface ColumnProps {
  readonly status: TicketStatus;
  readonly rows: readonly TicketRow[];
  readonly total: number;
  readonly dragged: TicketRow | undefined;
  readonly onDrop: () => void;
  readonly onMore: () => void;
  readonly onDrag: (ticket: TicketRow | undefined) => void;
  readonly onMenu: (ticket: TicketRow) => void;
}

function Column({ status, rows, total, dragged, onDrop, onMore, ...ofCards }: ColumnProps) {
  const [over, setOver] = useState(false);
  const accepts = dragged && (dragged.status === status || ticketMoves[dragged.status][status] !== undefined);
  const Glyph = statusIcons[status];
  const allow = (event: DragEvent): void => {
    if (!accepts) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = 'move';
    setOver(true);
  };
  return (
    <section
      className={`column ${status}`}
      aria-label={`${statusNames[status]}, ${say.plural(total, 'ticket')}`}
      data-takes={accepts === undefined ? undefined : accepts ? 'yes' : 'no'}
      data-over={over && accepts ? 'yes' : undefined}
      onDragOver={allow}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        onDrop();
      }}
    >
      <h2 className="ticket-status rigid nowrap inline-row" style={{ color: statusColors[status] }}>
        <Glyph size={13} aria-hidden />
        {statusNames[status]}
        <span className="muted">{say.exact(total)}</span>
      </h2>
      {dragged && !accepts && (
        <p className="column-refuses small">
          Cannot move from {statusNames[dragged.status]} to {statusNames[status]}
        </p>
      )}
      <ul>
        {rows.map((ticket) => (
          <Card key={ticket.ticketId} ticket={ticket} {...ofCards} />
        ))}
      </ul>
      {total > rows.length && <Button small look="plain" label={`${say.exact(total - rows.length)} more in the list`} onClick={onMore} />}
      {total === 0 && <p className="column-empty small muted">No tickets</p>}
    </section>
  );
}

function Card({ ticket, onDrag, onMenu }: { ticket: TicketRow } & Pick<ColumnProps, 'onDrag' | 'onMenu'>) {
  return (
    <li>
      <button
        type="button"
        className="ticket-card"
        draggable
        data-ticket={ticket.ticketId}
        aria-keyshortcuts="m"
        title={`${ticket.ticketId}  ${ticket.title}\nEnter opens it, m moves it`}
        onClick={() => {
          opened = ticket.ticketId;
          openTicket(ticket.ticketId);
        }}
        onContextMenu={() => onMenu(ticket)}
        onDragStart={(event) => {
          event.dataTransfer.effectAllowed = 'move';
          event.dataTransfer.setData('text/plain', ticket.ticketId);
          onDrag(ticket);
        }}
        onDragEnd={() => onDrag(undefined)}
      >
        <span className="ticket-card-top row wrap small">
          <TypeMark type={ticket.type} />
          <span className="grow" />
          <span className="mono muted" title={ticket.parent ? `Under ${ticket.parent}` : undefined}>
            {say.shortId(ticket.ticketId)}
          </span>
        </span>
        <span className="ticket-card-title breaks">
          {ticket.damaged && <DamagedMark />}
          {ticket.title}
        </span>
        <span className="ticket-card-facts row wrap small">
          {ticket.ready && ticket.type !== 'review_finding' && <span className="badge ticket-ready">ready</span>}
          <Findings findings={ticket.findings} />
          <Labels labels={ticket.labels} most={3} />
          {ticket.status === 'review' && <Reviewers reviewers={ticket.reviewers} />}
          <span className="grow" />
          {ticket.assignee && <span className="muted ellipsis">{ticket.assignee}</span>}
        </span>
      </button>
    </li>
  );
}
