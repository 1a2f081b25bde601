import { Scissors } from 'lucide-react';
import type { Kind, MomentState, UsageContext } from '../../../core/contract/index.js';
import { colorOf, Estimate, kindNames, type Share, type ShownUsage, say, shareOfPart, TokenLegend, Window } from '../../parts';

interface WindowFactsProps {
  readonly state: MomentState;
  /** What the provider counted for the reply at the step. */
  readonly counted: ShownUsage;
  /** Estimated tokens of the step. */
  readonly added: number;
}

/** The tokens in the context window at a step, and what a compaction removed. */
export function WindowFacts({ state, counted, added }: WindowFactsProps) {
  const { window, dropped } = state;
  return (
    <section className="moment-part" aria-label="Context window">
      <h3 className="row baseline gap-6">
        Context <Window usage={counted} estimate={window.tokens} />
      </h3>
      {counted === undefined || counted === 'loading' || counted.counted === null ? (
        <Shares byKind={window.byKind} total={window.tokens} />
      ) : (
        <CountedShares usage={counted} counted={counted.counted} />
      )}
      <p className="muted">
        {say.plural(window.entries, 'entry', 'entries')}; this step added <Estimate of={added} />
      </p>
      {dropped && (
        <div className="moment-dropped">
          <p>
            <Scissors size={12} aria-hidden /> A compaction removed {say.plural(dropped.entries, 'entry', 'entries')},{' '}
            <b>
              <Estimate of={dropped.tokens} />
            </b>
            :
          </p>
          <Shares byKind={dropped.byKind} total={dropped.tokens} />
        </div>
      )}
    </section>
  );
}

/** The parts of a counted input, as a bar and as text. */
function CountedShares({ usage, counted }: { usage: UsageContext; counted: number }) {
  const missing = { kind: 'none', tokens: usage.notRecorded ?? 0 };
  return (
    <>
      <Bar total={counted} parts={[missing, ...usage.parts.map(({ kind, tokens }) => ({ kind, tokens, color: colorOf(shareOfPart[kind]) }))]} />
      <TokenLegend rows={[]} usage={usage} />
    </>
  );
}

interface BarProps {
  readonly total: number;
  readonly parts: readonly { readonly kind: string; readonly tokens: number; readonly color?: string }[];
}

const Bar = ({ total, parts }: BarProps) => (
  <div className="moment-bar" aria-hidden>
    {parts.map(({ kind, tokens, color }) => (
      <i key={kind} className={`kind-${kind}`} style={{ background: color && `var(${color})`, width: `${(tokens / (total || 1)) * 100}%` }} />
    ))}
  </div>
);

/** Sums are by kind only, so text of user and assistant has one color. */
const shares: Record<Kind, Share> = {
  text: 'assistant',
  thinking: 'thinking',
  tool_call: 'call',
  tool_result: 'result',
  image: 'user',
  summary: 'summary',
  event: 'system',
};

function Shares({ byKind, total }: { byKind: MomentState['window']['byKind']; total: number }) {
  return (
    <>
      <Bar total={total} parts={byKind.map(({ kind, tokens }) => ({ kind, tokens, color: colorOf(shares[kind]) }))} />
      <ul className="token-legend wrap small">
        {byKind.map(({ kind, tokens }) => (
          <li key={kind} className="inline-row">
            <i aria-hidden style={{ background: `var(${colorOf(shares[kind])})` }} />
            {kindNames[kind]}{' '}
            <b>
              <Estimate of={tokens} bare />
            </b>
          </li>
        ))}
      </ul>
    </>
  );
}
