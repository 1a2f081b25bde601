import type { Cached } from '../artifacts/index.js';
import { type Offer, saveOutline, saveResult, type WriteChain } from '../chain/index.js';
import { saveProofs } from '../requests/index.js';
import { saveFactors } from '../usage/index.js';
import type { Access } from './access.js';

/** Stores the derived data that reads offered, in one transaction. While another process writes, it stores only what a caller got a ref of. */
export function keepOffers({ chain, access }: { readonly chain: WriteChain; readonly access: Access }, offers: readonly Offer[]): void {
  const isFree = offers.length > 0 && chain.db.isFree();
  const kept = offers.filter((offer) => isNamed(offer) || (isFree && (offer.kind !== 'proofs' || access.mode === 'read-write')));
  if (kept.length === 0) return;
  chain.artifacts.transaction(() => {
    for (const offer of kept) keep(chain, offer);
  });
}

/** Whether a caller may have got the ref of this object. */
const isNamed = ({ kind }: Offer): boolean => kind === 'object' || kind === 'result';

function keep(chain: WriteChain, offer: Offer): void {
  switch (offer.kind) {
    case 'outline':
      saveOutline(chain, offer.artifact, offer.format, offer.data);
      return;
    case 'object':
      chain.artifacts.putCache(own(offer.content), offer.contentType);
      return;
    case 'result':
      saveResult(chain, { ...offer, content: own(offer.content) });
      return;
    case 'proofs':
      saveProofs(chain, offer);
      return;
    case 'factors':
      saveFactors(chain, offer);
  }
}

/** A message between threads turns a Buffer into plain bytes. */
const own = (content: Uint8Array | Cached): Uint8Array | Cached =>
  content instanceof Uint8Array ? content : { hash: Buffer.from(content.hash), size: content.size };
