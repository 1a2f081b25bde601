import type { Chain } from '../chain/index.js';
import { backfillBatch, pendingCommits } from './backfill.js';
import { loadPrices, priceInPieces } from './prices.js';

/** The running preparation of each project. */
const running = new WeakMap<Chain, Promise<void>>();

/**
 * Call it before a question about costs. It loads the price list. In a project, it then stores the calls of unread commits and looks up missing
 * prices, in small steps between which the engine answers other calls. While another thread or process writes, it leaves the rest for later.
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
  // If contents are still on the hub, the question itself fetches them, so that usage is never counted from a part of the commits.
  if (!chain.artifacts.copies.expects() && pendingCommits(chain, 1) > 0) while (backfillBatch(chain)) yield;
  yield* priceInPieces(chain);
}
