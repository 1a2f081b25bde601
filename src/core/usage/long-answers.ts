import type { ContextId } from '../base/index.js';
import type { Chain } from '../chain/index.js';
import type { UsageContext, UsageLargest, UsageSeries } from '../contract/index.js';
import { usageOfContext } from './context.js';
import { usageLargest } from './largest.js';
import { usageSeries } from './series.js';

/** What a long question is about. */
export interface LongQuestion {
  readonly id: ContextId;
  readonly limit?: number | undefined;
}

/** A series whose calls are one text, because copying 100,000 calls from a thread takes longer. */
export type PackedSeries = Omit<UsageSeries, 'calls'> & { readonly packed: string };

interface LongAnswers {
  readonly context: UsageContext;
  readonly series: PackedSeries;
  readonly largest: UsageLargest[];
}

/** The questions that read a whole context, so a thread answers them. */
export const longAnswers: { readonly [About in keyof LongAnswers]: (chain: Chain, question: LongQuestion) => LongAnswers[About] } = {
  context: (chain, { id }) => usageOfContext(chain, id),
  series: (chain, { id }) => {
    const { calls, ...series } = usageSeries(chain, id);
    return { ...series, packed: JSON.stringify(calls) };
  },
  largest: (chain, { id, limit }) => usageLargest(chain, id, limit),
};
