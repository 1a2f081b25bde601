import type { ReadChain } from '../chain/index.js';
import { windowIn } from './price-table.js';
import { settingsOf } from './settings.js';

/**
 * The window of a model: a person's own, else that of the data file; null for an unknown model. It is also null if a counted input above the window
 * proves it wrong. What an agent recorded comes before both.
 */
export function limitOf(chain: ReadChain, model: string | null, counted: number | null = null): number | null {
  if (model === null) return null;
  const own = settingsOf(chain).modelOf(model)?.limit;
  if (own === undefined) return windowIn(model, counted);
  return counted !== null && counted > own ? null : own;
}
