import { useVirtualizer, type Virtualizer, type VirtualizerOptions } from '@tanstack/react-virtual';
import { type HTMLAttributes, type Key, type KeyboardEvent, type ReactNode, useRef } from 'react';

/** A list that draws only the rows in view. */
export type VirtualRows = Virtualizer<HTMLDivElement, Element>;

/** A list of `count` rows that draws only those in view, and the element in which it scrolls. `height`: of a row in pixels, or its estimate. */
export function useVirtualRows(
  count: number,
  height: number | ((row: number) => number),
  options: Partial<VirtualizerOptions<HTMLDivElement, Element>>,
) {
  const scroller = useRef<HTMLDivElement>(null);
  const estimateSize = typeof height === 'number' ? () => height : height;
  const virtual: VirtualRows = useVirtualizer({ count, getScrollElement: () => scroller.current, estimateSize, ...options });
  return { scroller, virtual };
}

interface MeasuredRow {
  readonly key: Key;
  readonly index: number;
  readonly start: number;
  readonly size: number;
}

interface MeasuredRowsProps {
  readonly virtual: VirtualRows;
  /** `ol` makes the rows items of a list. */
  readonly as?: 'div' | 'ol';
  /** Attributes of each row. */
  readonly attributes?: (item: MeasuredRow) => HTMLAttributes<HTMLElement> & Readonly<Record<`data-${string}`, string | undefined>>;
  readonly children: (item: MeasuredRow) => ReactNode;
}

/** The visible rows of a list whose rows are as high as their content. */
export function MeasuredRows({ virtual, as: List = 'div', attributes, children }: MeasuredRowsProps) {
  const items = virtual.getVirtualItems();
  const Row = List === 'ol' ? 'li' : 'div';
  return (
    <div style={{ height: virtual.getTotalSize(), position: 'relative' }}>
      <List style={{ transform: `translateY(${items[0]?.start ?? 0}px)` }}>
        {items.map((item) => (
          <Row key={item.key} data-index={item.index} ref={virtual.measureElement} {...attributes?.(item)}>
            {children(item)}
          </Row>
        ))}
      </List>
    </div>
  );
}

/** The values with one more, or without it if it is among them. */
export function toggled<T>(values: ReadonlySet<T>, value: T): ReadonlySet<T> {
  const next = new Set(values);
  if (!next.delete(value)) next.add(value);
  return next;
}

interface Pressed {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
}

/** The row that a key selects in a list of `count` rows with `page` visible ones; undefined for other keys. */
export function placeByKey({ key, ctrlKey, metaKey, altKey }: Pressed, at: number, count: number, page = 20): number | undefined {
  if (ctrlKey || metaKey || altKey || count === 0) return undefined;
  const steps: Record<string, number> = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -count, End: count };
  const by = steps[key];
  return by === undefined ? undefined : Math.max(0, Math.min(count - 1, at + by));
}

/** Selects the row that a key selects. `choose` receives the row and its place. */
export function selectByKey<T>(event: KeyboardEvent, rows: readonly T[], at: number, page: number, choose: (row: T, place: number) => void): void {
  const place = placeByKey(event, at, rows.length, page) ?? -1;
  const row = rows[place];
  if (row === undefined) return;
  event.preventDefault();
  choose(row, place);
}

/** Rows per page key: one less than visible, so that one row stays in view. */
export const rowsOnPage = (scroller: Element | null, rowHeight: number): number =>
  Math.max(1, Math.floor((scroller?.clientHeight ?? 400) / rowHeight) - 1);
