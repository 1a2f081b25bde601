import type { ReadChain } from '../chain/index.js';
import type { UsageFilter, UsageSessions } from '../contract/index.js';
import type { Days } from './days.js';
import type { CallSums } from './facts.js';
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
