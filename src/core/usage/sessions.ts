import type { ReadChain } from '../chain/index.js';
import type { InputOf, UsageSessions, UsageSums } from '../contract/index.js';
import { repositoryAt } from '../files/index.js';
import { requireContents } from './backfill.js';
import { overBudget } from './budgets.js';
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
