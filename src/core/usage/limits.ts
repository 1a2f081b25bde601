import type { ReadChain } from '../chain/index.js';
import { windowIn } from './price-table.js';
import { readUsageSettings } from './settings.js';

/**
 * The window of a call: what its agent recorded, else that of its model. A counted input above what was recorded proves the record wrong, as when an
 * agent that does not know a model writes a default.
 */
export function windowOfCall(
  chain: ReadChain,
  { windowLimit, model }: { readonly windowLimit: number | null; readonly model: string | null },
  counted: number | null,
): number | null {
  const isRight = windowLimit !== null && windowLimit > 0 && (counted === null || counted <= windowLimit);
  return isRight ? windowLimit : limitOf(chain, model, counted);
}

/**
 * The window of a model: a person's own, else that of the data file; null for an unknown model. It is also null if a counted input above the window
 * proves it wrong.
 */
export function limitOf(chain: ReadChain, model: string | null, counted: number | null = null): number | null {
  if (model === null) return null;
  const own = readUsageSettings(chain).modelOf(model)?.limit;
  if (own === undefined) return windowIn(model, counted);
  return counted !== null && counted > own ? null : own;
}
