import { BookOpen } from 'lucide-react';
import { useEffect, useMemo } from 'react';
import type { ContextId, Entry, SideBySide } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, Empty, EntryView, IconButton, Id, say } from '../../parts';
import { entryRanges, go, type Ranges, useNavigation, useQuery, useRanges } from '../../state';
import { Ancestor, Differences, Steps, useDifferences } from './Differences';
import { ContextSize, ExportComparison, Usage } from './Head';
import { type SampleRow, sampleRows } from './parts';

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
