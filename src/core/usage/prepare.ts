import type { ReadChain, WriteChain } from '../chain/index.js';
import { backfillBatch, pendingCommits } from './backfill.js';
import { factorsOf, saveFactors } from './calibrate.js';
import { catchUpContexts, contextsAreDue } from './context-sums.js';
import { loadPrices, priceInPieces, pricesAreDue } from './prices.js';

/** Whether calls are not stored or not priced yet. */
export const usageIsDue = (chain: ReadChain): boolean => pendingCommits(chain, 1) > 0 || pricesAreDue(chain);

/**
 * Stores the calls of unread commits and looks up missing prices, in short transactions. Yields after each. The calls of contents that are still
 * on the hub are stored when the contents arrive (`countCalls`); a question about usage fetches them first.
 */
export function* catchUpUsage(chain: WriteChain): Generator<void> {
  yield* catchUpCalls(chain);
  yield* priceInPieces(chain);
}

/** The same, between other work of this thread. Loads the list of prices only for new calls, because that takes longer than most answers. */
export async function prepareUsage(chain: WriteChain): Promise<void> {
  if (!usageIsDue(chain)) return;
  await loadPrices();
  for (const _ of catchUpUsage(chain)) await new Promise((resolve) => setTimeout(resolve));
}

/**
 * Measures long conversations, and finds the factors of models with enough calls in a project that has one, in short transactions. Load the tokenizer
 * first. `from`: the commits from which a conversation is long.
 */
export function* catchUpMeasures(chain: WriteChain, from?: number): Generator<void> {
  const isDue = contextsAreDue(chain, from);
  // If nothing is due, it still notes the commit up to which no conversation is long.
  yield* catchUpContexts(chain, from);
  if (!isDue) return;
  const models = chain.db.column<string>("SELECT DISTINCT model FROM usageSum WHERE project = ? AND model <> ''", chain.project);
  for (const model of models) {
    const before = chain.offers.length;
    factorsOf(chain, model);
    for (const found of chain.offers.splice(before)) if (found.kind === 'factors') chain.db.transaction(() => saveFactors(chain, found));
    yield;
  }
}

/** Stores the calls of unread commits, in short transactions. Yields after each. */
export function* catchUpCalls(chain: WriteChain): Generator<void> {
  if (pendingCommits(chain, 1) > 0) while (backfillBatch(chain)) yield;
}
