import type { Chain } from '../chain/index.js';
import type { UsageFilter, UsageSessions } from '../contract/index.js';
import { quarterMs } from './facts.js';
import { moneyOf } from './prices.js';
import { settingsOf } from './settings.js';

type OverBudget = UsageSessions['overBudget'];

/**
 * Days and sessions of the project that cost more than this machine's budgets, the latest day first. A budget concerns all work of a day or a
 * session, so a filter by model, agent or folder does not change its sum.
 */
export function overBudget(chain: Chain, { sessionId, from, to }: UsageFilter, dayOf: (quarter: number) => string): OverBudget {
  const { budgets } = settingsOf(chain);
  const within = (quarter: number): boolean =>
    (from === undefined || quarter >= Math.floor(Date.parse(from) / quarterMs)) && (to === undefined || quarter * quarterMs < Date.parse(to));
  const days = new Map<string, number>();
  if (budgets.day !== undefined)
    for (const { quarter, cost } of costsBy<{ quarter: number }>(chain, 'quarter'))
      if (within(quarter)) days.set(dayOf(quarter), (days.get(dayOf(quarter)) ?? 0) + cost);
  const sessions = budgets.session === undefined ? [] : costsBy<{ session: string }>(chain, 'session');
  return [
    ...[...days].sort(([a], [b]) => (a < b ? 1 : -1)).flatMap(([day, cost]) => above('day', day, cost, budgets.day)),
    ...sessions.flatMap(({ session, cost }) =>
      sessionId === undefined || session === sessionId ? above('session', session, cost, budgets.session) : [],
    ),
  ];
}

const costsBy = <Key>(chain: Chain, column: 'quarter' | 'session'): (Key & { readonly cost: number })[] =>
  chain.db.all<Key & { readonly cost: number }>(
    `SELECT ${column}, SUM(cost) AS cost FROM usageSum WHERE project = ? GROUP BY ${column}`,
    chain.project,
  );

function above(kind: 'day' | 'session', key: string, cost: number, budget: number | undefined): OverBudget {
  const spent = budget !== undefined && cost > budget ? moneyOf(cost) : null;
  return spent && budget !== undefined ? [{ kind, key, spent, budget }] : [];
}
