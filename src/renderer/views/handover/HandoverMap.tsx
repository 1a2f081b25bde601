import { Bot, User } from 'lucide-react';
import { type KeyboardEvent, useEffect, useMemo } from 'react';
import type { Agent } from '../../../core/contract/index.js';
import { DamagedMark, rowsOnPage, say, selectByKey, useVirtualRows, When } from '../../parts';
import { go, move } from '../../state';
import { type Arrow, arrangeColumns, arrowsOf, type MapColumn, type MapTurn, toolNames } from './map';

const columnWidth = 148;
const rowHeight = 54;
const timeWidth = 60;

const middle = (column: number): number => timeWidth + column * columnWidth + columnWidth / 2;
const laneOf = (place: number): string => `var(--lane-${place % 8})`;

/** A map of handovers: agents as columns, handovers as arrows, oldest at the top. */
export function HandoverMap({ map, chosen }: { map: { agents: readonly Agent[]; turns: readonly MapTurn[] }; chosen: string | undefined }) {
  const columns = useMemo(() => arrangeColumns(map.agents, map.turns), [map]);
  const arrows = useMemo(() => arrowsOf(columns, map.turns), [columns, map]);
  const { scroller, virtual } = useVirtualRows(arrows.length, rowHeight, { overscan: 8 });
  const width = timeWidth + columns.length * columnWidth;
  const at = arrows.findIndex(({ turn }) => turn.agentTurnId === chosen);
  const near = arrows[at] && Math.min(arrows[at].from, arrows[at].to);
  // The pane of a selected handover narrows the map; the selection stays in view.
  useEffect(() => {
    if (near !== undefined) scroller.current?.scrollTo({ left: near * columnWidth });
  }, [near, scroller]);
  const onKeyDown = (event: KeyboardEvent) =>
    selectByKey(event, arrows, at, rowsOnPage(scroller.current, rowHeight), ({ turn }, place) => {
      move({ turn: turn.agentTurnId });
      virtual.scrollToIndex(place);
    });
  return (
    <div
      ref={scroller}
      className="handover-scroll shrinks"
      role="listbox"
      aria-label="Handovers, oldest first"
      tabIndex={0}
      data-list
      onKeyDown={onKeyDown}
      aria-activedescendant={at < 0 ? undefined : `arrow-${at}`}
    >
      <div className="handover-heads" style={{ width }}>
        {columns.map((column, place) => (
          <ColumnHead key={column.agentId} column={column} place={place} />
        ))}
      </div>
      <div style={{ height: virtual.getTotalSize() + 24, width, position: 'relative' }}>
        {columns.map((column, place) => (
          <i key={column.agentId} className="lifeline" style={{ left: middle(place), borderColor: laneOf(place) }} aria-hidden />
        ))}
        {virtual.getVirtualItems().map((item) => {
          const arrow = arrows[item.index];
          return (
            arrow && (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the list handles the keys
              // biome-ignore lint/a11y/useFocusableInteractive: the list has the focus and names the active row
              <div
                key={arrow.turn.agentTurnId}
                id={`arrow-${item.index}`}
                role="option"
                aria-selected={arrow.turn.agentTurnId === chosen}
                className="arrow-row"
                style={{ height: rowHeight, width, transform: `translateY(${item.start}px)` }}
                onClick={() => go({ turn: arrow.turn.agentTurnId === chosen ? undefined : arrow.turn.agentTurnId })}
              >
                <span className="unseen">
                  {columnName(columns[arrow.from])} {toolNames[arrow.turn.tool] ?? arrow.turn.tool} {columnName(columns[arrow.to])}:{' '}
                </span>
                <ArrowView arrow={arrow} />
              </div>
            )
          );
        })}
      </div>
    </div>
  );
}

const columnName = (column: MapColumn | undefined): string =>
  column ? `${column.name}${column.number === undefined ? '' : ` ${column.number}`}` : '';

function ColumnHead({ column, place }: { column: MapColumn; place: number }) {
  const Glyph = column.agent ? Bot : User;
  return (
    <div className="column-head stack" style={{ left: timeWidth + place * columnWidth, width: columnWidth }} title={column.agentId}>
      <span className="column-name row">
        <Glyph size={13} aria-hidden color={laneOf(place)} />
        <span className="ellipsis">{columnName(column)}</span>
        {column.agent?.damaged && <DamagedMark />}
      </span>
      <span className="muted column-state">{column.agent ? column.agent.status : 'not an agent'}</span>
    </div>
  );
}

function ArrowView({ arrow: { turn, from, to, part } }: { arrow: Arrow }) {
  const [x, end] = [middle(from), middle(to)];
  const itself = from === to;
  const left = itself ? x + 8 : Math.min(x, end) + 8;
  const width = itself ? columnWidth - 16 : Math.abs(end - x) - 16;
  const line = rowHeight - 16;
  const way = end >= x ? 1 : -1;
  return (
    <>
      <svg className="arrow" aria-hidden width="100%" height={rowHeight} style={{ color: laneOf(from) }}>
        <circle cx={x} cy={line} r={3} fill="currentColor" />
        {itself ? (
          <path d={`M ${x} ${line} h 22 v 10 h -14`} fill="none" stroke="currentColor" strokeWidth={1.5} />
        ) : (
          <path d={`M ${x} ${line} H ${end - way * 5}`} stroke="currentColor" strokeWidth={1.5} />
        )}
        <path d={itself ? `M ${x + 6} ${line + 10} l 6 -4 v 8 z` : `M ${end} ${line} l ${-way * 7} -4.5 v 9 z`} fill="currentColor" />
      </svg>
      <span className="arrow-words" style={{ left, width }}>
        <span className="arrow-stays ellipsis">{turn.instruction ?? toolNames[turn.tool] ?? turn.tool}</span>
      </span>
      <span className="arrow-facts muted" style={{ left, width, top: line + 4 }}>
        <span className="arrow-stays">
          {say.plural(turn.cards, 'card')} · {part && `${part} · `}
          <span className={`status-${turn.status}`}>{turn.status}</span>
        </span>
      </span>
      <When at={turn.createdAt} className="arrow-time muted" />
    </>
  );
}
