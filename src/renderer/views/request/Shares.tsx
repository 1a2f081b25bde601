import { Estimate, say } from '../../parts';

/** How the tokens of a request are distributed, as a bar and as text; null means not recorded. */
export function Shares({ shares }: { shares: readonly (readonly [name: string, tokens: number | null, hue: string])[] }) {
  const total = shares.reduce((sum, [, tokens]) => sum + (tokens ?? 0), 0);
  const tokensOrNone = (tokens: number | null) => (tokens === null ? 'not recorded' : tokens === 0 ? 'none' : say.tokens(tokens));
  return (
    <div className="shares" role="img" aria-label={shares.map(([name, tokens]) => `${name} ${tokensOrNone(tokens)}`).join(', ')}>
      <div className="shares-bar" aria-hidden>
        {shares.map(
          ([name, tokens, hue]) =>
            total > 0 && tokens !== null && tokens > 0 && <i key={name} className={`kind-${hue}`} style={{ width: `${(tokens / total) * 100}%` }} />,
        )}
      </div>
      <p className="shares-words wrap small" aria-hidden>
        {shares.map(([name, tokens, hue]) => (
          <span key={name} className={tokens === null ? 'faint' : `kind-${hue}`} title={tokens === null ? 'Not recorded in the request' : undefined}>
            <i className="dot" /> {name} {tokens ? <Estimate of={tokens} /> : tokensOrNone(tokens)}
          </span>
        ))}
      </p>
    </div>
  );
}
