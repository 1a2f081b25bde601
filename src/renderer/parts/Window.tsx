import type { UsageContext } from '../../core/contract/index.js';
import { compact, exact, percent, tokens } from './numbers';

/** The tokens of a context: as its provider counted them, with the share of the model's window; else the estimate. `big` is a headline. */
export function Window({ usage, estimate, big = false }: { usage: UsageContext | undefined; estimate: number; big?: boolean }) {
  const Figure = big ? 'strong' : 'span';
  if (!usage || usage.counted === null)
    return (
      <span
        className="muted"
        title={`Estimated from the length of the text${usage ? ': no call has seen this context' : ' until the count arrives'}`}
      >
        {big ? (
          <>
            <strong>≈ {compact(estimate)}</strong> tokens, estimated
          </>
        ) : (
          tokens(estimate)
        )}
      </span>
    );
  const { counted, limit, notRecorded, flaw, model } = usage;
  return (
    <span
      title={`The input of the last call, as the provider counted it. ${exact(notRecorded ?? 0)} of it are not recorded: system prompt, tools, memory.`}
    >
      <Figure>{exact(counted)}</Figure>{' '}
      <span className="muted">
        {big && 'tokens, '}counted
        {limit !== null && `, ${percent(counted / limit)} of ${big && model ? `the ${exact(limit)} of ${model}` : exact(limit)}`}
      </span>
      {flaw !== undefined && <span className="muted"> ({flaw})</span>}
    </span>
  );
}
