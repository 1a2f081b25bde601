import { ArrowDown, ArrowUp, ChevronDown, ChevronUp, Columns2, GitCompare, GitCompareArrows, Rows2 } from 'lucide-react';
import { useEffect, useMemo, useState } from 'react';
import type { ContextDiff, ContextId, Entry, Stop } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, Button, Empty, EntryView, kindNames, notifyProblem, Switch, say, speaker } from '../../parts';
import { entriesOf, go, move, notify, outlineOf, type Ranges, useNavigation, useQuery, useRanges } from '../../state';
import { ToCommit } from '../NoCommit';
import { Changed } from './Changed';
import { Ancestor, Differences, Steps, useDifferences } from './Differences';
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
          <>
            <ToCommit>Choose them in the chain</ToCommit>
            {commit && (
              <Button icon={GitCompareArrows} onClick={() => void compareWithParent(commit).catch(notifyProblem)}>
                Compare {say.shortId(commit)} with its parent
              </Button>
            )}
          </>
        }
      >
        Drag one onto another in the chain. Or select one, then a second one with Ctrl or Cmd held down, and press <kbd>d</kbd>; <kbd>p</kbd> compares
        one with its parent.
      </Empty>
    );
  }
  if (others) return <Samples project={project} ids={[against, commit, ...(others.split(',') as ContextId[])]} />;
  return (
    <Answer
      query={query}
      what="These two contexts cannot be compared"
      loading="Comparing"
      stillWorks="The chain and other commits still work."
      actions={<ToCommit />}
      lines={12}
    >
      {({ diff, left, right }) => (
        <section className="diff" aria-label="Diff">
          <Head left={left} right={right} tokens={diff.tokens} onSwap={() => move({ commit: against, against: commit })} />
          <Body key={`${left.id} ${right.id} ${stop}`} project={project} a={left.id} b={right.id} diff={diff} />
        </section>
      )}
    </Answer>
  );
}

async function compareWithParent(commit: ContextId): Promise<void> {
  const { parent } = await api.context.show({ id: commit });
  if (parent) go({ against: parent });
  else notify('It is the first of its chain: it has no parent');
}

function Body({ project, a, b, diff }: { project: string; a: ContextId; b: ContextId; diff: ContextDiff }) {
  const { stop = 'compaction' } = useNavigation(({ route }) => route);
  const movedCount = diff.moved.reduce((sum, run) => sum + run.count, 0);
  const counts = { ...diff, added: diff.added - movedCount, removed: diff.removed - movedCount };
  const [layout, setLayout] = useState<Layout>(diff.changed > 0 || (diff.added > 0 && diff.removed > 0) ? 'split' : 'unified');
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());
  const left = useRanges(entriesOf(project, a, stop));
  const right = useRanges(entriesOf(project, b, stop));
  const outlineA = useQuery(`${project} ${a} ${stop}`, () => outlineOf(project, a, stop));
  const rows = useMemo(() => diffRows(diff.hunks, diff.moved), [diff]);
  const list = useDifferences(rows);
  const items = list.virtual.getVirtualItems();
  const first = items[0]?.index;
  const last = items.at(-1)?.index;
  useEffect(() => {
    if (first === undefined || last === undefined) return;
    for (const row of rows.slice(first, last + 1)) {
      if (row.kind === 'removed' || row.kind === 'changed') left.need(row.a, row.a + 1);
      if (row.kind === 'added' || row.kind === 'changed') right.need(row.b, row.b + 1);
    }
  }, [first, last, rows, left, right]);

  const toCounterpart = (row: DiffRow) => {
    const place = rows.findIndex((other) =>
      row.kind === 'removed'
        ? other.kind === 'added' && other.from === row.a
        : row.kind === 'added' && other.kind === 'removed' && other.to === row.b,
    );
    if (place >= 0) list.toRow(place);
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
          {movedCount > 0 && <span className="changed">{say.exact(movedCount)} moved</span>}
        </span>
        <Ancestor base={diff.base} />
        <span className="grow" />
        <ExportComparison ids={[a, b]} />
        <Steps list={list} />
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
            { value: 'split', name: 'Side by side', icon: Columns2 },
            { value: 'unified', name: 'One column', icon: Rows2 },
          ]}
        />
      </div>
      <Strip rows={rows} onGo={list.toRow} />
      {list.differing.length === 0 ? (
        <Empty title="The two contexts are the same">Every one of their {say.plural(counts.same, 'entry', 'entries')} is in both.</Empty>
      ) : (
        <Differences list={list}>
          {(n) => {
            const row = rows[n];
            if (!row) return null;
            return (
              <div className={`diff-row ${row.kind} ${layout}${placeElsewhere(row) === undefined ? '' : ' moved'}`}>
                {row.kind === 'same' ? (
                  <Same
                    row={row}
                    tokens={tokensIn(outline, row.aStart, row.count)}
                    heads={opened.has(n) ? outline?.slice(row.aStart, row.aStart + Math.min(row.count, 400)) : undefined}
                    onToggle={() => {
                      const next = new Set(opened);
                      if (!next.delete(n)) next.add(n);
                      setOpened(next);
                    }}
                  />
                ) : (
                  <>
                    <MovedLine row={row} onGo={() => toCounterpart(row)} />
                    <Differs row={row} left={left} right={right} layout={layout} sides={{ a, b, stop }} />
                  </>
                )}
              </div>
            );
          }}
        </Differences>
      )}
    </>
  );
}

/** Where what only moved stands on the other side. */
const placeElsewhere = (row: DiffRow): number | undefined => (row.kind === 'removed' ? row.to : row.kind === 'added' ? row.from : undefined);

/** What only moved says where it stands on the other side, and leads there. */
function MovedLine({ row, onGo }: { row: DiffRow; onGo: () => void }) {
  const other = placeElsewhere(row);
  if (other === undefined) return null;
  const Arrow = other > (row.kind === 'removed' ? row.a : row.kind === 'added' ? row.b : 0) ? ArrowDown : ArrowUp;
  return (
    <button type="button" className="diff-moved" onClick={onGo}>
      <Arrow size={13} aria-hidden />
      {row.kind === 'removed' ? `Moved: entry ${say.exact(other + 1)} on the other side` : `Moved: it was entry ${say.exact(other + 1)}`}
    </button>
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
      const kind = placeElsewhere(row) === undefined ? row.kind : 'changed';
      if (last && last.kind === kind && kind !== 'same') last.weight++;
      else merged.push({ kind, n, weight: row.kind === 'same' ? Math.min(row.count, 40) : 1 });
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
