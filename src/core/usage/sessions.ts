import { badRequest, timestampOf } from '../base/index.js';
import type { Chain } from '../chain/index.js';
import type { groupings, UsageFilter, UsageSessions, UsageSums } from '../contract/index.js';
import { readPending } from './backfill.js';
import { overBudget } from './budgets.js';
import { quarterMs } from './facts.js';
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

/**
 * The columns by which rows are summed before they are read, for each grouping: the beginning of the table's key, so that SQLite sorts
 * nothing. A session's subagents are shown apart. Days begin at another quarter of an hour in each time zone, so they need every row.
 */
const summedBy = {
  session: ['session', 'agent', 'subagent'],
  repository: ['session'],
  agent: ['session', 'agent'],
  model: ['session', 'agent', 'subagent', 'model'],
} as const;
const sizes = ['calls', 'input', 'cacheRead', 'cacheWrite', 'output', 'outputs', 'priced', 'cost'];

function selectSums(groupBy: SessionsQuery['groupBy'], where: string): string {
  if (groupBy === 'day') return `SELECT session, quarter, ${sizes.join(', ')} FROM usageSum WHERE ${where}`;
  const columns = summedBy[groupBy ?? 'repository'].join(', ');
  const summed = sizes.map((name) => `SUM(${name}) AS ${name}`).join(', ');
  return `SELECT ${columns}, MAX(quarter) AS quarter, ${summed} FROM usageSum WHERE ${where} GROUP BY ${columns}`;
}

/** The sums of a filter. Quarters of an hour at its ends are counted call by call. */
function sumRows(chain: Chain, { sessionId, model, agent, from, to }: UsageFilter, groupBy: SessionsQuery['groupBy']): Iterable<SumRow> {
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
  if (from === undefined && to === undefined) return chain.db.all<SumRow>(selectSums(groupBy, where), parameters);
  return chain.db.all<SumRow>(
    `SELECT session, agent, subagent, IFNULL(model, '') AS model, at / ${quarterMs} AS quarter, COUNT(*) AS calls, IFNULL(SUM(input), 0) AS input,
            IFNULL(SUM(cacheRead), 0) AS cacheRead, IFNULL(SUM(cacheWrite), 0) AS cacheWrite, IFNULL(SUM(output), 0) AS output,
            COUNT(output) AS outputs, COUNT(cost) AS priced, IFNULL(SUM(cost), 0) AS cost
       FROM usageCall WHERE ${where} AND at >= :from AND at < :to GROUP BY 1, 2, 3, 4, 5`,
    {
      ...parameters,
      from: from === undefined ? Number.MIN_SAFE_INTEGER : Date.parse(from),
      to: to === undefined ? Number.MAX_SAFE_INTEGER : Date.parse(to),
    },
  );
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
