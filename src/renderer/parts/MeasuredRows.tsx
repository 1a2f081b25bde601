import type { HTMLAttributes, Key, ReactNode } from 'react';

interface MeasuredRow {
  readonly key: Key;
  readonly index: number;
  readonly start: number;
  readonly size: number;
}

interface MeasuredRowsProps {
  /** The list as `useVirtualizer` returns it. */
  readonly virtual: {
    readonly getVirtualItems: () => readonly MeasuredRow[];
    readonly getTotalSize: () => number;
    readonly measureElement: (element: Element | null) => void;
  };
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
