import { ChevronDown, ChevronRight } from 'lucide-react';
import { useMemo, useState } from 'react';
import { AgentMark, agentName, Button, LinkButton, say, toggled } from '../../parts';
import { go } from '../../state';
import { Cell, callColumns, toolColumns, type UsageColumn, type UsageTableRow } from './columns';
import type { SessionFact } from './facts';
import type { Range } from './ranges';
import { askSql, choose, setGroup } from './selection';
import { type ChosenFacets, daysOf, facets, ofGroup, type ShownGrouping, type Slices } from './slices';
import { listSql } from './statements';
import { addSlices, barHeight, largestSessions, noSums, type ShownMeasure, type Sums, sumGroups } from './sums';
import { changeWords, groupName, groupWords, isUnknown, measuredSum } from './words';

interface TableProps {
  readonly slices: Slices;
  readonly before: Slices | undefined;
  readonly by: ShownGrouping;
  readonly measure: ShownMeasure;
  readonly range: Range;
  readonly chosen: ChosenFacets;
  readonly sessions: ReadonlyMap<string, SessionFact>;
}

const rowOf = ({ slices, by, range, chosen }: TableProps, key: string, sums: Sums, session?: string): UsageTableRow => ({
  key: session ?? key,
  sums,
  list: (what) => {
    const own = ofGroup(slices, by, key);
    // The calls of a session are found by its days.
    const days = daysOf(session === undefined ? own : ofGroup(own, 'session', session)) ?? range;
    return listSql(what, { by, range: days, chosen }, key, session);
  },
});

const shownAtFirst = 50;
const shownSessions = 8;

/** The table: a row of sums for each group, with its sessions inside. */
export function Table(props: TableProps) {
  const { slices, before, by, measure, sessions } = props;
  const isTool = by === 'tool';
  // The wait is a column only where the bars show it, so that the table fits.
  const columns = useMemo(
    () => (isTool ? toolColumns : callColumns.filter(({ id }) => (id !== 'time' || measure === 'time') && (id !== 'sessions' || by !== 'session'))),
    [isTool, measure, by],
  );
  const [sort, setSort] = useState<{ readonly id: string; readonly ascending: boolean }>();
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const [most, setMost] = useState(shownAtFirst);
  const groups = sumGroups(slices, by);
  const groupsBefore = before && sumGroups(before, by);
  const whole = [...groups.values()].reduce((sum, sums) => sum + barHeight(sums, measure, by), 0);
  const active = sort ?? { id: by === 'day' ? 'name' : isTool || measure === 'errors' ? 'errors' : measure, ascending: false };
  const rows = useMemo(() => {
    const value = columns.find(({ id }) => id === active.id)?.value;
    const nameOf = (key: string) => (by === 'day' ? key : groupName(key, by, sessions).toLowerCase());
    const places = new Map([...groups].map(([key, sums]) => [key, value ? value(sums) : nameOf(key)]));
    const order = ([a]: [string, Sums], [b]: [string, Sums]): number => {
      const [x, y] = [places.get(a) ?? 0, places.get(b) ?? 0];
      const difference = x < y ? -1 : x > y ? 1 : 0;
      return (active.ascending ? difference : -difference) || (a < b ? -1 : 1);
    };
    return [...groups].sort(order);
  }, [groups, columns, active.id, active.ascending, by, sessions]);
  const sortBy = (id: string): void => setSort({ id, ascending: active.id === id ? !active.ascending : id === 'name' && by !== 'day' });
  const head = (id: string, name: string, hint: string, className: string) => (
    <th key={id} scope="col" className={className} aria-sort={active.id === id ? (active.ascending ? 'ascending' : 'descending') : 'none'}>
      <button type="button" title={`${hint}. Click to sort.`} onClick={() => sortBy(id)}>
        {name}
        {active.id === id && <span aria-hidden>{active.ascending ? ' ↑' : ' ↓'}</span>}
      </button>
    </th>
  );
  return (
    <div className="usage-scroll line-above">
      <table className="usage-table nowrap" aria-label={`Usage by ${groupWords[by][0].toLowerCase()}`}>
        <thead>
          <tr>
            {head('name', groupWords[by][0], 'The name', '')}
            {columns.map(({ id, name, hint, isLow }) => head(id, name, hint, isLow ? 'num c-lo' : 'num'))}
            {whole > 0 && (
              <th scope="col" className="c-share">
                Share
              </th>
            )}
            {groupsBefore && (
              <th scope="col" className="num" title="Compared with the range of the same length before">
                Change
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, most).map(([key, sums]) => (
            <GroupRow
              key={key}
              {...props}
              {...{ group: key, sums, columns, whole, groupsBefore }}
              isOpen={opened.has(key)}
              onToggle={() => setOpened(toggled(opened, key))}
            />
          ))}
        </tbody>
        <tfoot>
          <Total {...props} columns={columns} whole={whole} />
        </tfoot>
      </table>
      {rows.length > most && <More shown={most} all={rows.length} onMore={() => setMost(most + 500)} />}
    </div>
  );
}

const More = ({ shown, all, onMore }: { shown: number; all: number; onMore: () => void }) => (
  <p className="usage-more row">
    <Button small label="Show more" onClick={onMore} />
    <span className="muted small">
      {say.exact(shown)} of {say.plural(all, 'row')} shown
    </span>
  </p>
);

interface RowProps extends TableProps {
  readonly group: string;
  readonly columns: readonly UsageColumn[];
  readonly whole: number;
}

interface GroupRowProps extends RowProps {
  readonly sums: Sums;
  readonly groupsBefore: ReadonlyMap<string, Sums> | undefined;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}

function GroupRow(props: GroupRowProps) {
  const { group: key, sums, columns, whole, groupsBefore, isOpen, onToggle, measure, by } = props;
  const row = rowOf(props, key, sums);
  const before = groupsBefore?.get(key) ?? noSums();
  const [value, old] = [barHeight(sums, measure, by), barHeight(before, measure, by)];
  return (
    <>
      <tr>
        <td>
          <Name
            {...props}
            name={key}
            isOpen={isOpen}
            isNew={groupsBefore !== undefined && by !== 'day' && by !== 'session' && !groupsBefore.has(key)}
            onToggle={onToggle}
          />
        </td>
        <Cells columns={columns} row={row} />
        {whole > 0 && <Share part={isUnknown(sums, measure) ? undefined : value / whole} />}
        {groupsBefore && (
          <td className={`num${value < old && !isUnknown(sums, measure) ? ' tone-good' : ''}`} title={`Before: ${measuredSum(before, measure, by)}`}>
            {changeWords(sums, before, measure, by)}
          </td>
        )}
      </tr>
      {isOpen && <Inside {...props} />}
    </>
  );
}

const Cells = ({ columns, row }: { columns: readonly UsageColumn[]; row: UsageTableRow }) =>
  columns.map((column) => (
    <td key={column.id} className={column.isLow ? 'num c-lo' : 'num'}>
      <Cell column={column} row={row} />
    </td>
  ));

/** Undefined if it is not known. */
const Share = ({ part }: { part: number | undefined }) => (
  <td className="c-share">
    {part === undefined ? (
      '–'
    ) : (
      <span className="usage-share inline-row gap-6">
        <span className="gauge">
          <span style={{ width: `${Math.min(1, part) * 100}%` }} />
        </span>
        {say.percent(part)}
      </span>
    )}
  </td>
);

/** Opens a session in Chain. A subagent is in the chain of the session that started it. */
export function openSession(id: string, sessions: ReadonlyMap<string, SessionFact>): void {
  const found = sessions.get(id);
  const commit = found?.tip as Parameters<typeof go>[0]['commit'];
  go({ view: 'chain', session: found?.parent ?? id, commit, against: undefined, entry: undefined, stop: undefined });
}

/** The name of a session, which opens it. */
export function SessionName({ id, sessions }: { id: string; sessions: ReadonlyMap<string, SessionFact> }) {
  const found = sessions.get(id);
  if (!found) return <span className="muted">{groupName(id, 'session', sessions)}</span>;
  return (
    <span className="row gap-6 shrinks">
      <span className="inline-row" title={agentName(found.agent)}>
        <AgentMark agent={found.agent} />
      </span>
      <LinkButton className="ellipsis" title={`Open ${found.title}`} onClick={() => openSession(id, sessions)}>
        {groupName(id, 'session', sessions)}
      </LinkButton>
    </span>
  );
}

function Name(props: TableProps & { name: string; isOpen: boolean; isNew: boolean; onToggle: () => void }) {
  const { name, by, sessions, isOpen, isNew, onToggle } = props;
  if (by === 'session') return <SessionName id={name} sessions={sessions} />;
  const shown = groupName(name, by, sessions);
  return (
    <button type="button" className="row gap-4 usage-name" aria-expanded={isOpen} aria-label={`Sessions of ${shown}`} title={name} onClick={onToggle}>
      {isOpen ? <ChevronDown size={14} aria-hidden /> : <ChevronRight size={14} aria-hidden />}
      <span className="ellipsis">{shown}</span>
      {isNew && (
        <span className="usage-new muted small" title="Nothing in the range before">
          new
        </span>
      )}
    </button>
  );
}

/** The largest sessions of an open group, and a way to the others. */
function Inside(props: RowProps) {
  const { slices, before, by, measure, group, columns, sessions, chosen, whole } = props;
  const inside = useMemo(() => ofGroup(slices, by, group), [slices, by, group]);
  const found = largestSessions(inside, measure, by);
  const others = found.length - shownSessions;
  const facet = facets.find((one) => one === by);
  const showAll = (): void => {
    if (by === 'day') go({ range: `${group}..${group}`, group: 'session', bar: undefined });
    else if (facet) {
      choose(chosen, facet, [group]);
      setGroup('session');
    } else askSql(rowOf(props, group, noSums()).list('calls'));
  };
  return (
    <>
      {found.slice(0, shownSessions).map(([id, sums]) => (
        <tr key={id} className="usage-inside muted">
          <td>
            <SessionName id={id} sessions={sessions} />
          </td>
          <Cells columns={columns} row={rowOf(props, group, sums, id)} />
          {whole > 0 && <Share part={isUnknown(sums, measure) ? undefined : barHeight(sums, measure, by) / whole} />}
          {before && <td />}
        </tr>
      ))}
      {others > 0 && (
        <tr className="usage-inside">
          <td colSpan={columns.length + 1 + (whole > 0 ? 1 : 0) + (before ? 1 : 0)}>
            <LinkButton label={say.plural(others, 'more session')} onClick={showAll} />
          </td>
        </tr>
      )}
    </>
  );
}

function Total({ slices, before, columns, whole, measure, range, chosen, by }: Omit<RowProps, 'group'>) {
  const all = addSlices(slices);
  const old = before && addSlices(before);
  const row: UsageTableRow = { key: 'total', sums: all, list: (what) => listSql(what, { by, range, chosen }) };
  return (
    <tr>
      <th scope="row">Total</th>
      <Cells columns={columns} row={row} />
      {whole > 0 && <td className="c-share">100%</td>}
      {old && <td className="num">{changeWords(all, old, measure, by)}</td>}
    </tr>
  );
}
