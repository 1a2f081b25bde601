/** biome-ignore-all lint/a11y/useSemanticElements: the rows of a virtual list are placed freely, which table rows cannot be */
/** biome-ignore-all lint/a11y/useFocusableInteractive: the grid has the focus and names the active row */
/** biome-ignore-all lint/a11y/noNoninteractiveElementToInteractiveRole: a time is a cell like the others */
import { type KeyboardEvent, useState } from 'react';
import type { SessionSort } from '../../../core/contract/index.js';
import { type MenuEntry, placeByKey, rowsOnPage, runByKey, useVirtualRows, WithContextMenu } from '../../parts';
import { openSession, sessionActions } from './actions';
import type { Order, SessionListRow } from './rows';
import { SessionCells } from './SessionCells';

const headHeight = 26;
const rowHeight = 28;
const groupHeight = 30;

const columns: readonly (readonly [id: SessionSort, name: string, className: string])[] = [
  ['title', 'Title', 'c-title row'],
  ['agent', 'Agent', 'c-agent'],
  ['repository', 'Repository', 'c-repository'],
  ['lastAt', 'Last activity', 'c-time num'],
  ['turns', 'Turns', 'c-turns num'],
  ['branches', 'Branches', 'c-branches num'],
  ['peakTokens', 'Peak context', 'c-peak'],
  ['cost', 'Cost', 'c-cost num'],
  ['errors', 'Errors', 'c-errors num'],
];
/** The initial sort direction: text columns ascending, columns of numbers and times descending. */
const startAscending: readonly SessionSort[] = ['title', 'agent', 'repository'];

interface SessionTableProps {
  readonly rows: readonly SessionListRow[];
  readonly order: Order;
  readonly names: ReadonlyMap<string, string>;
  readonly hits: ReadonlyMap<string, string>;
  readonly sought: string;
  readonly onOrder: (order: Order) => void;
  readonly onToggle: (key: string) => void;
}

/** The words to which a session scrolls when it opens: words in its content but not in its title. */
const soughtIn = ({ key, listed }: SessionListRow & { kind: 'session' }, { hits, sought }: SessionTableProps): string | undefined =>
  hits.has(key) && !listed.title.toLowerCase().includes(sought.toLowerCase()) ? sought : undefined;

function useActiveRow(props: SessionTableProps) {
  const { rows, onToggle } = props;
  const [active, setActive] = useState<string>();
  const { scroller, virtual } = useVirtualRows(rows.length, (n) => (rows[n]?.kind === 'group' ? groupHeight : rowHeight), {
    getItemKey: (n) => rows[n]?.key ?? n,
    overscan: 12,
    // The head stays in view above the rows. The virtual list does not count it.
    scrollPaddingEnd: headHeight,
  });
  const at = rows.findIndex(({ key }) => key === active);
  const select = (n: number): void => {
    setActive(rows[n]?.key);
    virtual.scrollToIndex(n, { align: 'auto' });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.target !== event.currentTarget) return;
    const next = placeByKey(event, at, rows.length, rowsOnPage(scroller.current, rowHeight));
    const row = rows[at];
    if (next !== undefined) {
      // Headings cannot be selected: the selection steps over them.
      const beyond = rows[next]?.kind === 'group' ? next + (next < at ? -1 : 1) : next;
      select(rows[beyond]?.kind === 'session' ? beyond : Math.min(rows.length - 1, next + 1));
    } else if (row?.kind !== 'session' || event.ctrlKey || event.metaKey || event.altKey) return;
    else if (event.key === 'Enter') openSession(row.listed, 'chain', soughtIn(row, props));
    else if ((event.key === 'ArrowRight' && row.open === false) || (event.key === 'ArrowLeft' && row.open)) onToggle(row.key);
    else if (!runByKey(sessionActions(row.listed), event.key)) return;
    event.preventDefault();
  };
  return { scroller, virtual, at, setActive, onKeyDown };
}

/** The sessions as a sortable, virtual list with keyboard navigation. */
export function SessionTable(props: SessionTableProps) {
  const { rows, order, hits, onOrder, onToggle } = props;
  const [menu, setMenu] = useState<readonly MenuEntry[]>([]);
  const { scroller, virtual, at, setActive, onKeyDown } = useActiveRow(props);
  return (
    <WithContextMenu items={menu} label="Session">
      <div
        ref={scroller}
        data-list
        className="sessions-table quiet-focus rest"
        role="treegrid"
        aria-label="Sessions"
        aria-rowcount={rows.length + 1}
        tabIndex={0}
        aria-activedescendant={at >= 0 ? `session-${at}` : undefined}
        onKeyDown={onKeyDown}
      >
        <Head order={order} onOrder={onOrder} />
        <div role="rowgroup" style={{ height: virtual.getTotalSize(), position: 'relative' }}>
          {virtual.getVirtualItems().map((item) => {
            const row = rows[item.index];
            if (!row) return null;
            const place = { top: item.start, height: item.size };
            if (row.kind === 'group') {
              return (
                <div key={row.key} role="row" className="sessions-group line-below" style={place}>
                  <span role="gridcell" aria-colspan={columns.length}>
                    <b>{row.name}</b> {row.count}
                  </span>
                </div>
              );
            }
            return (
              <SessionCells
                key={row.key}
                id={`session-${item.index}`}
                row={row}
                place={place}
                selected={item.index === at}
                names={props.names}
                snippet={hits.get(row.key)}
                sought={soughtIn(row, props)}
                onToggle={() => onToggle(row.key)}
                onMenu={() => {
                  setActive(row.key);
                  setMenu(sessionActions(row.listed));
                }}
              />
            );
          })}
        </div>
      </div>
    </WithContextMenu>
  );
}

function Head({ order, onOrder }: Pick<SessionTableProps, 'order' | 'onOrder'>) {
  return (
    <div role="row" className="sessions-head nowrap line-below">
      {columns.map(([id, name, className]) => (
        <span
          key={id}
          role="columnheader"
          className={className}
          aria-sort={order.by === id ? (order.ascending ? 'ascending' : 'descending') : 'none'}
        >
          <button
            type="button"
            title={`Sort by ${name.toLowerCase()}`}
            onClick={() => onOrder({ by: id, ascending: order.by === id ? !order.ascending : startAscending.includes(id) })}
          >
            {name}
            {order.by === id && <span aria-hidden>{order.ascending ? ' ↑' : ' ↓'}</span>}
          </button>
        </span>
      ))}
    </div>
  );
}
