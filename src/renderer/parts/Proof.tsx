import type { RequestRow } from '../../core/contract/index.js';

const proofs = {
  digest: { sign: '✓', name: 'verified', hint: 'The reconstructed request matches the digest that the agent recorded' },
  recorded: { sign: '◐', name: 'recorded', hint: 'The agent recorded everything except the parts listed as missing' },
  rebuilt: { sign: '○', name: 'reconstructed', hint: 'Built from the entries by the rules of the agent, with no recorded digest to compare' },
} as const satisfies Record<RequestRow['proof'], { sign: string; name: string; hint: string }>;

/** The proof of a request (how certain it is that the model received it), as a symbol and a word. */
export function Proof({ proof }: { proof: RequestRow['proof'] }) {
  const { sign, name, hint } = proofs[proof];
  return (
    <span className={`proof ${proof}`} title={hint}>
      <span aria-hidden>{sign}</span> <span>{name}</span>
    </span>
  );
}
