import type { ContextId, GraphRow, RowFacts } from '../../../core/contract/index.js';
import type { VirtualRows } from '../../parts';
import type { CompactionLosses, TicketAtCommit } from '../../state';
import { CommitRow, FoldRow } from './CommitRow';
import { graphWidth, LinkLine } from './Lanes';
import type { List } from './useList';

interface ChainRowsProps {
  readonly list: List;
  readonly listId: string;
  readonly items: ReturnType<VirtualRows['getVirtualItems']>;
  readonly height: number;
  readonly isFiltered: boolean;
  readonly selected: ContextId | undefined;
  readonly against: ContextId | undefined;
  readonly tickets: ReadonlyMap<ContextId, readonly TicketAtCommit[]>;
  readonly facts: ReadonlyMap<ContextId, RowFacts>;
  readonly losses: ReadonlyMap<ContextId, CompactionLosses>;
  readonly onMenu: (row: GraphRow) => void;
  readonly onOpen: (at: number) => void;
}

/** The visible rows of the chain, and the lines from subagents to the calls that started them. */
export function ChainRows({ list, listId, items, height, isFiltered, selected, against, onMenu, onOpen, ...known }: ChainRowsProps) {
  const { tickets, facts, losses } = known;
  const width = graphWidth(list.lanes);
  const [first = 0, last = 0] = [items[0]?.index, items.at(-1)?.index];
  const visibleLinks = list.links.filter(({ from, to }) => Math.min(from.row, to.row) <= last && Math.max(from.row, to.row) >= first);
  return (
    <div style={{ height, position: 'relative' }} role="presentation">
      <svg className="lane-links" width={width} height={1} aria-hidden focusable="false">
        {visibleLinks.map((link) => (
          <LinkLine key={`${link.from.row} ${link.to.row}`} link={link} />
        ))}
      </svg>
      {items.map((item) => {
        const listed = list.itemAt(item.index);
        const row = list.rows.at(listed.at);
        const top = item.start;
        if (!row) return <div key={item.key} className="chain-row selectable row unread" style={{ top }} aria-hidden />;
        if (listed.kind === 'fold')
          return <FoldRow key={item.key} top={top} width={width} row={row} commits={listed.end - listed.at} onOpen={() => onOpen(listed.at)} />;
        return (
          <CommitRow
            key={item.key}
            id={`${listId}-${item.index}`}
            top={top}
            row={row}
            width={width}
            most={list.most}
            alone={isFiltered}
            chosen={row.commit.id === selected}
            second={row.commit.id === against}
            tickets={tickets.get(row.commit.id)}
            facts={facts.get(row.commit.id)}
            losses={losses.get(row.commit.id)}
            onMenu={onMenu}
          />
        );
      })}
    </div>
  );
}
