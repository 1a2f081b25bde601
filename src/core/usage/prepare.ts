import type { Chain } from '../chain/index.js';
import { backfillBatch, pendingCommits } from './backfill.js';
import { loadPrices, priceInPieces } from './prices.js';

/** The run that prepares a project, while it lasts. */
const running = new WeakMap<Chain, Promise<void>>();

/**
 * Call it before a question about costs. It loads the list of prices. In a project, it then stores the calls of commits that are not read
 * yet, and looks up the prices that are missing, a piece at a time. The engine answers other calls in between. While another thread or
 * process writes, it leaves the rest for later.
 */
export async function preparePrices(chain?: Chain): Promise<void> {
  await loadPrices();
  if (!chain) return;
  const run = running.get(chain) ?? prepare(chain).finally(() => running.delete(chain));
  running.set(chain, run);
  await run;
}

async function prepare(chain: Chain): Promise<void> {
  if (chain.db.readonly || !chain.db.isFree()) return;
  for (const _ of pieces(chain)) {
    await new Promise((resolve) => setTimeout(resolve));
    if (!chain.db.isFree()) return;
  }
}

function* pieces(chain: Chain): Generator<void> {
  // Where contents are still to come, the question itself fetches them, so that usage is never counted from a part of the commits.
  if (!chain.artifacts.copies.expects() && pendingCommits(chain, 1) > 0) while (backfillBatch(chain)) yield;
  yield* priceInPieces(chain);
}
