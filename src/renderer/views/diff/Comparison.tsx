import { Columns2, Rows2 } from 'lucide-react';
import { useEffect, useMemo, useState } from 'react';
import type { ComparedFile, ContextDiff, ContextId, Entry, Stop } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, Empty, FileLines, Switch, say, toggled, Unread } from '../../parts';
import { entryRanges, loadOutline, move, type Ranges, useNavigation, useQuery, useRanges } from '../../state';
import { Ancestor, Differences, Steps, useDifferences } from './Differences';
import { DifferingRow, SameRow } from './DiffRows';
import { ExportComparison } from './Head';
import { counterpartOf, type DiffLayout, type DiffRow, diffRows, placeElsewhere, stripOf, tokensIn } from './parts';

/** Headings of unchanged entries shown when a folded row is opened. */
const maxHeads = 400;

/** Two contexts entry by entry: unchanged entries folded, differing entries in full. */
export function Comparison({ project, a, b, diff }: { project: string; a: ContextId; b: ContextId; diff: ContextDiff }) {
  const { stop = 'compaction' } = useNavigation(({ route }) => route);
  const [layout, setLayout] = useState<DiffLayout>(diff.changed > 0 || (diff.added > 0 && diff.removed > 0) ? 'split' : 'unified');
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());
  const rows = useMemo(() => diffRows(diff.hunks, diff.moved), [diff]);
  const list = useDifferences(rows);
  const { left, right } = useSides(project, a, b, rows, list.virtual.getVirtualItems());
  const failed = [left, right].find((side) => side.problem() !== undefined);
  const outlineA = useQuery(`${project} ${a} ${stop}`, () => loadOutline(project, a, stop));
  const outline = outlineA.data?.rows;
  const files = useQuery(`files ${project} ${a} ${b}`, (signal) => api.turn.compareFiles({ a, b }, { signal }));
  const differing = files.data;
  const [tab, setTab] = useState<'context' | 'files'>('context');
  const toCounterpart = (row: DiffRow) => {
    const place = counterpartOf(rows, row);
    if (place !== undefined) list.toRow(place);
  };
  return (
    <>
      <div className="diff-tools bar wrap">
        <Counts diff={diff} />
        <Ancestor base={diff.base} />
        <span className="grow" />
        <Switch
          label="Compared"
          value={tab}
          onChange={setTab}
          options={{
            context: 'Context',
            files: [`Files ${differing ? say.exact(differing.length) : ''}`, 'The files that the branches left behind differently'],
          }}
        />
        {tab === 'context' && <Switches layout={layout} onLayout={setLayout} />}
        <ExportComparison ids={[a, b]} />
        {tab === 'context' && <Steps list={list} />}
      </div>
      {tab === 'context' && <Strip rows={rows} onGo={list.toRow} />}
      {failed && <Unread what="Some entries" error={failed.problem()} onRetry={() => void [left, right].map((side) => side.retry())} />}
      {tab === 'files' ? (
        <Answer query={files} what="Cannot compare the files" loading="Comparing the files" lines={6}>
          {(found) => <ComparedFiles files={found} />}
        </Answer>
      ) : list.differing.length === 0 ? (
        <Empty title="No differences">Both contexts contain the same {say.plural(diff.same, 'entry', 'entries')}.</Empty>
      ) : (
        <Differences list={list}>
          {(n) => {
            const row = rows[n];
            if (!row) return null;
            return (
              <div
                className={`diff-row ${row.kind} ${layout}${placeElsewhere(row) === undefined ? '' : ' moved'}${list.differing[list.at] === n ? ' current' : ''}`}
              >
                {row.kind === 'same' ? (
                  <SameRow
                    row={row}
                    tokens={tokensIn(outline, row.aStart, row.count)}
                    heads={opened.has(n) ? outline?.slice(row.aStart, row.aStart + Math.min(row.count, maxHeads)) : undefined}
                    onToggle={() => setOpened(toggled(opened, n))}
                  />
                ) : (
                  <DifferingRow row={row} left={left} right={right} layout={layout} sides={{ a, b, stop }} onCounterpart={() => toCounterpart(row)} />
                )}
              </div>
            );
          }}
        </Differences>
      )}
    </>
  );
}

/** The entries of both sides. Visible entries are loaded. */
function useSides(project: string, a: ContextId, b: ContextId, rows: readonly DiffRow[], inView: readonly { readonly index: number }[]) {
  const { stop = 'compaction' } = useNavigation(({ route }) => route);
  const left = useRanges(entryRanges(project, a, stop));
  const right = useRanges(entryRanges(project, b, stop));
  const [first, last] = [inView[0]?.index, inView.at(-1)?.index];
  useEffect(() => {
    if (first !== undefined && last !== undefined) needRows(left, right, rows.slice(first, last + 1));
  }, [first, last, rows, left, right]);
  return { left, right };
}

function needRows(left: Ranges<Entry>, right: Ranges<Entry>, rows: readonly DiffRow[]): void {
  for (const row of rows) {
    if (row.kind === 'removed' || row.kind === 'changed') left.need(row.a, row.a + 1);
    if (row.kind === 'added' || row.kind === 'changed') right.need(row.b, row.b + 1);
  }
}

const firstRows = 8;

/** Loads the entries that a comparison shows first. */
export const needFirstRows = (project: string, a: ContextId, b: ContextId, stop: Stop, { hunks, moved }: ContextDiff): void =>
  needRows(entryRanges(project, a, stop), entryRanges(project, b, stop), diffRows(hunks, moved).slice(0, firstRows));

function Counts({ diff }: { diff: ContextDiff }) {
  // A moved entry is in the diff twice, as removed and as added. It is counted once, as moved.
  const moved = diff.moved.reduce((sum, run) => sum + run.count, 0);
  const [added, removed] = [diff.added - moved, diff.removed - moved];
  return (
    <span className="diff-counts">
      <span>{say.exact(diff.same)} unchanged</span>
      {added > 0 && <span className="added">{say.exact(added)} added</span>}
      {removed > 0 && <span className="removed">{say.exact(removed)} removed</span>}
      {diff.changed > 0 && <span className="changed">{say.exact(diff.changed)} changed</span>}
      {moved > 0 && <span className="changed">{say.exact(moved)} moved</span>}
    </span>
  );
}

function Switches({ layout, onLayout }: { layout: DiffLayout; onLayout: (layout: DiffLayout) => void }) {
  const { stop } = useNavigation(({ route }) => route);
  return (
    <>
      <Switch
        label="Range"
        value={stop === 'root' ? 'root' : 'compaction'}
        onChange={(value) => move({ stop: value === 'root' ? 'root' : undefined })}
        options={{ compaction: 'As the model had it', root: 'Full history' }}
      />
      <Switch
        label="Layout"
        value={layout}
        onChange={onLayout}
        options={{ split: 'Side by side', unified: 'One column' }}
        icons={{ split: <Columns2 size={14} aria-hidden />, unified: <Rows2 size={14} aria-hidden /> }}
      />
    </>
  );
}

/** An overview of where the differences are. */
function Strip({ rows, onGo }: { rows: readonly DiffRow[]; onGo: (row: number) => void }) {
  const segments = useMemo(() => stripOf(rows), [rows]);
  if (segments.length === 0) return null;
  return (
    <div className="diff-strip" aria-hidden>
      {segments.map(({ row, kind, weight }) => (
        <button key={row} type="button" tabIndex={-1} className={kind} style={{ flexGrow: weight }} onClick={() => onGo(row)} />
      ))}
    </div>
  );
}

/** The files that both branches left behind differently: a list, and the differences of the chosen file. */
function ComparedFiles({ files }: { files: readonly ComparedFile[] }) {
  const [chosen, setChosen] = useState(0);
  const file = files[Math.min(chosen, files.length - 1)];
  if (!file)
    return (
      <Empty title="No differing files">
        Files that the two branches left behind differently appear here. No tool call since they parted wrote or changed one.
      </Empty>
    );
  return (
    <div className="diff-files">
      <ul className="diff-file-list overflows" aria-label="Files">
        {files.map((one, n) => (
          <li key={one.path}>
            <button
              type="button"
              className={`row selectable wide${one === file ? ' chosen' : ''}`}
              aria-current={one === file}
              onClick={() => setChosen(n)}
            >
              <span className="ellipsis grow mono" title={one.path}>
                {one.path.split(/[/\\]/).at(-1)}
              </span>
              <span className="muted small">{sideWords(one)}</span>
            </button>
          </li>
        ))}
      </ul>
      <OneFile key={file.path} file={file} />
    </div>
  );
}

const sideWords = ({ a, b }: ComparedFile): string => (a === null ? 'only right' : b === null ? 'only left' : 'differs');

function OneFile({ file: { path, a, b } }: { file: ComparedFile }) {
  const [before, after] = [a === null ? '' : a.content, b === null ? '' : b.content];
  return (
    <section className="diff-file stack gap-8 overflows" aria-label={path}>
      <h3 className="mono wrap">{path}</h3>
      {a === null && <p className="muted">The left branch never read or wrote this file.</p>}
      {b === null && <p className="muted">The right branch never read or wrote this file.</p>}
      {(before === null || after === null) && (
        <p className="muted">
          The content {before === null ? (after === null ? 'on both sides' : 'on the left') : 'on the right'} is unknown: the agent never read it, or
          an edit did not match it.
        </p>
      )}
      {[a, b].some((side) => side?.known === 'part') && <p className="muted">A side is known in part: its agent never read the rest of the file.</p>}
      {before !== null && after !== null && <FileLines before={before} after={after} />}
    </section>
  );
}
