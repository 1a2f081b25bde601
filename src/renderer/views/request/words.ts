import type { UsageCall } from '../../../core/contract/index.js';
import { say } from '../../parts';

/** What a call cost; `≥` marks a lower bound. */
export const priceText = (cost: UsageCall['cost']): string => (cost === null ? 'no price' : say.money(cost));

/** Where the cost of a call comes from. */
export const costWords = ({ cost, model, tokens }: UsageCall): string => {
  if (cost === null)
    return model === null
      ? 'The agent recorded no model, so the call has no price.'
      : `The list has no price for ${model}, or the input was not counted. The file usage.json can set one.`;
  const known = `At API prices of ${cost.priceDate} for ${model ?? 'the model'}. A subscription does not pay them.`;
  return tokens.output === null ? `${known} A lower bound: the output was not recorded.` : known;
};

/** Where the cached tokens of a call come from. */
export const cacheWords = ({ tokens }: UsageCall): string =>
  tokens.cacheRead === null
    ? 'The agent did not record what was read from the cache.'
    : `As the provider counted them${tokens.cacheWrite1h ? `; ${say.exact(tokens.cacheWrite1h)} of the written tokens stay for an hour` : ''}`;

/** Where the tokens and the wait of a reply come from. */
export const replyWords = ({ tokens, waitMs }: UsageCall): string =>
  `${tokens.output === null ? 'The agent recorded no final count of this reply.' : 'The whole reply with its thinking, as the provider counted it.'} ${
    waitMs === null ? 'The times of the request and the reply do not give a wait.' : 'The time from the last entry before the reply to its end.'
  }`;
