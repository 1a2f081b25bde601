import { FlaskConical } from 'lucide-react';
import type { RequestRow, Runtime, SourceAgent } from '../../core/contract/index.js';
import { agents, experimental, otherNames } from './agents';

/** Our own neutral glyphs for agents. Each has a name beside it or a tooltip. */
const glyphs: Readonly<Partial<Record<Runtime, readonly string[]>>> = {
  'claude-code': ['M12 3v18M3 12h18M5.6 5.6l12.8 12.8M18.4 5.6 5.6 18.4'],
  codex: ['M12 2.5 20.5 7v10L12 21.5 3.5 17V7z', 'm9 9.5 2.5 2.5L9 14.5M13 15h3'],
  gemini: ['M12 2.5c.8 5.4 4 8.7 9.5 9.5-5.5.8-8.7 4.1-9.5 9.5-.8-5.4-4-8.7-9.5-9.5 5.5-.8 8.7-4.1 9.5-9.5z'],
  opencode: ['M6 3h12a1 1 0 0 1 1 1v16a1 1 0 0 1-1 1H6a1 1 0 0 1-1-1V4a1 1 0 0 1 1-1z', 'M9.5 8h5v8h-5z'],
  pi: ['M4 7c1-1.5 2-2 4-2h12M9 5.5V19M16 5.5V16c0 2 1 3 3.5 2.5'],
};
const other = ['M12 8V4H8', 'M6 8h12a2 2 0 0 1 2 2v8a2 2 0 0 1-2 2H6a2 2 0 0 1-2-2v-8a2 2 0 0 1 2-2z', 'M15 13v2M9 13v2'];

/** The name of an agent as people know it. */
export const agentName = (agent: string): string => (agent in agents ? agents[agent as SourceAgent].name : (otherNames[agent] ?? agent));

/** The glyph of an agent. */
export const AgentMark = ({ agent }: { agent: string }) => (
  <svg
    width={14}
    height={14}
    viewBox="0 0 24 24"
    fill="none"
    stroke="currentColor"
    strokeWidth="1.75"
    strokeLinecap="round"
    strokeLinejoin="round"
    aria-hidden="true"
  >
    {(glyphs[agent as Runtime] ?? other).map((path) => (
      <path key={path} d={path} />
    ))}
  </svg>
);

/** Marks an agent whose own files Stemma was never tested with, or that a mapping of the person reads. */
export const ExperimentalMark = ({ agent, hasOwnMapping = false }: { agent: string; hasOwnMapping?: boolean | undefined }) => {
  const tested = Object.hasOwn(experimental, agent) ? experimental[agent] : undefined;
  if (tested === undefined && !hasOwnMapping) return null;
  return (
    <span className="muted" title={`Experimental: ${hasOwnMapping ? 'read by your own mapping' : `tested on ${tested}`}`}>
      <FlaskConical size={12} aria-hidden />
      <span className="unseen">experimental</span>
    </span>
  );
};

/** From this share of a window on, a gauge warns. */
const near = 0.8;

/** The used share of a model's context window. */
export function Gauge({ tokens, limit, live = false, label }: { tokens: number; limit: number; live?: boolean; label: string }) {
  const share = Math.min(1, tokens / limit);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a meter element cannot be drawn alike in all browsers
    <span
      className={`gauge${live ? ' live' : ''}${share >= near ? ' near' : ''}`}
      role="meter"
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(share * 100)}
      aria-label={label}
    >
      <span style={{ width: `${share * 100}%` }} />
    </span>
  );
}

const proofs = {
  digest: { sign: '✓', name: 'verified', hint: 'The reconstructed request matches the digest that the agent recorded', look: 'tone-good' },
  recorded: { sign: '◐', name: 'recorded', hint: 'The agent recorded everything except the parts listed as missing', look: 'muted' },
  rebuilt: {
    sign: '○',
    name: 'reconstructed',
    hint: 'Built from the entries by the rules of the agent, with no recorded digest to compare',
    look: 'muted',
  },
} as const satisfies Record<RequestRow['proof'], { sign: string; name: string; hint: string; look: string }>;

/** The proof of a request (how certain it is that the model received it), as a symbol and a word. */
export function Proof({ proof }: { proof: RequestRow['proof'] }) {
  const { sign, name, hint, look } = proofs[proof];
  return (
    <span className={`proof small ${look}`} title={hint}>
      <span aria-hidden>{sign}</span> <span>{name}</span>
    </span>
  );
}
