import { useMemo } from 'react';
import type { UsageCall } from '../../../core/contract/index.js';
import { basis, say } from '../../parts';
import { totalsOf } from './calls';
import { priceText } from './words';

/** The total cost of the listed calls, and the loss by their cache misses. */
export function Sum({ calls }: { calls: readonly UsageCall[] }) {
  const { cost, unpriced, unknownOutputs, lostTokens, lostCost } = useMemo(() => totalsOf(calls), [calls]);
  const unknown = [
    ...(unpriced > 0 ? [`${say.plural(unpriced, 'call')} without a price left out.`] : []),
    ...(unknownOutputs > 0 ? [`${say.plural(unknownOutputs, 'reply', 'replies')} without an output count.`] : []),
  ];
  return (
    <p className="calls-sum wrap small muted" role="note" aria-label="Cost of this branch">
      {cost ? (
        <span title={[`All ${say.plural(calls.length, 'call')} of this branch.`, 'A subscription does not pay API prices.', ...unknown].join(' ')}>
          <b>{priceText(cost)}</b> at API prices of {cost.priceDate}
        </span>
      ) : (
        <span title={whyNoPrice(calls)}>{calls.every(({ window }) => window === null) ? 'cost not recorded' : 'no price'}</span>
      )}
      {lostTokens > 0 && (
        <span title="What cache misses cost beyond reading the same tokens from the cache, added up over this branch">
          misses lost {lostCost && <b>{priceText(lostCost)}</b>} with {say.exact(lostTokens)} tokens paid again
        </span>
      )}
    </p>
  );
}

function whyNoPrice(calls: readonly UsageCall[]): string {
  const models = [...new Set(calls.flatMap(({ window, model }) => (window === null ? [] : [model ?? 'a model that was not recorded'])))];
  return models.length === 0
    ? `${basis.notRecorded}, so the cost is unknown`
    : `The list has no price for ${models.join(', ')}. The file usage.json can set one.`;
}
