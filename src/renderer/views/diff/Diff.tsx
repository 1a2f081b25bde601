import { BookOpen, GitCompare, GitCompareArrows } from 'lucide-react';
import { useEffect, useMemo } from 'react';
import type { ContextDiff, ContextId, Entry, SideBySide } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, attempt, Button, Empty, EntryView, IconButton, Id, say } from '../../parts';
import { AnswerMemory, entryRanges, go, move, notify, type Ranges, type ShownCommit, useNavigation, useQuery, useRanges } from '../../state';
import { CommitAnswer, ToCommit } from '../NoCommit';
import { Comparison, needFirstRows } from './Comparison';
import { Ancestor, Differences, Steps, useDifferences } from './Differences';
import { ContextSize, ExportComparison, Head, Usage } from './Head';
import { type SampleRow, sampleRows } from './parts';

type Compared = Readonly<Record<'left' | 'right', ShownCommit>> & { readonly diff: ContextDiff };

const comparisons = new AnswerMemory<Compared>(6);

/** Two contexts compared, or several samples side by side. */
export function DiffView({ project }: { project: string }) {
  const { commit, against, others, stop = 'compaction' } = useNavigation(({ route }) => route);
  const query = useQuery(
    commit && against && !others ? `${project} ${against} ${commit} ${stop}` : null,
    async (signal) => {
      const [a, b] = [against as ContextId, commit as ContextId];
      const [diff, left, right] = await Promise.all([
        api.context.diff({ a, b, stop }, { signal }),
        api.context.show({ id: a }),
        api.context.show({ id: b }),
      ]);
      // Requested before the data of the heads, which takes the engine longer.
      needFirstRows(project, a, b, stop, diff);
      return { diff, left, right };
    },
    comparisons,
  );
  if (!commit || !against) {
    return (
      <Empty
        title="No commits to compare"
        picture={GitCompare}
        actions={
          <>
            <ToCommit>Select commits in the chain</ToCommit>
            {commit && (
              <Button icon={GitCompareArrows} onClick={attempt(() => compareWithParent(commit))}>
                Compare {say.shortId(commit)} with its parent
              </Button>
            )}
          </>
        }
      >
        The differences between two commits appear here. In the chain, drag one commit onto another, or select two with Ctrl or Cmd and press{' '}
        <kbd>d</kbd>. <kbd>p</kbd> compares a commit with its parent.
      </Empty>
    );
  }
  if (others) return <Samples project={project} ids={[against, commit, ...(others.split(',') as ContextId[])]} />;
  return (
    <CommitAnswer query={query} what="Cannot compare these contexts" loading="Comparing" lines={12}>
      {({ diff, left, right }) => (
        <section className="diff whole stack" aria-label="Diff">
          <Head project={project} left={left} right={right} diff={diff} onSwap={() => move({ commit: against, against: commit })} />
          <Comparison key={`${left.id} ${right.id} ${stop}`} project={project} a={left.id} b={right.id} diff={diff} />
        </section>
      )}
    </CommitAnswer>
  );
}

async function compareWithParent(commit: ContextId): Promise<void> {
  const { parent } = await api.context.show({ id: commit });
  if (parent) go({ against: parent });
  else notify('This commit has no parent');
}

/** Several contexts side by side, one column each: the samples of a run, or commits selected in the chain. */
export function Samples({ project, ids }: { project: string; ids: readonly ContextId[] }) {
  const { stop = 'compaction' } = useNavigation(({ route }) => route);
  const query = useQuery(`${project} ${ids.join(' ')} ${stop}`, (signal) => api.turn.compareMany({ ids: [...ids], stop }, { signal }));
  return (
    <Answer query={query} what="Cannot compare these contexts" loading="Comparing" stillWorks="You can still compare two of them." lines={12}>
      {(compared) => <Columns key={ids.join(' ')} project={project} ids={ids} compared={compared} />}
    </Answer>
  );
}

function Columns({ project, ids, compared }: { project: string; ids: readonly ContextId[]; compared: SideBySide }) {
  const rows = useMemo(() => sampleRows(compared.rows), [compared]);
  const list = useDifferences(rows);
  const same = compared.rows.filter((row) => row.same).length;
  const columns = { '--columns': ids.length } as React.CSSProperties;
  const heads = (
    <div className="samples-row samples-head">
      {compared.sides.map((side, n) => (
        <div key={side.turnId}>
          <div className="diff-title row">
            <b title={n === 0 ? 'The others are compared with this context' : undefined}>{String.fromCharCode(65 + n)}</b>
            <Id id={side.turnId} what="commit id" />
            <span className="grow" />
            <ContextSize counted={side.context.counted} estimated={side.context.tokens} />
            <IconButton
              small
              icon={BookOpen}
              label="Open in Context"
              onClick={() => go({ view: 'context', commit: side.turnId, entry: undefined })}
            />
          </div>
          <Usage side={side} />
        </div>
      ))}
    </div>
  );
  return (
    <section className="diff whole stack samples" aria-label="Side by side">
      <div className="diff-tools bar wrap">
        <span className="diff-counts">
          <span>{say.exact(same)} the same in all</span>
          {same < compared.rows.length && <span className="changed">{say.exact(compared.rows.length - same)} different</span>}
        </span>
        <Ancestor base={compared.base} />
        <span className="grow" />
        <ExportComparison ids={ids} />
        <Steps list={list} />
      </div>
      {list.differing.length === 0 ? (
        <>
          <div className="samples-alike" style={columns}>
            {heads}
          </div>
          <Empty title="No differences">All contexts contain the same {say.plural(same, 'entry', 'entries')}.</Empty>
        </>
      ) : (
        <Differences
          list={list}
          within={(drawn) => (
            <div className="samples-grid" style={columns}>
              {heads}
              {drawn}
            </div>
          )}
        >
          {(n) => <Row project={project} ids={ids} row={rows[n]} />}
        </Differences>
      )}
    </section>
  );
}

function Row({ project, ids, row }: { project: string; ids: readonly ContextId[]; row: SampleRow | undefined }) {
  if (!row) return null;
  if (row.kind === 'same') return <p className="diff-same row gap-6 wide muted">{say.plural(row.count, 'entry', 'entries')} the same in all</p>;
  return (
    <div className="samples-row">
      {ids.map((id, side) => (
        <div key={id}>
          {row.cells[side] == null ? <p className="muted samples-none">no entry</p> : <Cell project={project} id={id} place={row.cells[side]} />}
        </div>
      ))}
    </div>
  );
}

function Cell({ project, id, place }: { project: string; id: ContextId; place: number }) {
  const { stop = 'compaction' } = useNavigation(({ route }) => route);
  const entries: Ranges<Entry> = useRanges(entryRanges(project, id, stop));
  useEffect(() => entries.need(place, place + 1), [entries, place]);
  const entry = entries.at(place);
  return entry ? <EntryView entry={entry} /> : <div className="block-frame" style={{ height: 80 }} />;
}
