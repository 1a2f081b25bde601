import type { ReadChain } from '../chain/index.js';
import type { groupings, InputOf, UsageSessions, UsageSums } from '../contract/index.js';
import { repositoryAt } from '../files/index.js';
import { requireContents } from './backfill.js';
import { overBudget } from './budgets.js';
import type { Days } from './days.js';
import { sums } from './facts.js';
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
  const groups = new Map<string, { readonly all: Sums; readonly subagents: Sums }>();
  const totals = noSums();
  for (const row of sumRows(chain, filter, groupBy, days)) {
    const repository = repositories.get(row.session) ?? '';
    if (filter.repository !== undefined && repository !== filter.repository) continue;
    add(totals, row);
    if (groupBy === null) continue;
    const key = groupKey(row, groupBy, repository, days);
    let group = groups.get(key);
    if (!group) {
      group = { all: noSums(), subagents: noSums() };
      groups.set(key, group);
    }
    add(group.all, row);
    if (groupBy === 'session' && row.subagent !== '') add(group.subagents, row);
  }
  const { budgets } = readUsageSettings(chain);
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
    overBudget: overBudget(chain, filter, days),
    ...(Object.keys(budgets).length > 0 && { budgets }),
  };
}

/** The folder of each session, from its latest source. */
const repositoriesOf = (chain: ReadChain): ReadonlyMap<string, string> =>
  new Map(
    chain.db
      .all<{ sessionId: string; cwd: string }>(
        'SELECT sessionId, cwd FROM source WHERE project = ? AND sessionId IS NOT NULL AND cwd IS NOT NULL ORDER BY no',
        chain.project,
      )
      .map(({ sessionId, cwd }) => [sessionId, repositoryAt(cwd)] as const),
  );

function groupKey(row: SumRow, groupBy: (typeof groupings)[number], repository: string, { dayOf }: Days): string {
  switch (groupBy) {
    case 'session':
      return row.session;
    case 'day':
      return dayOf(row.day);
    case 'model':
      return row.model;
    case 'repository':
      return repository;
    case 'agent':
      return row.agent;
  }
}

type Sums = Record<(typeof sums)[number], number> & { readonly sessions: Set<string>; latest: number };

const noSums = (): Sums => ({
  ...(Object.fromEntries(sums.map((name) => [name, 0])) as Record<(typeof sums)[number], number>),
  sessions: new Set(),
  latest: Number.NEGATIVE_INFINITY,
});

function add(to: Sums, row: SumRow): void {
  to.sessions.add(row.session);
  for (const name of sums) to[name] += row[name];
  to.latest = Math.max(to.latest, row.quarter);
}

function shown({ sessions, calls, input, cacheRead, cacheWrite, output, priced, cost, ...counted }: Sums): UsageSums {
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
