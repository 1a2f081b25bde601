import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef } from 'react';
import type { RequestRow } from '../../../core/contract/index.js';
import { Proof, placeByKey, rowsOnPage, say } from '../../parts';
import { windowOf } from './body';

const rowHeight = 44;

/** The calls of a session in the order sent: a bar each of what it read, from which one steps into the call. */
export function Calls({ rows, place, onChoose }: { rows: readonly RequestRow[]; place: number; onChoose: (requestId: string) => void }) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({ count: rows.length, getScrollElement: () => scroller.current, estimateSize: () => rowHeight, overscan: 12 });
  useEffect(() => virtual.scrollToIndex(place, { align: 'auto' }), [place, virtual]);
  const most = Math.max(1, ...rows.map((row) => sizeOf(row)));
  return (
    <div className="calls">
      <p className="calls-sum muted">
        {say.plural(rows.length, 'call')} · {say.exact(rows.filter((row) => row.proof === 'digest').length)} proved
      </p>
      <div
        ref={scroller}
        className="calls-scroll"
        role="listbox"
        aria-label="Calls in the order sent"
        tabIndex={0}
        onKeyDown={(event) => {
          const next = rows[placeByKey(event, place, rows.length, rowsOnPage(scroller.current, rowHeight)) ?? -1];
          if (!next) return;
          event.preventDefault();
          event.stopPropagation();
          onChoose(next.requestId);
        }}
      >
        <div style={{ height: virtual.getTotalSize(), position: 'relative' }}>
          {virtual.getVirtualItems().map((item) => {
            const row = rows[item.index];
            return (
              row && (
                <Call
                  key={row.requestId}
                  row={row}
                  number={item.index + 1}
                  most={most}
                  chosen={item.index === place}
                  top={item.start}
                  onChoose={onChoose}
                />
              )
            );
          })}
        </div>
      </div>
    </div>
  );
}

const sizeOf = (row: RequestRow): number => {
  const size = windowOf(row);
  return size ? size.fresh + size.read + size.written : 0;
};

function Call(props: { row: RequestRow; number: number; most: number; chosen: boolean; top: number; onChoose: (requestId: string) => void }) {
  const { row, number, most, chosen, top, onChoose } = props;
  const size = windowOf(row);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the list has the keys
    <div
      className="call"
      role="option"
      aria-selected={chosen}
      tabIndex={-1}
      style={{ top, height: rowHeight }}
      onClick={() => onChoose(row.requestId)}
    >
      <div className="call-line">
        <span className="muted call-number">{number}</span>
        <Proof proof={row.proof} wordless />
        <span className="ellipsis grow">{row.agentId ? `subagent ${row.agentId}` : (row.model ?? 'model not recorded')}</span>
        <span className="muted">{say.when(row.at)}</span>
      </div>
      <div
        className="call-bar"
        title={
          size
            ? `${say.exact(size.read)} read from the cache, ${say.exact(size.written)} written to it, ${say.exact(size.fresh)} fresh`
            : 'usage not recorded'
        }
      >
        {size && (
          <>
            <i className="read" style={{ width: `${(size.read / most) * 100}%` }} />
            <i className="written" style={{ width: `${(size.written / most) * 100}%` }} />
            <i className="fresh" style={{ width: `${(size.fresh / most) * 100}%` }} />
          </>
        )}
      </div>
    </div>
  );
}
