import { useVirtualizer } from '@tanstack/react-virtual';
import { ChevronDown, ChevronUp, GitCompare } from 'lucide-react';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { ContextId, Entry, Hunk, Stop } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, Button, Empty, EntryView, IconButton, kindNames, Switch, say, speaker } from '../../parts';
import { entriesOf, go, move, outlineOf, type Ranges, useNavigation, useQuery, useRanges } from '../../state';
import { Changed } from './Changed';
import { Fields } from './Fields';
import { ExportComparison, Head } from './Head';
import { type DiffRow, diffRows, type Layout, tokensIn } from './parts';
import { Samples } from './Samples';

/** Two contexts against each other: what both have folded away, what differs in full. */
export function DiffView({ project }: { project: string }) {
  const { commit, against, others, stop = 'compaction' } = useNavigation(({ route }) => route);
  const query = useQuery(commit && against && !others ? `${project} ${against} ${commit} ${stop}` : null, async (signal) => {
    const [a, b] = [against as ContextId, commit as ContextId];
    const [diff, left, right] = await Promise.all([
      api.context.diff({ a, b, stop }, { signal }),
      api.context.show({ id: a }),
      api.context.show({ id: b }),
    ]);
    return { diff, left, right };
  });
  if (!commit || !against) {
    return (
      <Empty
        title="Two commits make a comparison"
        picture={<GitCompare size={48} strokeWidth={1} />}
        actions={
          <Button look="primary" onClick={() => go({ view: 'chain' })}>
            Choose them in the chain
          </Button>
        }
      >
        Drag one onto another, or select one, then a second one with Ctrl or Cmd held down, and press d. Or compare one with its parent: p.
      </Empty>
    );
  }
  if (others) return <Samples project={project} ids={[against, commit, ...(others.split(',') as ContextId[])]} />;
  return (
    <Answer
      query={query}
      what="These two contexts cannot be compared"
      loading="Comparing"
      stillWorks="Each of them can still be opened by itself."
      lines={12}
    >
      {({ diff, left, right }) => (
        <section className="diff" aria-label="Diff">
          <Head left={left} right={right} tokens={diff.tokens} onSwap={() => move({ commit: against, against: commit })} />
          <Body key={`${left.id} ${right.id} ${stop}`} project={project} a={left.id} b={right.id} hunks={diff.hunks} base={diff.base} counts={diff} />
        </section>
      )}
    </Answer>
  );
}

interface BodyProps {
  readonly project: string;
  readonly a: ContextId;
  readonly b: ContextId;
  readonly hunks: readonly Hunk[];
  readonly base: ContextId | null;
  readonly counts: { readonly same: number; readonly added: number; readonly removed: number; readonly changed: number };
}

function Body({ project, a, b, hunks, base, counts }: BodyProps) {
  const { stop = 'compaction' } = useNavigation(({ route }) => route);
  const [layout, setLayout] = useState<Layout>(counts.changed > 0 || (counts.added > 0 && counts.removed > 0) ? 'split' : 'unified');
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());
  const left = useRanges(entriesOf(project, a, stop));
  const right = useRanges(entriesOf(project, b, stop));
  const outlineA = useQuery(`${project} ${a} ${stop}`, () => outlineOf(project, a, stop));
  const rows = useMemo(() => diffRows(hunks), [hunks]);
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (n) => (rows[n]?.kind === 'same' ? 34 : 180),
    overscan: 4,
  });
  const items = virtual.getVirtualItems();
  const first = items[0]?.index;
  const last = items.at(-1)?.index;
  useEffect(() => {
    if (first === undefined || last === undefined) return;
    for (const row of rows.slice(first, last + 1)) {
      if (row.kind === 'removed' || row.kind === 'changed') left.need(row.a, row.a + 1);
      if (row.kind === 'added' || row.kind === 'changed') right.need(row.b, row.b + 1);
    }
  }, [first, last, rows, left, right]);

  const differing = useMemo(() => rows.flatMap((row, n) => (row.kind === 'same' ? [] : [n])), [rows]);
  const top = virtual.getVirtualItemForOffset((virtual.scrollOffset ?? 0) + 8)?.index ?? 0;
  const toNext = (by: number) => {
    const next = by > 0 ? differing.find((n) => n > top) : differing.findLast((n) => n < top);
    if (next !== undefined) virtual.scrollToIndex(next, { align: 'start' });
  };
  const outline = outlineA.status === 'done' ? outlineA.data.rows : undefined;
  return (
    <>
      <div className="diff-tools">
        <span className="diff-counts">
          <span>{say.exact(counts.same)} the same</span>
          {counts.added > 0 && <span className="added">+{say.exact(counts.added)}</span>}
          {counts.removed > 0 && <span className="removed">−{say.exact(counts.removed)}</span>}
          {counts.changed > 0 && <span className="changed">~{say.exact(counts.changed)} changed</span>}
        </span>
        {base ? (
          <span className="muted">
            common ancestor{' '}
            <button type="button" className="link-button mono" onClick={() => go({ view: 'chain', commit: base })}>
              {say.shortId(base)}
            </button>
          </span>
        ) : (
          <span className="muted">no common ancestor</span>
        )}
        <span className="grow" />
        <ExportComparison ids={[a, b]} />
        <IconButton small icon={ChevronUp} label="Previous difference" keys="k" onClick={() => toNext(-1)} />
        <IconButton small icon={ChevronDown} label="Next difference" keys="j" onClick={() => toNext(1)} />
        <Switch
          label="How far back"
          value={stop === 'root' ? 'root' : 'compaction'}
          onChange={(value) => move({ stop: value === 'root' ? 'root' : undefined })}
          options={[
            { value: 'compaction', name: 'As the model had it' },
            { value: 'root', name: 'Full history' },
          ]}
        />
        <Switch
          label="Layout"
          value={layout}
          onChange={setLayout}
          options={[
            { value: 'split', name: 'Side by side' },
            { value: 'unified', name: 'One column' },
          ]}
        />
      </div>
      <Strip rows={rows} onGo={(n) => virtual.scrollToIndex(n, { align: 'start' })} />
      {differing.length === 0 ? (
        <Empty title="The two contexts are the same">Every one of their {say.plural(counts.same, 'entry', 'entries')} is in both.</Empty>
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
          <div style={{ height: virtual.getTotalSize(), position: 'relative' }}>
            <div style={{ transform: `translateY(${items[0]?.start ?? 0}px)` }}>
              {items.map((item) => {
                const row = rows[item.index];
                if (!row) return null;
                return (
                  <div key={item.key} data-index={item.index} ref={virtual.measureElement} className={`diff-row ${row.kind} ${layout}`}>
                    {row.kind === 'same' ? (
                      <Same
                        row={row}
                        tokens={tokensIn(outline, row.aStart, row.count)}
                        heads={opened.has(item.index) ? outline?.slice(row.aStart, row.aStart + Math.min(row.count, 400)) : undefined}
                        onToggle={() => {
                          const next = new Set(opened);
                          if (!next.delete(item.index)) next.add(item.index);
                          setOpened(next);
                        }}
                      />
                    ) : (
                      <Differs row={row} left={left} right={right} layout={layout} sides={{ a, b, stop }} />
                    )}
                  </div>
                );
              })}
            </div>
          </div>
        </section>
      )}
    </>
  );
}

function Same(props: {
  row: Extract<DiffRow, { kind: 'same' }>;
  tokens: number | undefined;
  heads: readonly { key: string; head?: string | undefined; role: Entry['role']; kind: Entry['kind']; tokens: number }[] | undefined;
  onToggle: () => void;
}) {
  const { row, tokens, heads, onToggle } = props;
  return (
    <>
      <button type="button" className="diff-same" aria-expanded={heads !== undefined} onClick={onToggle}>
        {heads ? <ChevronUp size={13} aria-hidden /> : <ChevronDown size={13} aria-hidden />}
        {say.plural(row.count, 'entry', 'entries')} the same{tokens !== undefined && `, ${say.tokens(tokens)}`}
      </button>
      {heads && (
        <ol className="diff-heads">
          {heads.map((head) => (
            <li key={head.key} className="ellipsis">
              <b>{speaker(head)}</b> <span className="muted">{kindNames[head.kind]}</span> {head.head}
            </li>
          ))}
          {row.count > heads.length && <li className="muted">and {say.exact(row.count - heads.length)} more</li>}
        </ol>
      )}
    </>
  );
}

function Differs({
  row,
  left,
  right,
  layout,
  sides,
}: {
  row: Exclude<DiffRow, { kind: 'same' }>;
  left: Ranges<Entry>;
  right: Ranges<Entry>;
  layout: Layout;
  sides: { readonly a: ContextId; readonly b: ContextId; readonly stop: Stop };
}) {
  const a = row.kind === 'added' ? undefined : left.at(row.a);
  const b = row.kind === 'removed' ? undefined : right.at(row.b);
  const missing = (row.kind !== 'added' && !a) || (row.kind !== 'removed' && !b);
  if (missing) return <div className="block-frame" style={{ height: 120 }} />;
  if (a && b && row.kind === 'changed' && a.kind === 'tool_call' && b.kind === 'tool_call')
    return <Fields {...sides} pair={row} before={a} after={b} layout={layout} />;
  if (a && b) return <Changed a={a} b={b} layout={layout} />;
  const entry = a ?? b;
  if (!entry) return null;
  const shown = <EntryView entry={entry} />;
  if (layout === 'unified') return shown;
  return (
    <div className="diff-columns">
      <div>{a && shown}</div>
      <div>{b && shown}</div>
    </div>
  );
}

/** Where the differences are, over the whole length. */
function Strip({ rows, onGo }: { rows: readonly DiffRow[]; onGo: (n: number) => void }) {
  // What is the same takes some room, but never so much that what differs cannot be seen.
  const parts = useMemo(() => {
    const merged: { kind: DiffRow['kind']; n: number; weight: number }[] = [];
    rows.forEach((row, n) => {
      const last = merged.at(-1);
      if (last && last.kind === row.kind && row.kind !== 'same') last.weight++;
      else merged.push({ kind: row.kind, n, weight: row.kind === 'same' ? Math.min(row.count, 40) : 1 });
    });
    return merged.length > 400 ? [] : merged;
  }, [rows]);
  if (parts.length === 0) return null;
  return (
    <div className="diff-strip" aria-hidden>
      {parts.map((part) => (
        <button key={part.n} type="button" tabIndex={-1} className={part.kind} style={{ flexGrow: part.weight }} onClick={() => onGo(part.n)} />
      ))}
    </div>
  );
}
