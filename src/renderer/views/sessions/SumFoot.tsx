import { useMemo } from 'react';
import { LinkButton, say } from '../../parts';
import { go } from '../../state';
import type { Listed } from './rows';
import { sumListed, useSpending } from './spending';

/** The sums of the listed sessions, below the list. */
export function SumFoot({ dir, shown }: { dir: string; shown: readonly Listed[] }) {
  const spent = useSpending(dir);
  const sums = useMemo(() => spent && sumListed(shown, spent.rows), [spent, shown]);
  if (!spent || !sums || sums.sessions === 0) return null;
  const date = spent.totals.cost?.priceDate;
  return (
    <p className="sessions-foot row wrap muted" role="note" aria-label="Sums of the listed sessions">
      <span>{say.plural(sums.sessions, 'session')}</span>
      <span>{say.plural(sums.turns, 'turn')}</span>
      <span>{say.plural(sums.calls, 'call')}</span>
      <span title={`Counted by the providers: input, cache and output${sums.areTokensMissing ? '. ≥: a count is missing' : ''}`}>
        {sums.areTokensMissing && '≥ '}
        {say.compact(sums.tokens)} tokens
      </span>
      <span title={`At API prices${date ? ` of ${date}` : ''}. A subscription does not pay them.`}>
        <b>{sums.cost > 0 ? say.money({ amount: sums.cost, currency: 'USD', ...(sums.isLowerBound && { atLeast: true as const }) }) : 'no price'}</b>
      </span>
      <span>{say.plural(sums.errors, 'error')}</span>
      {sums.notImported > 0 && <span>{say.exact(sums.notImported)} not imported, not counted</span>}
      <span className="grow" />
      <LinkButton
        title="What the last 30 days cost, by repository"
        onClick={() => go({ view: 'usage', range: '30', group: undefined, measure: undefined, only: undefined, bar: undefined })}
      >
        Last month by repository
      </LinkButton>
    </p>
  );
}
