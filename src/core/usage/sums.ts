import { defined, type Timestamp } from '../base/index.js';
import type { ReadChain } from '../chain/index.js';
import type { groupings, UsageFilter } from '../contract/index.js';
import { type Days, daysIn } from './days.js';
import { type CallSums, isCounted, quarterMs, type Summed, sumsOfCalls, sumsOfSums } from './facts.js';
import { nameIn, numberOf, numbersOf } from './names.js';

/** Sums of calls, with the quarter of an hour of the latest one. Columns by which they are not grouped are missing. */
export interface SumRow extends Summed, CallSums {
  /** The number of the day. */
  readonly day: number;
}

type Grouping = (typeof groupings)[number] | null;

/** The columns by which SQL groups the sums, for each grouping. A session's subagents are shown separately. */
const summedBy = {
  session: ['session', 'agent', 'subagent'],
  repository: ['session'],
  agent: ['session', 'agent'],
  model: ['session', 'model'],
  day: ['day', 'session'],
} as const;

/** The days of a time zone, for all calls of the project. @throws BAD_REQUEST for an unknown time zone. */
export function daysOf(chain: ReadChain, timeZone: string): Days {
  const range = 'SELECT IFNULL(MIN(first), 0) AS first, IFNULL(MAX(quarter), 0) AS last FROM usageSum WHERE project = ?';
  const { first, last } = chain.db.one<{ first: number; last: number }>(range, chain.project) ?? { first: 0, last: 0 };
  return daysIn(timeZone, first, last);
}

/**
 * The sums of the calls that match a filter. If a session lies within one day and within the filter's time, its sums are in `usageSum`. Only sessions
 * that cross a boundary are summed by quarters of an hour.
 */
export function sumRows(chain: ReadChain, { sessionId, model, agent, from, to }: UsageFilter, groupBy: Grouping, days: Days): SumRow[] {
  const parameters = defined({ project: chain.project, session: sessionId, model, agent });
  const conditions = (given: (name: string) => string): string =>
    Object.keys(parameters)
      .map((name) => `s.${name} = ${name === 'project' ? ':project' : given(`:${name}`)}`)
      .join(' AND ');
  const where = conditions((name) => name);
  const span = from === undefined && to === undefined ? undefined : quartersOf(from, to);
  const names = summedBy[groupBy ?? 'repository'];
  const columns = (table: string, quarter: string, textIn = (column: string): string => column): string =>
    names.map((name) => `${name === 'day' ? days.numberOf(quarter) : textIn(`${table}.${name}`)} AS ${name}`).join(', ');
  const read = (sql: string, more: Record<string, number> = {}): SumRow[] =>
    chain.db.all<SumRow>(`${sql} GROUP BY ${names.map((_, at) => at + 1).join(', ')}`, { ...parameters, ...more });
  const inside = [
    ...(span ? ['s.first >= :first AND s.quarter < :end'] : []),
    ...(groupBy === 'day' ? [`${days.numberOf('s.first')} = ${days.numberOf('s.quarter')}`] : []),
  ].join(' AND ');
  const selected = (table: string): string =>
    `SELECT ${columns(table, `${table}.quarter`)}, MAX(${table}.quarter) AS quarter, ${sumsOfSums(table)} FROM usageSum s`;
  if (inside === '') return read(`${selected('s')} WHERE ${where}`);
  const joined = ['project', 'session', 'agent', 'subagent', 'model'].map((name) => `q.${name} = s.${name}`).join(' AND ');
  const within = span ? ' AND s.quarter >= :first AND s.first < :end AND q.quarter >= :first AND q.quarter < :end' : '';
  return [
    ...read(`${selected('s')} WHERE ${where} AND ${inside}`, span?.whole),
    // Without the hint, SQLite reads all quarters of the project for each row.
    ...read(
      `${selected('q')} CROSS JOIN usageQuarter q INDEXED BY usageQuarterSession ON ${joined} WHERE ${where} AND NOT (${inside})${within}`,
      span?.whole,
    ),
    ...(span?.edges ?? []).flatMap((edge) =>
      read(
        `SELECT ${columns('s', `(s.at / ${quarterMs})`, (column) => `IFNULL(${nameIn(column)}, '')`)}, MAX(s.at / ${quarterMs}) AS quarter, ${sumsOfCalls} FROM usageCall s
          WHERE ${conditions(numberOf)} AND s.session IN ${numbersOf('SELECT session FROM usageQuarter WHERE project = :project AND quarter = :quarter')}
            AND s.at >= :from AND s.at < :to AND s.${isCounted}`,
        edge,
      ),
    ),
  ];
}

/** A period as whole quarters of an hour, and the partial quarters at its ends, whose calls are counted one by one. */
function quartersOf(since: Timestamp | undefined, until: Timestamp | undefined) {
  const [from, to] = [since ? Date.parse(since) : Number.MIN_SAFE_INTEGER, until ? Date.parse(until) : Number.MAX_SAFE_INTEGER];
  const [first, end] = [Math.ceil(from / quarterMs), Math.floor(to / quarterMs)];
  const edges = [...new Set([...(first * quarterMs > from ? [first - 1] : []), ...(end * quarterMs < to ? [end] : [])])].map((quarter) => {
    const begin = quarter * quarterMs;
    return { quarter, from: Math.max(from, begin), to: Math.min(to, begin + quarterMs) };
  });
  return { whole: { first, end }, edges: edges.filter((part) => part.from < part.to) };
}
