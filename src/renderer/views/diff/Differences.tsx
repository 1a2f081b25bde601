import { ChevronDown, ChevronUp } from 'lucide-react';
import { type ReactNode, useMemo, useState } from 'react';
import type { ContextId } from '../../../core/contract/index.js';
import { IconButton, LinkButton, MeasuredRows, say, useVirtualRows } from '../../parts';
import { go } from '../../state';

type DifferenceList = ReturnType<typeof useDifferences>;

/**
 * The virtual list of a comparison's rows. A row that is not of kind `same` is one of the differences, and `at` is the place of the current one
 * among them. `toNext` scrolls from one to the next, `toRow` to a row.
 */
export function useDifferences(rows: readonly { readonly kind: string }[]) {
  const { scroller, virtual } = useVirtualRows(rows.length, (n) => (rows[n]?.kind === 'same' ? 34 : 180), { overscan: 4 });
  const differing = useMemo(() => rows.flatMap((row, n) => (row.kind === 'same' ? [] : [n])), [rows]);
  const [at, setAt] = useState(0);
  const toRow = (row: number) => {
    const place = differing.indexOf(row);
    if (place >= 0) setAt(place);
    virtual.scrollToIndex(row, { align: 'start' });
  };
  const toNext = (by: number) => {
    const next = differing[at + by];
    if (next !== undefined) toRow(next);
  };
  return { scroller, virtual, differing, at, toNext, toRow };
}

/** Draws the list. `within` wraps the rows in an element that scrolls with them. */
export function Differences(props: { list: DifferenceList; within?: (rows: ReactNode) => ReactNode; children: (row: number) => ReactNode }) {
  const { list, within = (rows) => rows, children } = props;
  const { scroller, virtual, toNext } = list;
  return (
    <section
      ref={scroller}
      data-list
      className="diff-scroll overflows"
      aria-label="Differences"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling list must be reachable by keyboard
      tabIndex={0}
      onKeyDown={(event) => {
        if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey) return;
        const by = event.key === 'j' ? 1 : event.key === 'k' ? -1 : 0;
        if (by) toNext(by);
      }}
    >
      {within(<MeasuredRows virtual={virtual}>{({ index }) => children(index)}</MeasuredRows>)}
    </section>
  );
}

/** The number of the current difference, and buttons to the previous and the next one. */
export const Steps = ({ list: { toNext, differing, at } }: { list: DifferenceList }) => (
  <span className="diff-steps inline-row gap-4">
    {differing.length > 0 && (
      <span className="muted" role="status">
        Change <b>{say.exact(at + 1)}</b> of {say.exact(differing.length)}
      </span>
    )}
    <IconButton small icon={ChevronUp} label="Previous difference" keys="k" disabled={at <= 0} onClick={() => toNext(-1)} />
    <IconButton small icon={ChevronDown} label="Next difference" keys="j" disabled={at + 1 >= differing.length} onClick={() => toNext(1)} />
  </span>
);

/** A link to the last common ancestor of the compared commits. */
export const Ancestor = ({ base }: { base: ContextId | null }) => (
  <span className="muted diff-ancestor">
    {base ? (
      <>
        common ancestor <LinkButton className="mono" label={say.shortId(base)} onClick={() => go({ view: 'chain', commit: base })} />
      </>
    ) : (
      'no common ancestor'
    )}
  </span>
);
