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
  const days = new Map<string, Spent>();
  if (budgets.day !== undefined)
    for (const { quarter, cost, isWhole } of costsBy<{ quarter: number }>(chain, 'quarter')) {
      if (!within(quarter)) continue;
      const before = days.get(dayOf(quarter));
      days.set(dayOf(quarter), { cost: (before?.cost ?? 0) + cost, isWhole: isWhole && (before?.isWhole ?? 1) });
    }
  const sessions = budgets.session === undefined ? [] : costsBy<{ session: string }>(chain, 'session');
  return [
    ...[...days].sort(([a], [b]) => (a < b ? 1 : -1)).flatMap(([day, spent]) => above('day', day, spent, budgets.day)),
    ...sessions.flatMap(({ session, ...spent }) =>
      sessionId === undefined || session === sessionId ? above('session', session, spent, budgets.session) : [],
    ),
  ];
}

/** A sum of costs. It is a lower bound unless every call has an output count and a price. */
interface Spent {
  readonly cost: number;
  readonly isWhole: number;
}

const costsBy = <Key>(chain: Chain, column: 'quarter' | 'session'): (Key & Spent)[] =>
  chain.db.all<Key & Spent>(
    `SELECT ${column}, SUM(cost) AS cost, MIN(SUM(outputs), SUM(priced)) = SUM(calls) AS isWhole
       FROM ${column === 'quarter' ? 'usageQuarter' : 'usageSum'} WHERE project = ? GROUP BY ${column}`,
    chain.project,
  );

function above(kind: 'day' | 'session', key: string, { cost, isWhole }: Spent, budget: number | undefined): OverBudget {
  const spent = budget !== undefined && cost > budget ? moneyOf(cost, isWhole === 1) : null;
  return spent && budget !== undefined ? [{ kind, key, spent, budget }] : [];
}
