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
      <h3>
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
  const width = (tokens: number): string => `${(tokens / (counted || 1)) * 100}%`;
  return (
    <>
      <div className="moment-bar" aria-hidden>
        <i className="kind-none" style={{ width: width(usage.notRecorded ?? 0) }} />
        {usage.parts.map(({ kind, tokens }) => (
          <i key={kind} style={{ background: `var(${colorOf(shareOfPart[kind])})`, width: width(tokens) }} />
        ))}
      </div>
      <TokenLegend rows={[]} usage={usage} />
    </>
  );
}

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

const fillOf = (kind: Kind): React.CSSProperties => ({ background: `var(${colorOf(shares[kind])})` });

function Shares({ byKind, total }: { byKind: MomentState['window']['byKind']; total: number }) {
  return (
    <>
      <div className="moment-bar" aria-hidden>
        {byKind.map(({ kind, tokens }) => (
          <i key={kind} style={{ ...fillOf(kind), width: `${(tokens / (total || 1)) * 100}%` }} />
        ))}
      </div>
      <ul className="token-legend wrap small">
        {byKind.map(({ kind, tokens }) => (
          <li key={kind}>
            <i aria-hidden style={fillOf(kind)} />
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
