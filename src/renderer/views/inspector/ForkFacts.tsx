import { useMemo } from 'react';
import type { OutlineRow, UsageContext, UsageFork } from '../../../core/contract/index.js';
import { Estimate, edited, estimatedTokens, Gauge, say, TokenLegend } from '../../parts';
import { type ForkDraft, loadOutline, shownUsage, useForkUsage, useQuery, useRested, useTurnNumbers, useUsageOf } from '../../state';
import type { ContextInView } from '../context';

/** The entries that a fork at the edited prompt keeps and drops, and the tokens before and after. */
export function ForkFacts({ project, commit, stop, unsent, draft }: ContextInView & { readonly draft: ForkDraft }) {
  const query = useQuery(`${project} ${commit} ${stop} ${unsent}`, () => loadOutline(project, commit, stop, unsent));
  const rows = query.data?.rows;
  const counted = shownUsage(useUsageOf(project, commit));
  const planned = useForkUsage(commit, draft.key, useRested(draft.text, restMs));
  const { numbers } = useTurnNumbers(project, commit);
  const fork = useMemo(() => rows && divide(rows, draft), [rows, draft]);
  if (!fork) return null;
  const usage = counted === 'loading' ? undefined : counted;
  const { before, after, whole, since } = figuresOf(usage, planned.data, fork);
  const turn = numbers.get(fork.at);
  return (
    <section className="fork-facts stack gap-4 small" aria-label="Fork">
      <h2>{turn === undefined ? 'Fork' : `Fork at turn ${turn}`}</h2>
      <h3>
        Stays <span className="muted">{say.plural(fork.stays.length, 'entry', 'entries')}</span>
      </h3>
      <TokenLegend rows={fork.stays} />
      <h3>
        Leaves <span className="muted">{say.plural(fork.leaves.length, 'entry', 'entries')}</span>
      </h3>
      {fork.leaves.length > 0 ? <TokenLegend rows={fork.leaves} /> : <p className="muted">Nothing: the prompt is the last entry.</p>}
      <h3>Tokens</h3>
      <dl>
        <dt>Before</dt>
        <dd className="row">
          <Gauge tokens={before} limit={whole} label="Before the edit" />
          {usage?.counted == null ? <Estimated tokens={before} since={usage?.since} /> : <b title="Counted by the provider">{say.exact(before)}</b>}
        </dd>
        <dt>After</dt>
        <dd className="row">
          <Gauge tokens={after} limit={whole} label="After the edit" />
          <Estimated tokens={after} since={since} />
        </dd>
        {since && (
          <>
            <dt>Edit</dt>
            <dd>{edited(since.edited)}</dd>
          </>
        )}
      </dl>
      <p className="muted">Files on disk stay as they are now.</p>
    </section>
  );
}

/** Tokens of a context without a count of its own: from what was counted before its edit, if anything was. */
const Estimated = ({ tokens, since }: { tokens: number; since: UsageContext['since'] | null }) =>
  since ? (
    <b title={`${say.exact(since.counted)} counted by the provider before the edit, and the edit estimated`}>≈ {say.exact(tokens)}</b>
  ) : (
    <b>
      <Estimate of={tokens} bare />
    </b>
  );

/** Milliseconds after the last key press before the tokens of an edit are asked for. */
const restMs = 200;

/** The entries of a context above and below an edited prompt. The prompt itself stays, with its new text. */
function divide(rows: readonly OutlineRow[], { key, text }: ForkDraft) {
  const place = rows.findIndex((row) => row.key === key);
  const prompt = rows[place];
  if (!prompt) return undefined;
  const stays = rows.slice(0, place + 1).filter((row) => !row.hidden);
  const leaves = rows.slice(place + 1).filter((row) => !row.hidden);
  const sum = (part: readonly OutlineRow[]): number => part.reduce((tokens, row) => tokens + row.tokens, 0);
  return { at: prompt.commit, stays, leaves, kept: sum(stays) - prompt.tokens + estimatedTokens(text), leaving: sum(leaves) };
}

/**
 * The tokens before and after an edit, and the length of their gauges. `kept` and `leaving` are the estimates of the entries of the fork. `since`:
 * what the figure after the edit starts from.
 */
export function figuresOf(
  usage: Pick<UsageContext, 'counted' | 'estimated' | 'limit' | 'since'> | undefined,
  planned: Pick<UsageFork, 'estimated' | 'since'> | undefined,
  { kept, leaving }: { readonly kept: number; readonly leaving: number },
) {
  // A context that was edited already continues from what was counted before that edit.
  const before = usage?.counted ?? (usage?.since ? usage.estimated : kept + leaving);
  const after = planned?.estimated ?? kept;
  return { before, after, whole: Math.max(usage?.limit ?? 0, before, after), since: planned?.since };
}
