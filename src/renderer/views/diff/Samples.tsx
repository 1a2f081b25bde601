import { useVirtualizer } from '@tanstack/react-virtual';
import { BookOpen, ChevronDown, ChevronUp } from 'lucide-react';
import { useEffect, useMemo, useRef } from 'react';
import type { ContextId, Entry, SideBySide } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, Empty, EntryView, IconButton, Id, say } from '../../parts';
import { entriesOf, go, type Ranges, useNavigation, useQuery, useRanges } from '../../state';
import { ExportComparison, Took } from './Head';
import { type SampleRow, sampleRows } from './parts';

/** Several contexts beside each other, a column each: the samples of a run, or whatever else was chosen. */
export function Samples({ project, ids }: { project: string; ids: readonly ContextId[] }) {
  const { stop = 'compaction' } = useNavigation(({ route }) => route);
  const query = useQuery(`${project} ${ids.join(' ')} ${stop}`, (signal) => api.turn.compareMany({ ids: [...ids], stop }, { signal }));
  return (
    <Answer query={query} what="These contexts cannot be compared" loading="Comparing" stillWorks="Two of them can still be compared." lines={12}>
      {(compared) => <Columns key={ids.join(' ')} project={project} ids={ids} compared={compared} />}
    </Answer>
  );
}

function Columns({ project, ids, compared }: { project: string; ids: readonly ContextId[]; compared: SideBySide }) {
  const rows = useMemo(() => sampleRows(compared.rows), [compared]);
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (n) => (rows[n]?.kind === 'same' ? 34 : 180),
    overscan: 4,
  });
  const items = virtual.getVirtualItems();
  const differing = useMemo(() => rows.flatMap((row, n) => (row.kind === 'same' ? [] : [n])), [rows]);
  const top = virtual.getVirtualItemForOffset((virtual.scrollOffset ?? 0) + 8)?.index ?? 0;
  const toNext = (by: number) => {
    const next = by > 0 ? differing.find((n) => n > top) : differing.findLast((n) => n < top);
    if (next !== undefined) virtual.scrollToIndex(next, { align: 'start' });
  };
  const same = compared.rows.filter((row) => row.same).length;
  const columns = { '--columns': ids.length } as React.CSSProperties;
  return (
    <section className="diff samples" aria-label="Side by side">
      <div className="diff-tools">
        <span className="diff-counts">
          <span>{say.exact(same)} the same in all</span>
          <span className="changed">~{say.exact(compared.rows.length - same)} differ</span>
        </span>
        <span className="muted">
          {compared.base ? (
            <>
              common ancestor{' '}
              <button type="button" className="link-button mono" onClick={() => go({ view: 'chain', commit: compared.base ?? undefined })}>
                {say.shortId(compared.base)}
              </button>
            </>
          ) : (
            'no common ancestor'
          )}
        </span>
        <span className="grow" />
        <ExportComparison ids={ids} />
        <IconButton small icon={ChevronUp} label="Previous difference" keys="k" onClick={() => toNext(-1)} />
        <IconButton small icon={ChevronDown} label="Next difference" keys="j" onClick={() => toNext(1)} />
      </div>
      {differing.length === 0 ? (
        <Empty title="All of them are the same">Every one of their {say.plural(same, 'entry', 'entries')} is in each.</Empty>
      ) : (
        <section
          ref={scroller}
          data-list
          className="diff-scroll"
          aria-label="Differences"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a list that scrolls is reached by keyboard
          tabIndex={0}
          onKeyDown={(event) => {
            if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey) return;
            const by = event.key === 'j' ? 1 : event.key === 'k' ? -1 : 0;
            if (by) toNext(by);
          }}
        >
          <div className="samples-grid" style={columns}>
            <div className="samples-row samples-head">
              {compared.sides.map((side, n) => (
                <div key={side.turnId}>
                  <div className="diff-side">
                    <b title={n === 0 ? 'The others are compared with this one' : undefined}>{String.fromCharCode(65 + n)}</b>
                    <Id id={side.turnId} what="commit id" />
                    <span className="grow" />
                    <span className="muted">{say.tokens(side.context.tokens)}</span>
                    <IconButton
                      small
                      icon={BookOpen}
                      label="Open it"
                      onClick={() => go({ view: 'context', commit: side.turnId, entry: undefined })}
                    />
                  </div>
                  <Took side={side} />
                </div>
              ))}
            </div>
            <div style={{ height: virtual.getTotalSize(), position: 'relative' }}>
              <div style={{ transform: `translateY(${items[0]?.start ?? 0}px)` }}>
                {items.map((item) => (
                  <div key={item.key} data-index={item.index} ref={virtual.measureElement}>
                    <Row project={project} ids={ids} row={rows[item.index]} />
                  </div>
                ))}
              </div>
            </div>
          </div>
        </section>
      )}
    </section>
  );
}

function Row({ project, ids, row }: { project: string; ids: readonly ContextId[]; row: SampleRow | undefined }) {
  if (!row) return null;
  if (row.kind === 'same') return <p className="diff-same samples-same">{say.plural(row.count, 'entry', 'entries')} the same in all</p>;
  return (
    <div className="samples-row">
      {ids.map((id, side) => (
        <div key={id}>
          {row.cells[side] == null ? <p className="muted samples-none">not here</p> : <Cell project={project} id={id} place={row.cells[side]} />}
        </div>
      ))}
    </div>
  );
}

function Cell({ project, id, place }: { project: string; id: ContextId; place: number }) {
  const { stop = 'compaction' } = useNavigation(({ route }) => route);
  const entries: Ranges<Entry> = useRanges(entriesOf(project, id, stop));
  useEffect(() => entries.need(place, place + 1), [entries, place]);
  const entry = entries.at(place);
  return entry ? <EntryView entry={entry} /> : <div className="block-frame" style={{ height: 80 }} />;
}
