import type { Cached } from '../artifacts/index.js';
import { type Offer, saveFact, saveOutline, saveResult, type WriteChain } from '../chain/index.js';
import { saveProofs } from '../requests/index.js';
import { saveFactors } from '../usage/index.js';
import type { Access } from './access.js';

/** Stores the derived data that reads offer. */
export type Keeper = ReturnType<typeof openKeeper>;

/** Milliseconds between two tries to store offers while another process writes. */
const againMs = 250;
/** Offers that wait at most. The rest is computed again when it is needed. */
const maxWaiting = 4_096;

/** Opens the keeper of a project. A read-only project stores derived data in its copy of the database, but no proofs of calls. */
export function openKeeper(chain: WriteChain, access: Access) {
  let waiting: Offer[] = [];
  let timer: NodeJS.Timeout | undefined;
  const store = (): void => {
    clearTimeout(timer);
    if (waiting.length === 0) return;
    if (!chain.db.isFree()) {
      timer = setTimeout(store, againMs).unref();
      return;
    }
    const offers = waiting;
    waiting = [];
    chain.artifacts.transaction(() => {
      for (const offer of offers) keepers[offer.kind](chain, offer as never);
    });
  };
  return {
    /** Stores the offers now, or as soon as no other process writes. It never waits for the lock. */
    keep: (offers: readonly Offer[]): void => {
      const useful = access.mode === 'read-write' ? offers : offers.filter(({ kind }) => kind !== 'proofs');
      waiting.push(...useful.slice(0, Math.max(0, maxWaiting - waiting.length)));
      store();
    },
    close: (): void => clearTimeout(timer),
  };
}

const keepers: { readonly [Kind in Offer['kind']]: (chain: WriteChain, offer: Extract<Offer, { kind: Kind }>) => unknown } = {
  outline: (chain, offer) => saveOutline(chain, offer, offer.data),
  fact: saveFact,
  object: (chain, { content, contentType }) => chain.artifacts.putCache(own(content), contentType),
  result: (chain, offer) => saveResult(chain, { ...offer, content: own(offer.content) }),
  proofs: saveProofs,
  factors: saveFactors,
};

/** A message between threads turns a Buffer into plain bytes. */
const own = (content: Uint8Array | Cached): Uint8Array | Cached =>
  content instanceof Uint8Array ? content : { hash: Buffer.from(content.hash), size: content.size };
