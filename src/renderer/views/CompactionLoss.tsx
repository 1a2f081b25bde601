import { ChevronDown, ChevronRight } from 'lucide-react';
import { useState } from 'react';
import type { ContextId, LostKind, UsageCompaction, UsageLoss } from '../../core/contract/index.js';
import { api } from '../client';
import { basis, LinkButton, MenuButton, notifyProblem, say } from '../parts';
import { type CompactionLosses, go, useQuery } from '../state';
import './CompactionLoss.css';

const names: Readonly<Record<LostKind, readonly [string, string]>> = {
  file: ['file', 'files'],
  decision: ['decision', 'decisions'],
  error: ['error', 'errors'],
  result: ['result', 'results'],
};

/** The losses of a summary in words, such as `9 files, 2 errors`; empty if it mentions everything. */
export const notMentioned = (totals: CompactionLosses): string =>
  totals
    .filter(({ lost }) => lost > 0)
    .map(({ kind, lost }) => say.plural(lost, ...names[kind]))
    .join(', ');

/** The counted sizes before and after a compaction, and the content that its summary does not mention. Each loss links to its entry. */
export function CompactionLoss({ project, commit }: { project: string; commit: ContextId }) {
  const [open, setOpen] = useState(false);
  const [judged, setJudged] = useState<UsageCompaction>();
  const query = useQuery(`${project} ${commit} compaction`, (signal) => api.usage.compaction({ id: commit }, { signal }));
  if (query.status === 'failed') return <p className="notice-line error">Cannot compare the summary with what it replaced.</p>;
  if (query.status !== 'done') return null;
  const found = judged ?? query.data;
  const losses = notMentioned(found.totals);
  const Arrow = open ? ChevronDown : ChevronRight;
  return (
    <section className="compaction-loss wide" aria-label="Lost in this compaction">
      <p>
        <b title={describeLoss(found)}>
          {sizeText(found.before.counted, found.before.estimated)} → {sizeText(found.after.counted, found.after.estimated)}
        </b>{' '}
        <span className="muted">tokens{found.before.counted !== null && found.after.counted !== null && ', counted'}</span>
        {losses === '' ? (
          <span className="muted"> · The summary mentions every file, decision, error and result that was found</span>
        ) : (
          <LinkButton aria-expanded={open} onClick={() => setOpen(!open)}>
            <Arrow size={12} aria-hidden /> Not mentioned: {losses}
          </LinkButton>
        )}
      </p>
      {open && losses !== '' && (
        <>
          <ul>
            {found.lost.map((loss) => (
              <Loss key={`${loss.kind} ${loss.key} ${loss.text}`} loss={loss} at={found.parent ?? commit} />
            ))}
          </ul>
          <Judge commit={commit} found={found} onJudged={setJudged} />
        </>
      )}
    </section>
  );
}

/** The size of a context: the provider's count, else the estimate. */
export const sizeText = (counted: number | null | undefined, estimated: number): string =>
  counted == null ? `≈ ${say.compact(estimated)}` : say.exact(counted);

/** How the size of a context is known. */
export const sizeBasis = (counted: number | null | undefined): string => (counted == null ? basis.estimated : basis.counted);

const describeLoss = ({ before, after, summaryTokens, kept }: UsageCompaction): string => {
  const [how, howAfter] = [sizeBasis(before.counted), sizeBasis(after.counted)];
  return `Before: ${how}, the input of the last call. After: ${howAfter}, the input of the next call with the system prompt, the tools and the next prompt. The summary has about ${say.exact(summaryTokens)} tokens; ${say.plural(kept, 'entry', 'entries')} stayed.`;
};

function Loss({ loss, at }: { loss: UsageLoss; at: ContextId }) {
  const { kind, text, key, uses, missing, judgment } = loss;
  return (
    <li>
      <button
        type="button"
        className="row baseline selectable wide"
        title={missing.length > 0 ? `Not mentioned: ${missing.join(', ')}` : text}
        onClick={() => go({ view: 'context', commit: at, entry: key, stop: undefined })}
      >
        <span className="muted loss-kind rigid">{names[kind][0]}</span>
        <span className={`breaks grow${kind === 'file' ? ' mono' : ''}`}>{text}</span>
        {uses > 1 && <span className="muted">× {say.exact(uses)}</span>}
      </button>
      {judgment && (
        <p className={judgment.matters ? 'tone-warn' : 'muted'}>
          {judgment.matters ? 'Matters' : 'Trivial'}
          {judgment.reason !== '' && `: ${judgment.reason}`}
        </p>
      )}
    </li>
  );
}

function Judge({ commit, found, onJudged }: { commit: ContextId; found: UsageCompaction; onJudged: (judged: UsageCompaction) => void }) {
  const [isAsking, setAsking] = useState(false);
  const providers = useQuery('providers', () => api.turn.providers({}));
  if (found.judgedBy) return <p className="muted">Judged by {found.judgedBy.model ?? found.judgedBy.provider}. A model can be wrong.</p>;
  const models = (providers.data ?? []).filter(({ models: known }) => known.length > 0);
  const ask = (provider: string) => {
    setAsking(true);
    api.usage
      .judgeCompaction({ id: commit, provider })
      .then(onJudged, notifyProblem)
      .finally(() => setAsking(false));
  };
  return (
    <p className="muted">
      Found by paths, names and words, without a model.{' '}
      {models.length > 0 && (
        <MenuButton
          label="Ask a model"
          button={<LinkButton disabled={isAsking}>{isAsking ? 'Asking…' : 'Ask a model which ones matter'}</LinkButton>}
          items={models.map(({ id, title, models: known }) => ({ name: `${title} (${known[0]})`, act: () => ask(id) }))}
        />
      )}
    </p>
  );
}
