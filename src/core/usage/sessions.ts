import { badRequest, timestampOf } from '../base/index.js';
import type { Chain } from '../chain/index.js';
import type { groupings, UsageFilter, UsageSessions, UsageSums } from '../contract/index.js';
import { readPending } from './backfill.js';
import { overBudget } from './budgets.js';
import { quarterMs, sumsOfCalls, sumsOfSums } from './facts.js';
import { moneyOf } from './prices.js';

export interface SessionsQuery {
  readonly filter?: UsageFilter | undefined;
  readonly groupBy?: (typeof groupings)[number] | null | undefined;
  readonly timeZone?: string | undefined;
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
}

interface SumRow {
  readonly session: string;
  readonly agent: string;
  readonly subagent: string;
  readonly model: string;
  readonly quarter: number;
  readonly calls: number;
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
  readonly outputs: number;
  readonly priced: number;
  readonly cost: number;
}

/** Sums of calls by session, day, model, repository or agent. @throws BAD_REQUEST for an unknown time zone. */
export function usageSessions(chain: Chain, { filter = {}, groupBy = 'session', timeZone = 'UTC', offset = 0, limit }: SessionsQuery): UsageSessions {
  const dayOf = dayIn(timeZone);
  readPending(chain);
  const repositories = groupBy === 'repository' || filter.repository !== undefined ? repositoriesOf(chain) : new Map<string, string>();
  const groups = new Map<string, { readonly all: Sums; readonly subagents: Sums }>();
  const totals = noSums();
  for (const row of sumRows(chain, filter, groupBy)) {
    const repository = repositories.get(row.session) ?? '';
    if (filter.repository !== undefined && repository !== filter.repository) continue;
    add(totals, row);
    if (groupBy === null) continue;
    const key = keyOf(row, groupBy, repository, dayOf);
    let group = groups.get(key);
    if (!group) {
      group = { all: noSums(), subagents: noSums() };
      groups.set(key, group);
    }
    add(group.all, row);
    if (groupBy === 'session' && row.subagent !== '') add(group.subagents, row);
  }
  const byDay = groupBy === 'day';
  const rows = [...groups].sort(([a, x], [b, y]) => (byDay ? (a < b ? 1 : -1) : y.all.latest - x.all.latest || (a < b ? -1 : 1)));
  return {
    total: rows.length,
    rows: rows.slice(offset, offset + (limit ?? rows.length)).map(([key, { all, subagents }]) => ({
      key,
      ...shown(all),
      ...(groupBy === 'session' && subagents.calls > 0 && { subagents: shown(subagents) }),
    })),
    totals: shown(totals),
    overBudget: overBudget(chain, filter, dayOf),
  };
}

/** The columns by which rows are summed before they are read, for each grouping. A session's subagents are shown apart. */
const summedBy = {
  session: ['session', 'agent', 'subagent'],
  repository: ['session'],
  agent: ['session', 'agent'],
  model: ['session', 'model'],
  day: ['quarter', 'session'],
} as const;

/** The sums of a filter. */
function sumRows(chain: Chain, { sessionId, model, agent, from, to }: UsageFilter, groupBy: SessionsQuery['groupBy']): SumRow[] {
  const conditions = ['project = :project'];
  const parameters: Record<string, string | number> = { project: chain.project };
  const add = (condition: string, name: string, value: string | number | undefined): void => {
    if (value === undefined) return;
    conditions.push(condition);
    parameters[name] = value;
  };
  add('session = :session', 'session', sessionId);
  add('model = :model', 'model', model);
  add('agent = :agent', 'agent', agent);
  const where = conditions.join(' AND ');
  const columns = summedBy[groupBy ?? 'repository'];
  const read = (table: string, condition: string, summed: string, more: Record<string, number>): SumRow[] =>
    chain.db.all<SumRow>(`SELECT ${summed} FROM ${table} WHERE ${where}${condition} GROUP BY ${columns.join(', ')}`, { ...parameters, ...more });
  const ofSums = `${columns.join(', ')}${groupBy === 'day' ? '' : ', MAX(quarter) AS quarter'}, ${sumsOfSums}`;
  if (from === undefined && to === undefined) return read(groupBy === 'day' ? 'usageQuarter' : 'usageSum', '', ofSums, {});
  const { whole, edges } = quartersOf(from === undefined ? undefined : Date.parse(from), to === undefined ? undefined : Date.parse(to));
  const ofCalls = `session, agent, subagent, IFNULL(model, '') AS model, at / ${quarterMs} AS quarter, ${sumsOfCalls}`;
  return [
    ...read('usageQuarter', ' AND quarter >= :first AND quarter < :end', ofSums, whole),
    ...edges.flatMap((edge) =>
      read(
        'usageCall',
        ' AND session IN (SELECT session FROM usageQuarter WHERE project = :project AND quarter = :quarter) AND at >= :from AND at < :to',
        ofCalls,
        edge,
      ),
    ),
  ];
}

interface Edge extends Record<string, number> {
  /** The quarter of an hour, and the part of it in milliseconds. */
  readonly quarter: number;
  readonly from: number;
  readonly to: number;
}

/** A span of time as whole quarters of an hour, and the parts of quarters at its ends, whose calls are counted one by one. */
function quartersOf(
  from = Number.MIN_SAFE_INTEGER,
  to = Number.MAX_SAFE_INTEGER,
): { readonly whole: { readonly first: number; readonly end: number }; readonly edges: readonly Edge[] } {
  const [first, end] = [Math.ceil(from / quarterMs), Math.floor(to / quarterMs)];
  const edge = (quarter: number): Edge => ({
    quarter,
    from: Math.max(from, quarter * quarterMs),
    to: Math.min(to, (quarter + 1) * quarterMs),
  });
  const edges = [...new Set([...(first * quarterMs > from ? [first - 1] : []), ...(end * quarterMs < to ? [end] : [])])].map(edge);
  return { whole: { first, end }, edges: edges.filter((part) => part.from < part.to) };
}

/** The folder of each session, from its latest source. */
const repositoriesOf = (chain: Chain): ReadonlyMap<string, string> =>
  new Map(
    chain.db
      .all<{ sessionId: string; cwd: string }>(
        'SELECT sessionId, cwd FROM source WHERE project = ? AND sessionId IS NOT NULL AND cwd IS NOT NULL ORDER BY no',
        chain.project,
      )
      .map(({ sessionId, cwd }) => [sessionId, cwd] as const),
  );

function keyOf(row: SumRow, groupBy: (typeof groupings)[number], repository: string, dayOf: (quarter: number) => string): string {
  switch (groupBy) {
    case 'session':
      return row.session;
    case 'day':
      return dayOf(row.quarter);
    case 'model':
      return row.model;
    case 'repository':
      return repository;
    case 'agent':
      return row.agent;
  }
}

/** The day of a quarter of an hour in a time zone, such as 2026-01-31. */
function dayIn(timeZone: string): (quarter: number) => string {
  if (timeZone === 'UTC') return (quarter) => timestampOf(quarter * quarterMs).slice(0, 10);
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' });
  } catch {
    throw badRequest('timeZone', `${JSON.stringify(timeZone)} is not a time zone. Name one of the IANA database, such as Europe/Berlin.`);
  }
  const known = new Map<number, string>();
  return (quarter) => {
    const day = known.get(quarter) ?? format.format(quarter * quarterMs);
    known.set(quarter, day);
    return day;
  };
}

interface Sums {
  readonly sessions: Set<string>;
  calls: number;
  input: number;
  cacheRead: number;
  cacheWrite: number;
  output: number;
  outputs: number;
  priced: number;
  cost: number;
  latest: number;
}

const noSums = (): Sums => ({
  sessions: new Set(),
  calls: 0,
  input: 0,
  cacheRead: 0,
  cacheWrite: 0,
  output: 0,
  outputs: 0,
  priced: 0,
  cost: 0,
  latest: Number.NEGATIVE_INFINITY,
});

function add(sums: Sums, row: SumRow): void {
  sums.sessions.add(row.session);
  sums.calls += row.calls;
  sums.input += row.input;
  sums.cacheRead += row.cacheRead;
  sums.cacheWrite += row.cacheWrite;
  sums.output += row.output;
  sums.outputs += row.outputs;
  sums.priced += row.priced;
  sums.cost += row.cost;
  if (row.quarter > sums.latest) sums.latest = row.quarter;
}

function shown({ sessions, calls, input, cacheRead, cacheWrite, output, outputs, priced, cost }: Sums): UsageSums {
  const money = priced > 0 ? moneyOf(cost) : null;
  return {
    sessions: sessions.size,
    calls,
    tokens: { input, cacheRead, cacheWrite, output },
    unknownOutputs: calls - outputs,
    cost: money && { ...money, unpriced: calls - priced, ...(outputs < calls && { atLeast: true as const }) },
  };
}
