import type { RequestRow } from '../../core/contract/index.js';

const proofs = {
  digest: { sign: '✓', name: 'exactly as sent', hint: 'Rebuilt here, and equal to the digest that the agent wrote down' },
  recorded: { sign: '◐', name: 'as recorded', hint: 'Everything but what is listed as missing was written down by the agent' },
  rebuilt: { sign: '○', name: 'rebuilt', hint: 'Put together from the entries by the rules of the agent; nothing to hold it against' },
} as const satisfies Record<RequestRow['proof'], { sign: string; name: string; hint: string }>;

/** How far it is proved that a model saw this, as a sign and in words. */
export function Proof({ proof, wordless = false }: { proof: RequestRow['proof']; wordless?: boolean }) {
  const { sign, name, hint } = proofs[proof];
  return (
    <span className={`proof ${proof}`} title={hint}>
      <span aria-hidden>{sign}</span> <span className={wordless ? 'unseen' : undefined}>{name}</span>
    </span>
  );
}
