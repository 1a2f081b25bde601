import type { KeyboardEvent, ReactNode } from 'react';
import { rowsOnPage, selectByKey, useVirtualRows } from '../../parts';

/** A virtual list with keyboard navigation (arrows, j and k). */
export function Rows<T>(props: {
  label: string;
  rows: readonly T[];
  height: number;
  idOf: (row: T) => string;
  chosen: string | undefined;
  onChoose: (row: T) => void;
  children: (row: T) => ReactNode;
}) {
  const { label, rows, height, idOf, chosen, onChoose, children } = props;
  const { scroller, virtual } = useVirtualRows(rows.length, height, { overscan: 10 });
  const at = rows.findIndex((row) => idOf(row) === chosen);
  const onKeyDown = (event: KeyboardEvent) =>
    selectByKey(event, rows, at, rowsOnPage(scroller.current, height), (row, place) => {
      onChoose(row);
      virtual.scrollToIndex(place);
    });
  return (
    <div
      ref={scroller}
      className="overflows"
      role="listbox"
      aria-label={label}
      tabIndex={0}
      data-list
      onKeyDown={onKeyDown}
      aria-activedescendant={at < 0 ? undefined : `row-${at}`}
    >
      <div style={{ height: virtual.getTotalSize(), position: 'relative' }}>
        {virtual.getVirtualItems().map((item) => {
          const row = rows[item.index];
          if (row === undefined) return null;
          return (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the list handles the keys
            // biome-ignore lint/a11y/useFocusableInteractive: the list has the focus and names the active row
            <div
              key={idOf(row)}
              id={`row-${item.index}`}
              role="option"
              aria-selected={item.index === at}
              className="boxes-row selectable"
              style={{ height, transform: `translateY(${item.start}px)` }}
              onClick={() => onChoose(row)}
            >
              {children(row)}
            </div>
          );
        })}
      </div>
    </div>
  );
}
