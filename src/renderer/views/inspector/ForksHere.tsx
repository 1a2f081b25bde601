import type { ContextId } from '../../../core/contract/index.js';
import { LinkButton, say } from '../../parts';
import { type ChainFacts, go, openComparison, type ShownCommit } from '../../state';

/** The forks that replace or continue a commit, each with a link to the comparison. */
export function ForksHere({ commit, facts }: { commit: ShownCommit; facts: ChainFacts }) {
  const after = (id: ContextId | null): readonly ContextId[] => (id === null ? [] : (facts.forksAfter.get(id) ?? []));
  // The answer to a fork is the fork's own turn.
  const forks = facts.forks.has(commit.id) ? after(commit.id) : [...after(commit.id), ...after(commit.parent)];
  if (forks.length === 0) return null;
  return (
    <section className="commit-list" aria-label="Forks of this turn">
      <h3>
        Forks of this turn <span className="muted">{say.exact(forks.length)}</span>
      </h3>
      <ul className="small">
        {forks.map((id) => (
          <li key={id} className="row gap-6">
            <LinkButton className="ellipsis grow" title={facts.summaries.get(id) ?? id} onClick={() => go({ commit: id, entry: undefined })}>
              {say.firstLine(facts.summaries.get(id) ?? 'No title', 80)}
            </LinkButton>
            <LinkButton label="Compare" onClick={() => openComparison(id, commit.id)} />
          </li>
        ))}
      </ul>
    </section>
  );
}
