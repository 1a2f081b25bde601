import { say } from '../../parts';
import type { Listed } from './rows';
import { useSpending } from './spending';

const shownNotices = 3;

/** A notice of the days and sessions that cost more than the budgets of this machine. Hidden if no budget was exceeded. */
export function BudgetNotice({ dir, listed }: { dir: string; listed: readonly Listed[] }) {
  const over = useSpending(dir)?.overBudget ?? [];
  if (over.length === 0) return null;
  const titleOf = (id: string): string => listed.find(({ session }) => session?.sessionId === id)?.session?.title ?? id;
  return (
    <ul className="budget-notice" aria-label="Over budget">
      {over.slice(0, shownNotices).map(({ kind, key, spent, budget }) => (
        <li
          key={`${kind} ${key}`}
          className="notice-line"
          title={`At API prices of ${spent.priceDate}. A subscription does not pay them. The file usage.json sets the budgets.`}
        >
          Over budget: {kind === 'day' ? key : <q>{titleOf(key)}</q>} cost <b>{say.money(spent)}</b>; the budget of a {kind} is{' '}
          {say.money({ currency: spent.currency, amount: budget })}.
        </li>
      ))}
      {over.length > shownNotices && (
        <li className="muted">{say.plural(over.length - shownNotices, 'more day or session', 'more days and sessions')} over budget</li>
      )}
    </ul>
  );
}
