import type { ReadChain } from '../chain/index.js';
import type { UsageFilter, UsageSessions } from '../contract/index.js';
import type { Days } from './days.js';
import { moneyOf } from './prices.js';
import { readUsageSettings } from './settings.js';
import { sumRows } from './sums.js';

type OverBudget = UsageSessions['overBudget'];

/**
 * Days and sessions of the project that cost more than this machine's budgets, latest day first. A budget covers all work of a day or a session, so
 * filters by model, agent or folder do not change its sum.
 */
export function overBudget(chain: ReadChain, { sessionId, from, to }: UsageFilter, days: Days): OverBudget {
  const { budgets } = readUsageSettings(chain);
  const first = from === undefined ? Number.NEGATIVE_INFINITY : days.numberAt(Date.parse(from));
  const last = to === undefined ? Number.POSITIVE_INFINITY : days.numberAt(Date.parse(to) - 1);
  const spent = new Map<number, Spent>();
  if (budgets.day !== undefined)
    for (const { day, cost, calls, outputs, priced } of sumRows(chain, {}, 'day', days)) {
      if (day < first || day > last) continue;
      const before = spent.get(day);
      const isWhole = outputs === calls && priced === calls && before?.isWhole !== 0;
      spent.set(day, { cost: (before?.cost ?? 0) + cost, isWhole: isWhole ? 1 : 0 });
    }
  const sessions = budgets.session === undefined ? [] : costsBySession(chain);
  return [
    ...[...spent].sort(([a], [b]) => b - a).flatMap(([day, one]) => above('day', days.dayOf(day), one, budgets.day)),
    ...sessions.flatMap(({ session, ...one }) =>
      sessionId === undefined || session === sessionId ? above('session', session, one, budgets.session) : [],
    ),
  ];
}

/** A sum of costs. It is a lower bound unless every call has an output count and a price. */
interface Spent {
  readonly cost: number;
  readonly isWhole: number;
}

const costsBySession = (chain: ReadChain) =>
  chain.db.all<Spent & { readonly session: string }>(
    'SELECT session, SUM(cost) AS cost, MIN(SUM(outputs), SUM(priced)) = SUM(calls) AS isWhole FROM usageSum WHERE project = ? GROUP BY session',
    chain.project,
  );

function above(kind: 'day' | 'session', key: string, { cost, isWhole }: Spent, budget: number | undefined): OverBudget {
  const spent = budget !== undefined && cost > budget ? moneyOf(cost, isWhole === 1) : null;
  return spent && budget !== undefined ? [{ kind, key, spent, budget }] : [];
}
