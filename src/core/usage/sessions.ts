import type { ReadChain } from '../chain/index.js';
import type { InputOf, UsageFilter, UsageSessions, UsageSums } from '../contract/index.js';
import { repositoryAt } from '../files/index.js';
import { requireContents } from './backfill.js';
import type { Days } from './days.js';
import { type CallSums, sums, zeroSums } from './facts.js';
import { moneyOf } from './prices.js';
import { readUsageSettings } from './settings.js';
import { daysOf, type SumRow, sumRows } from './sums.js';

/** Sums of calls by session, day, model, repository or agent. @throws BAD_REQUEST for an unknown time zone. */
export function usageSessions(
  chain: ReadChain,
  { filter = {}, groupBy = 'session', timeZone = 'UTC', offset = 0, limit }: InputOf<'usage.sessions'>,
): UsageSessions {
  requireContents(chain);
  const days = daysOf(chain, timeZone);
  const repositories = groupBy === 'repository' || filter.repository !== undefined ? repositoriesOf(chain) : new Map<string, string>();
  const groups = new Map<string, { readonly all: SumsOfCalls; readonly subagents: SumsOfCalls }>();
  const totals = noSums();
  for (const row of sumRows(chain, filter, groupBy, days)) {
    const repository = repositories.get(row.session) ?? '';
    if (filter.repository !== undefined && repository !== filter.repository) continue;
    addSum(totals, row);
    if (groupBy === null) continue;
    const key = groupBy === 'day' ? days.dayOf(row.day) : groupBy === 'repository' ? repository : row[groupBy];
    const group = groups.get(key) ?? { all: noSums(), subagents: noSums() };
    groups.set(key, group);
    addSum(group.all, row);
    if (groupBy === 'session' && row.subagent !== '') addSum(group.subagents, row);
  }
  const { budgets } = readUsageSettings(chain);
  const byDay = groupBy === 'day';
  const rows = [...groups].sort(([a, x], [b, y]) => (byDay ? (a < b ? 1 : -1) : y.all.latest - x.all.latest || (a < b ? -1 : 1)));
  return {
    total: rows.length,
    rows: rows.slice(offset, offset + (limit ?? rows.length)).map(([key, { all, subagents }]) => ({
      key,
      ...shownSums(all),
      ...(groupBy === 'session' && subagents.calls > 0 && { subagents: shownSums(subagents) }),
    })),
    totals: shownSums(totals),
    overBudget: overBudget(chain, filter, days),
    ...(Object.keys(budgets).length > 0 && { budgets }),
  };
}

/** The folder of each session, from its latest source. */
const repositoriesOf = (chain: ReadChain): ReadonlyMap<string, string> =>
  new Map(chain.db.rows<[string, string]>(folders, chain.project).map(([sessionId, cwd]) => [sessionId, repositoryAt(cwd)] as const));
const folders = 'SELECT sessionId, cwd FROM source WHERE project = ? AND sessionId IS NOT NULL AND cwd IS NOT NULL ORDER BY no';

type SumsOfCalls = CallSums & { readonly sessions: Set<string>; latest: number };

/** The same with their sessions. */
export const noSums = (): SumsOfCalls => ({ ...zeroSums(), sessions: new Set(), latest: Number.NEGATIVE_INFINITY });

/** Adds the sums of calls of one session. */
function addSum(to: SumsOfCalls, row: SumRow): void {
  to.sessions.add(row.session);
  for (const name of sums) to[name] += row[name];
  to.latest = Math.max(to.latest, row.quarter);
}

/** Sums as the procedures return them. */
export function shownSums({ sessions, calls, input, cacheRead, cacheWrite, output, priced, cost, ...counted }: SumsOfCalls): UsageSums {
  const isWhole = counted.outputs === calls && priced === calls;
  const money = priced > 0 ? moneyOf(cost, isWhole) : null;
  return {
    sessions: sessions.size,
    calls,
    tokens: { input, cacheRead, cacheWrite, output },
    unknownInputs: calls - counted.inputs,
    unknownCacheReads: calls - counted.cacheReads,
    unknownCacheWrites: calls - counted.cacheWrites,
    unknownOutputs: calls - counted.outputs,
    cost: money && { ...money, unpriced: calls - priced },
  };
}

type OverBudget = UsageSessions['overBudget'];

/**
 * Days and sessions of the project that cost more than this machine's budgets, latest day first. A budget covers all work of a day or a session, so
 * filters by model, agent or folder do not change its sum.
 */
export function overBudget(chain: ReadChain, { sessionId, from, to }: UsageFilter, days: Days): OverBudget {
  const { budgets } = readUsageSettings(chain);
  const first = from === undefined ? Number.NEGATIVE_INFINITY : days.numberAt(Date.parse(from));
  const last = to === undefined ? Number.POSITIVE_INFINITY : days.numberAt(Date.parse(to) - 1);
  const rows = budgets.day === undefined ? [] : sumRows(chain, {}, 'day', days);
  const byDay = Map.groupBy(rows, ({ day }) => day);
  const wanted = [...byDay.keys()].filter((day) => day >= first && day <= last).sort((a, b) => b - a);
  const select =
    'SELECT session, SUM(cost) AS cost, SUM(outputs) AS outputs, SUM(priced) AS priced, SUM(calls) AS calls FROM usageSum WHERE project = ? GROUP BY session';
  const sessions = budgets.session === undefined ? [] : chain.db.all<Spent & { readonly session: string }>(select, chain.project);
  const ofSession = sessions.filter(({ session }) => sessionId === undefined || session === sessionId);
  return [
    ...wanted.flatMap((day) => above('day', days.dayOf(day), byDay.get(day) ?? [], budgets.day)),
    ...ofSession.flatMap((row) => above('session', row.session, [row], budgets.session)),
  ];
}

type Spent = Pick<CallSums, 'cost' | 'outputs' | 'priced' | 'calls'>;

/** The sum of costs, if it is above a budget. It is a lower bound unless every call has an output count and a price. */
function above(kind: 'day' | 'session', key: string, rows: readonly Spent[], budget = Number.POSITIVE_INFINITY): OverBudget {
  const cost = rows.reduce((sum, row) => sum + row.cost, 0);
  const isWhole = rows.every(({ outputs, priced, calls }) => outputs === calls && priced === calls);
  const spent = cost > budget ? moneyOf(cost, isWhole) : null;
  return spent ? [{ kind, key, spent, budget }] : [];
}
