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
