import type { UsageContext } from '../../core/contract/index.js';
import { exact, percent, tokens } from './numbers';

/** The tokens of a context: as its provider counted them, with the share of the model's window; else the estimate. */
export function Window({ usage, estimate }: { usage: UsageContext | undefined; estimate: number }) {
  if (!usage || usage.counted === null)
    return (
      <span className="muted" title="Estimated from the length of the text: no call has seen this context">
        {tokens(estimate)}
      </span>
    );
  const { counted, limit, notRecorded, flaw } = usage;
  return (
    <span
      title={`The input of the last call, as the provider counted it. ${exact(notRecorded ?? 0)} of it are not recorded: system prompt, tools, memory.`}
    >
      {exact(counted)} <span className="muted">counted{limit !== null && `, ${percent(counted / limit)} of ${exact(limit)}`}</span>
      {flaw !== undefined && <span className="muted"> ({flaw})</span>}
    </span>
  );
}
