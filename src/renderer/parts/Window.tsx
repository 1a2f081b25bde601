import type { UsageContext } from '../../core/contract/index.js';
import { basis, Estimate } from './Estimate';
import { compact, exact, percent } from './numbers';

/** A provider's count: `loading` until the answer arrives; undefined if it was not requested or the request failed. */
export type ShownUsage = UsageContext | 'loading' | undefined;

/** A change of tokens that is estimated, with its sign. */
export const edited = (tokens: number): string => `≈ ${tokens < 0 ? '−' : '+'}${exact(Math.abs(tokens))}`;

/** The share of a window. An estimate can be larger than the window; the count of a call cannot. */
const ofWindow = (tokens: number, limit: number, model?: string | null): string => {
  const window = model ? `the ${exact(limit)} of ${model}` : exact(limit);
  return tokens > limit ? `more than ${window}` : `${percent(tokens / limit)} of ${window}`;
};

/** The tokens of a context after an edit: what was counted before it, and the estimate of the edit. */
function Edited({ usage, since, big }: { usage: UsageContext; since: NonNullable<UsageContext['since']>; big: boolean }) {
  const Figure = big ? 'strong' : 'span';
  const { estimated, limit } = usage;
  return (
    <span
      title={`${exact(since.counted)} tokens were counted by the provider before the edit: the input of the last call and its reply. The edit is estimated: about ${exact(since.edited)} tokens.`}
    >
      <Figure>≈ {exact(estimated)}</Figure>{' '}
      <span className="muted">
        {big && 'tokens, '}
        {exact(since.counted)} counted {edited(since.edited)}
        {limit !== null && `, ${ofWindow(estimated, limit)}`}
      </span>
    </span>
  );
}

/** What the count of a compaction holds, beside the entries in view. */
const fromNext = (estimate: number): string =>
  `the input of the first call after the compaction, with the system prompt, the tools and the next prompt. What the compaction left is estimated: about ${exact(estimate)} tokens.`;

/** The tokens of a context: the provider's count with its share of the model's window, else the estimate. `big`: in the size of a headline. */
export function Window({ usage, estimate, big = false }: { usage: ShownUsage; estimate: number; big?: boolean }) {
  // Shows no estimate while the count is loading, because the replacement would look like a change.
  if (usage === 'loading') return <span className="muted">Counting tokens…</span>;
  const Figure = big ? 'strong' : 'span';
  if (usage?.since) return <Edited usage={usage} since={usage.since} big={big} />;
  const counted = usage?.counted ?? usage?.next?.counted;
  if (!usage || counted === undefined) {
    if (!big)
      return (
        <span className="muted">
          <Estimate of={estimate} />
        </span>
      );
    return (
      <span className="muted" title={`${basis.estimated}${usage ? ': no call has seen this context' : ''}`}>
        <strong>≈ {compact(estimate)}</strong> tokens, estimated
      </span>
    );
  }
  const { limit, notRecorded, flaw, model } = usage;
  const of =
    usage.counted === null
      ? fromNext(estimate)
      : `the input of the last call. ${exact(notRecorded ?? 0)} of it are not recorded: system prompt, tools, memory.`;
  return (
    <span title={`${basis.counted}: ${of}`}>
      <Figure>{exact(counted)}</Figure>{' '}
      <span className="muted">
        {big && 'tokens, '}counted
        {limit !== null && `, ${ofWindow(counted, limit, big ? model : null)}`}
      </span>
      {flaw !== undefined && <span className="muted"> ({flaw})</span>}
    </span>
  );
}
