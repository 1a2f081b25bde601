import type { ReadChain } from '../chain/index.js';
import known from './model-limits.json' with { type: 'json' };
import { settingsOf } from './settings.js';

/** The context windows of models, as their providers stated them on the date in the file. A person's `usage.json` overrides them. */
const limits = known.models.map(({ pattern, limit }) => [new RegExp(pattern, 'i'), limit] as const);

/** The window of a model; null for an unknown model. It is also null if a counted input above the window proves it wrong. */
export function limitOf(chain: ReadChain, model: string | null, counted: number | null = null): number | null {
  if (model === null) return null;
  const limit = settingsOf(chain).modelOf(model)?.limit ?? limits.find(([pattern]) => pattern.test(model))?.[1] ?? null;
  return limit !== null && counted !== null && counted > limit ? null : limit;
}
