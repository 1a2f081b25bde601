import { type KeyboardEvent, useEffect, useMemo, useState } from 'react';
import type { TicketRow } from '../../../core/contract/index.js';
import { api } from '../../client';
import { DamagedMark, Empty, Failure, Loading, placeByKey, rowsOnPage, say, useVirtualRows, When } from '../../parts';
import { createRanges, type Ranges, useRanges } from '../../state';
import { filterInput, type TicketFilter } from './filter';
import { MoveSheet } from './MoveSheet';
import { Findings, Labels, openTicket, Reviewers, StatusMark, TypeMark } from './marks';

const pageSize = 200;
const rowHeight = 30;

/** The list as it was left: opening a ticket and coming back keeps rows, selection and scroll position. */
interface Left {
  readonly id: string;
  readonly pages: Ranges<TicketRow>;
  at: number;
  offset: number;
}
let left: Left | undefined;

/** Tickets as rows, most recently changed first. Pages load as they come into view and reload in place when a ticket changes. */
export function TicketList({ project, revision, filter, onClear }: { project: string; revision: string; filter: TicketFilter; onClear: () => void }) {
  const input = JSON.stringify(filterInput(filter));
  const id = `${project} ${input}`;
  const list = useMemo(() => {
    if (left?.id !== id) {
      const pages = createRanges<TicketRow>(pageSize, (offset, limit) => api.ticket.overview({ ...JSON.parse(input), offset, limit }));
      left = { id, pages, at: 0, offset: 0 };
    }
    return left;
  }, [id, input]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new revision reloads the list
  useEffect(() => list.pages.renew(), [list, revision]);
  return <Rows key={id} list={list} onClear={onClear} />;
}

function Rows({ list, onClear }: { list: Left; onClear: () => void }) {
  const rows = useRanges(list.pages);
  const total = rows.total();
  const [chosen, setChosen] = useState(list.at);
  const at = Math.max(0, Math.min(chosen, (total ?? 1) - 1));
  const [moving, setMoving] = useState<string>();
  const { scroller, virtual } = useVirtualRows(total ?? 0, rowHeight, {
    overscan: 12,
    initialOffset: list.offset,
    onChange: ({ scrollOffset }) => {
      if (scrollOffset !== null) list.offset = scrollOffset;
    },
  });
  const setAt = (place: number): void => {
    list.at = place;
    setChosen(place);
  };
  const items = virtual.getVirtualItems();
  const [first, last] = [items[0]?.index ?? 0, items.at(-1)?.index ?? 0];
  useEffect(() => rows.need(first, last + 1), [rows, first, last]);

  const problem = rows.problem();
  if (problem !== undefined && total === undefined)
    return <Failure what="Cannot show the list" error={problem} onRetry={rows.retry} stillWorks="Nothing in the project was changed." />;
  if (total === undefined) return <Loading what="Loading tickets" lines={14} />;
  if (total === 0)
    return (
      <Empty title="No matching tickets" acts={[{ name: 'Clear the filters', act: onClear }]}>
        Tickets that match the filters appear here.
      </Empty>
    );

  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const next = placeByKey(event, at, total, rowsOnPage(scroller.current, rowHeight));
    const ticket = rows.at(at);
    if (next !== undefined) {
      setAt(next);
      virtual.scrollToIndex(next, { align: 'auto' });
    } else if (event.key === 'Enter' && ticket) openTicket(ticket.ticketId);
    else if (event.key === 'm' && ticket) setMoving(ticket.ticketId);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <div
        ref={scroller}
        className="overflows"
        role="listbox"
        aria-label="Tickets, most recently changed first"
        aria-activedescendant={`ticket-row-${at}`}
        tabIndex={0}
        data-list
        onKeyDown={onKeyDown}
      >
        <div style={{ height: virtual.getTotalSize(), position: 'relative' }} role="presentation">
          {items.map((item) => (
            <Row
              key={item.key}
              place={item.index}
              top={item.start}
              ticket={rows.at(item.index)}
              chosen={item.index === at}
              onOpen={(ticket) => {
                setAt(item.index);
                openTicket(ticket.ticketId);
              }}
            />
          ))}
        </div>
      </div>
      {moving && <MoveSheet ticketId={moving} to={undefined} onClose={() => setMoving(undefined)} />}
    </>
  );
}

function Row(props: { place: number; top: number; ticket: TicketRow | undefined; chosen: boolean; onOpen: (ticket: TicketRow) => void }) {
  const { place, top, ticket, chosen, onOpen } = props;
  if (!ticket) return <div className="ticket-row selectable row" style={{ top }} aria-hidden />;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the listbox handles the keys of its options
    // biome-ignore lint/a11y/useFocusableInteractive: the listbox has the focus and names its active option
    <div
      id={`ticket-row-${place}`}
      role="option"
      aria-selected={chosen}
      className="ticket-row selectable row"
      style={{ top }}
      data-ticket={ticket.ticketId}
      title={ticket.title}
      onClick={() => onOpen(ticket)}
    >
      <span className="mono muted ticket-row-id nowrap" title={ticket.ticketId}>
        {say.shortId(ticket.ticketId)}
      </span>
      <StatusMark status={ticket.status} />
      <span className="ellipsis grow">
        {ticket.damaged && <DamagedMark />}
        {ticket.title}
        <Labels labels={ticket.labels} most={3} />
      </span>
      <Findings findings={ticket.findings} />
      {ticket.ready && ticket.type !== 'review_finding' && <span className="badge ticket-ready">ready</span>}
      <span className="ticket-row-people muted small ellipsis">
        {ticket.status === 'review' ? <Reviewers reviewers={ticket.reviewers} /> : ticket.assignee}
      </span>
      <TypeMark type={ticket.type} />
      <When at={ticket.updatedAt} className="muted ticket-row-time small" />
    </div>
  );
}
