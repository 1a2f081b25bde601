import type { UsageCall } from '../../../core/contract/index.js';
import { basis, say } from '../../parts';

/** The cost of a call; `≥` marks a lower bound. */
export const priceText = (cost: UsageCall['cost']): string => (cost === null ? 'no price' : say.money(cost));

/** The cost of a call, or why it has none. */
export const costText = ({ cost, window }: UsageCall): string => (cost === null && window === null ? 'not recorded' : priceText(cost));

/** The purpose of a call outside the conversation. */
export const besideWords = (purpose: string): string => `${purpose}, beside the conversation`;

/** The source of the input count of a call. */
export const sentWords = ({ window }: UsageCall): string =>
  window === null ? basis.notRecorded : `${basis.counted}: uncached input, cache reads and cache writes`;

/** The source of the cost of a call. */
export const costWords = ({ cost, model, tokens, window }: UsageCall): string => {
  if (cost === null && window === null) return `${basis.notRecorded}, so the cost is unknown`;
  if (cost === null)
    return model === null
      ? 'The agent recorded no model, so the call has no price.'
      : `The list has no price for ${model}. The file usage.json can set one.`;
  const known = `At API prices of ${cost.priceDate} for ${model ?? 'the model'}. A subscription does not pay them.`;
  return tokens.output === null ? `${known} A lower bound: the output was not recorded.` : known;
};

/** The source of the cached tokens of a call. */
export const cacheWords = ({ tokens }: UsageCall): string =>
  tokens.cacheRead === null
    ? basis.notRecorded
    : `${basis.counted}${tokens.cacheWrite === null ? '; writes are not recorded' : ''}${tokens.cacheWrite1h ? `; ${say.exact(tokens.cacheWrite1h)} of the written tokens stay for an hour` : ''}`;

/** The source of the tokens and the wait of a reply. */
export const replyWords = ({ tokens, waitMs }: UsageCall): string =>
  `${tokens.output === null ? 'Not recorded: the agent wrote no final count of this reply' : `${basis.counted}: the whole reply with its thinking`}. ${
    waitMs === null ? 'The times of the request and the reply do not give a wait.' : 'The time from the last entry before the reply to its end.'
  }`;
