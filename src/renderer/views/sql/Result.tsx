import { startTransition, useEffect, useState } from 'react';
import type { AnalysisAnswer, ContextId } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Button, Empty, Input, LinkButton, Select, Switch, say, sending, TaskProblem } from '../../parts';
import { go, useTask } from '../../state';
import { barsIn, cellText, numberColumns } from './statement';

/** The rows that are drawn at once fill a screen. More follow when they are shown. */
const drawnAtOnce = 40;
const shownAtFirst = 200;

interface ResultProps {
  readonly answer: AnalysisAnswer;
  readonly project: string;
  readonly sql: string;
  /** Reads more rows; undefined if there are none, or too many. */
  readonly onMore?: (() => void) | undefined;
}

/** The rows of an answer as a table or a chart. */
export function Result({ answer, project, sql, onMore }: ResultProps) {
  const { rows, columns, truncated, ms } = answer;
  const [as, setAs] = useState<'table' | 'chart'>('table');
  const [column, setColumn] = useState<string>();
  const numbers = numberColumns(answer);
  const chart = barsIn(answer, column === undefined ? undefined : Number(column));
  return (
    <section aria-label="Result" className="sql-result stack">
      <div className="row wrap sql-head">
        <span className="grow" role="status">
          {say.plural(rows.length, 'row')}
          {truncated && (onMore ? ' shown. ' : ' shown. There are more: add a LIMIT or a condition, or write them to a file')}
          {onMore && <LinkButton label="Read more" onClick={onMore} />}
          {ms !== undefined && <span className="muted"> in {say.duration(ms)}</span>}
        </span>
        {chart && as === 'chart' && numbers.length > 1 && (
          <Select
            label="Column of the bars"
            value={column ?? String(numbers.at(-1))}
            options={numbers.map((at) => [String(at), columns[at] ?? ''] as const)}
            onChange={setColumn}
          />
        )}
        {chart && rows.length > 0 && <Switch label="Show the result as" value={as} options={{ table: 'Table', chart: 'Chart' }} onChange={setAs} />}
      </div>
      {rows.length === 0 ? (
        <Empty title="No rows">The statement is right, and nothing matches it.</Empty>
      ) : as === 'chart' && chart ? (
        <Bars {...chart} />
      ) : (
        <Rows answer={answer} />
      )}
      <ToFile key={`${project} ${sql}`} sql={sql} />
    </section>
  );
}

function Rows({ answer: { columns, rows } }: { answer: AnalysisAnswer }) {
  const [most, setMost] = useState(drawnAtOnce);
  useEffect(() => startTransition(() => setMost(shownAtFirst)), []);
  return (
    <div className="sql-scroll">
      <table className="sql-table nowrap">
        <thead>
          <tr>
            {columns.map((name, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: two columns may have one name
              <th key={at} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, most).map((row, n) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other name
            <tr key={n}>
              {columns.map((name, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: two columns may have one name
                <td key={at} className={typeof row[at] === 'number' ? 'num' : undefined}>
                  <Cell name={name} value={row[at]} row={row} columns={columns} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {most >= shownAtFirst && rows.length > most && (
        <p className="sql-more">
          <Button small label="Show more rows" onClick={() => setMost(most * 5)} />
        </p>
      )}
    </div>
  );
}

const commitColumns = ['commit_id', 'turn_id', 'tip', 'parent_id'];
const isCommit = (value: string): boolean => /^ctx-[0-9a-f]{1,64}$/.test(value);
const longest = 300;

/** A value. Ids of sessions, commits and tickets open what they name. Everything else is text. */
function Cell({ name, value, row, columns }: { name: string; value: unknown; row: readonly unknown[]; columns: readonly string[] }) {
  if (value === null || value === undefined) return <span className="faint">null</span>;
  if (typeof value === 'number') return Number.isInteger(value) ? value : Number(value.toPrecision(8));
  const text = cellText(value);
  const shown = text.length > longest ? `${text.slice(0, longest)}…` : text;
  const link = (what: string, open: () => void) => (
    <LinkButton label={shown} className="ellipsis sql-cell" title={`Open the ${what} ${text}`} onClick={open} />
  );
  const none = { against: undefined, entry: undefined, stop: undefined };
  const sessionAt = columns.indexOf('session_id');
  const session = sessionAt >= 0 && typeof row[sessionAt] === 'string' ? row[sessionAt] : undefined;
  if (name === 'session_id' || name === 'parent_session_id')
    return link('session', () => go({ ...none, view: 'chain', session: text, commit: undefined }));
  if (commitColumns.includes(name) && isCommit(text))
    return link('commit', () => go({ ...none, view: 'context', session, commit: text as ContextId }));
  if (name === 'ticket_id') return link('ticket', () => go({ view: 'reviews', ticket: text }));
  return (
    <span className="ellipsis sql-cell" title={text.length > 40 ? text.slice(0, 2_000) : undefined}>
      {shown}
    </span>
  );
}

function Bars({ name, value, bars, left }: NonNullable<ReturnType<typeof barsIn>>) {
  const most = Math.max(...bars.map((bar) => Math.abs(bar.value)), Number.EPSILON);
  return (
    <figure className="sql-chart" aria-label={`${value} by ${name}`}>
      <ul>
        {bars.map((bar, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two rows may have one name
          <li key={at}>
            <span className="ellipsis" title={bar.name}>
              {bar.name}
            </span>
            <span className="sql-bar">
              <span className={bar.value < 0 ? 'negative' : undefined} style={{ width: `${(Math.abs(bar.value) / most) * 100}%` }} />
            </span>
            <span className="num">{bar.value.toLocaleString('en-US', { maximumFractionDigits: 4 })}</span>
          </li>
        ))}
      </ul>
      {left > 0 && <figcaption className="muted small">{say.plural(left, 'more row')} not drawn</figcaption>}
    </figure>
  );
}

const formats = [
  ['csv', 'CSV'],
  ['jsonl', 'JSONL'],
  ['parquet', 'Parquet'],
  ['dataset', 'All views as a Parquet dataset'],
] as const;
type Target = (typeof formats)[number][0];

/** Writes all rows of the statement, or the whole project, to a new file or folder. */
function ToFile({ sql }: { sql: string }) {
  const [target, setTarget] = useState<Target>('csv');
  const [path, setPath] = useState('');
  const [task, start] = useTask<{ readonly rows: number; readonly bytes: number; readonly path: string }>();
  const write = () =>
    start(() => api.analysis.export(target === 'dataset' ? { dataset: true, format: 'parquet', path } : { sql, format: target, path }));
  const title = target === 'dataset' ? 'Path of the new folder' : 'Path of the new file';
  return (
    <form className="sql-file line-above row wrap" aria-label="Write to a file" onSubmit={sending(() => write())}>
      <span className="muted">Write all rows to a file</span>
      <Select label="Format" value={target} options={formats} onChange={setTarget} />
      <Input className="grow" label={title} placeholder={title} value={path} onChange={setPath} />
      <Button type="submit" label={task.state === 'running' ? 'Writing…' : 'Write file'} disabled={task.state === 'running' || path.trim() === ''} />
      {task.state === 'done' && (
        <span role="status" className="tone-good breaks">
          Wrote {say.plural(task.result.rows, 'row')}, {say.bytes(task.result.bytes)}, to {task.result.path}
        </span>
      )}
      <TaskProblem task={task} />
    </form>
  );
}
