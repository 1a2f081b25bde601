import type { CommitSeq } from '../base/index.js';
import type { ReadableDb } from '../store/index.js';

/** Commits whose rows matched their checksum. */
export interface VerifiedRows {
  has(seq: CommitSeq): boolean;
  add(seq: CommitSeq): void;
}

/**
 * Remembers which rows this process has verified, because a checksum costs more than reading a row. Call it for each walk: after another
 * connection has committed, nothing counts as verified.
 */
export function openVerified(db: ReadableDb): () => VerifiedRows {
  let version = db.version();
  let bits = new Uint8Array(128);
  const verified: VerifiedRows = {
    has: (seq) => ((bits[seq >> 3] ?? 0) & (1 << (seq & 7))) !== 0,
    add: (seq) => {
      const at = seq >> 3;
      if (at >= bits.length) {
        const larger = new Uint8Array(Math.max(at + 1, bits.length * 2));
        larger.set(bits);
        bits = larger;
      }
      bits[at] = (bits[at] ?? 0) | (1 << (seq & 7));
    },
  };
  return () => {
    const now = db.version();
    if (now !== version) bits = new Uint8Array(128);
    version = now;
    return verified;
  };
}
