import { onceFor } from '../base/index.js';
import type { ReadChain } from '../chain/index.js';
import { dayMs, parseTemplate, quarterMs } from './facts.js';
import { nameIn } from './names.js';

/** How a column is stored. A time is a number of milliseconds since 1970. */
type FactKind = 'text' | 'count' | 'number' | 'time' | 'yes-no';

/** Facts of one month, by columns of equal length. They hold names and counts, and no content. */
export interface FactPartition {
  readonly table: 'calls' | 'sessions' | 'tool_calls';
  /** The month in UTC, such as `2026-01`. */
  readonly month: string;
  readonly columns: readonly { readonly name: string; readonly kind: FactKind; readonly values: readonly Value[] }[];
}

type Value = string | number | boolean | null;
type Columns = readonly { readonly name: string; readonly kind: FactKind }[];
const columnsOf = (kind: FactKind, ...names: readonly string[]): Columns => names.map((name) => ({ name, kind }));

/** The number of rows to read together. Each group of months is one scan of the table. */
const rowsAtOnce = 500_000;

/** Every fact of a project that is counted, one partition after the other. A partition holds all facts of its month, so that writing it again replaces it. */
export function* factPartitions(chain: ReadChain): Generator<FactPartition> {
  yield* callPartitions(chain);
  yield* sessionPartitions(chain);
  yield* toolPartitions(chain);
}

const callColumns: Columns = [
  ...columnsOf('text', 'call', 'session', 'agent', 'subagent', 'model'),
  ...columnsOf('time', 'at', 'asked_at', 'ended_at'),
  ...columnsOf('count', 'input', 'cache_read', 'cache_write', 'cache_write_1h', 'output', 'reasoning'),
  ...columnsOf('number', 'cost'),
  ...columnsOf('text', 'flaw'),
];

function* callPartitions({ db, project }: ReadChain): Generator<FactPartition> {
  // The sums by quarter of an hour are far fewer rows than the calls.
  const counts = `SELECT quarter / ${dayMs / quarterMs} AS day, sum(calls) AS rows FROM usageQuarter WHERE project = ? GROUP BY 1 ORDER BY 1`;
  for (const { from, to } of spans(db.all(counts, project))) {
    const rows = db.each<Record<string, Value>>(
      `SELECT call, ${['session', 'agent', 'subagent', 'model'].map((name) => `${nameIn(`u.${name}`)} AS ${name}`).join(', ')}, at, askedAt AS asked_at, endedAt AS ended_at, input, cacheRead AS cache_read,
              cacheWrite AS cache_write, cacheWrite1h AS cache_write_1h, output, reasoning, cost, flaw
         FROM usageCall u NOT INDEXED WHERE project = ? AND at >= ? AND at < ?`,
      [project, from, to],
    );
    yield* partitioned('calls', callColumns, rows, ({ at }) => at as number);
  }
}

/** The month of a day since 1970, in UTC, such as `2026-01`. */
export const monthOfDay = (day: number): string => new Date(day * dayMs).toISOString().slice(0, 7);

/** Periods of whole months, each with at most about `rowsAtOnce` rows unless a single month has more. */
function* spans(days: readonly { readonly day: number; readonly rows: number }[]): Generator<{ readonly from: number; readonly to: number }> {
  const months = [...Map.groupBy(days, ({ day }) => monthOfDay(day)).values()];
  let [from, to, rows] = [undefined as number | undefined, 0, 0];
  for (const month of months) {
    const more = month.reduce((sum, day) => sum + day.rows, 0);
    if (from !== undefined && rows + more > rowsAtOnce) {
      yield { from, to };
      [from, rows] = [undefined, 0];
    }
    from ??= (month[0]?.day ?? 0) * dayMs;
    to = ((month.at(-1)?.day ?? 0) + 1) * dayMs;
    rows += more;
  }
  if (from !== undefined) yield { from, to };
}

const sessionColumns: Columns = [
  ...columnsOf('text', 'session', 'agent'),
  ...columnsOf('time', 'began_at', 'last_at'),
  ...columnsOf('count', 'commits', 'errors', 'calls', 'input', 'cache_read', 'cache_write', 'output'),
  ...columnsOf('number', 'cost'),
];

function sessionPartitions({ db, project }: ReadChain): Generator<FactPartition> {
  const rows = db.all<Record<string, Value>>(
    `SELECT c.sessionId AS session, substr(c.template, 1, instr(c.template || '/', '/') - 1) AS agent, min(c.createdAt) AS began_at,
            max(c.createdAt) AS last_at, count(*) AS commits, sum(c.errors) AS errors, ifnull(u.calls, 0) AS calls, u.input, u.cacheRead AS cache_read,
            u.cacheWrite AS cache_write, u.output, u.cost
       FROM commits c
       LEFT JOIN (SELECT session, sum(calls) AS calls, iif(sum(inputs) > 0, sum(input), NULL) AS input, iif(sum(cacheReads) > 0, sum(cacheRead), NULL) AS cacheRead,
                         iif(sum(cacheWrites) > 0, sum(cacheWrite), NULL) AS cacheWrite, iif(sum(outputs) > 0, sum(output), NULL) AS output,
                         iif(sum(priced) > 0, sum(cost), NULL) AS cost FROM usageSum WHERE project = ? GROUP BY session) u ON u.session = c.sessionId
      WHERE c.project = ? AND c.sessionId IS NOT NULL GROUP BY c.sessionId`,
    [project, project],
  );
  return partitioned('sessions', sessionColumns, rows, ({ began_at }) => began_at as number);
}

const toolColumns: Columns = [
  ...columnsOf('text', 'session', 'agent', 'subagent', 'commit', 'call', 'tool'),
  ...columnsOf('time', 'at'),
  ...columnsOf('count', 'argument_tokens'),
  ...columnsOf('yes-no', 'is_error'),
  ...columnsOf('count', 'result_tokens'),
];

function* toolPartitions({ db, project }: ReadChain): Generator<FactPartition> {
  const counts = `SELECT createdAt / ${dayMs} AS day, sum(entries) AS rows FROM commits WHERE +project = ? AND type = 'delta' GROUP BY 1 ORDER BY 1`;
  for (const { from, to } of spans(db.all(counts, project))) {
    const rows = db.each<Record<string, Value> & { readonly template: string }>(
      `SELECT c.sessionId AS session, c.template, c.id AS "commit", IFNULL(t.callId, '') AS call, t.name AS tool, t.at, t.tokens AS argument_tokens,
              t.isError = 1 AS failed, t.resultTokens AS result_tokens, c.createdAt AS committed
         FROM commits c JOIN usageTool t ON t.context = c.seq WHERE c.project = ? AND c.createdAt >= ? AND c.createdAt < ? ORDER BY c.seq, t.no`,
      [project, from, to],
    );
    yield* partitioned('tool_calls', toolColumns, withAgents(rows), ({ committed }) => committed as number);
  }
}

function* withAgents(rows: Iterable<Record<string, Value> & { readonly template: string }>): Generator<Record<string, Value>> {
  for (const row of rows) yield { ...row, ...parseTemplate(row.template), is_error: row.failed === null ? null : row.failed === 1 };
}

/** Rows as columns, one partition for each month. */
function* partitioned(
  table: FactPartition['table'],
  columns: Columns,
  rows: Iterable<Record<string, Value>>,
  timeOf: (row: Record<string, Value>) => number,
): Generator<FactPartition> {
  const months = new Map<string, (Columns[number] & { readonly values: Value[] })[]>();
  const columnsOfDay = onceFor((day: number) => {
    const month = monthOfDay(day);
    const own = months.get(month) ?? columns.map((column) => ({ ...column, values: [] }));
    months.set(month, own);
    return own;
  });
  for (const row of rows) for (const { name, values } of columnsOfDay(Math.floor(timeOf(row) / dayMs))) values.push(row[name] ?? null);
  for (const [month, own] of [...months].sort(([a], [b]) => (a < b ? -1 : 1))) yield { table, month, columns: own };
}
