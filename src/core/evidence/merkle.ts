import { sha256Of } from '../artifacts/index.js';

const joined = (prefix: number, ...parts: readonly Uint8Array[]): Buffer => sha256Of(Buffer.concat([Uint8Array.of(prefix), ...parts]));

/** The root of a Merkle tree as RFC 6962 defines it: leaves and nodes are hashed with different first bytes. */
export function merkleRoot(leaves: readonly Uint8Array[]): Buffer {
  const [only] = leaves;
  if (!only) return sha256Of('');
  if (leaves.length === 1) return joined(0, only);
  let half = 1;
  while (half * 2 < leaves.length) half *= 2;
  return joined(1, merkleRoot(leaves.slice(0, half)), merkleRoot(leaves.slice(half)));
}
