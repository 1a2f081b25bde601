import { BookOpen, GitCompareArrows, GitFork, Play } from 'lucide-react';
import { useEffect } from 'react';
import type { ContextId, Ticket } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, Button, Estimate, findAgent, Id, say, TokenBar } from '../../parts';
import { go, loadOutline, move, openComparison, openContext, show, useQuery } from '../../state';

/** The author's context when the ticket was written: the commit, its size, and buttons to open it. */
export function Behind(props: { project: string; contextId: ContextId; tip: ContextId | null; found: Ticket['contextFound'] }) {
  const { project, contextId, tip, found } = props;
  const query = useQuery(`${project} ${contextId} ${tip}`, () => behind(project, contextId, tip));
  // The inspector beside the view shows the details of this commit.
  useEffect(() => move({ commit: contextId, entry: undefined }), [contextId]);
  return (
    <section className="behind line-below on-pane" aria-label="Context of the author">
      <Answer
        query={query}
        what="Cannot read this context"
        loading="Loading the context"
        lines={3}
        stillWorks="The ticket and its discussion are not affected."
      >
        {({ commit, outline, ownFrom, now }) => (
          <>
            <p className="behind-words row baseline wrap small">
              <Id id={commit.id} what="commit id" />
              <span className="muted">
                {commit.principal ?? commit.template} · {say.when(commit.createdAt)} · <Estimate of={outline.tokens} />
                {found === 'resolved' && ' · found by name and time'}
              </span>
            </p>
            {commit.summary && <p className="behind-summary breaks">{say.firstLine(commit.summary, 200)}</p>}
            <TokenBar
              rows={outline.rows}
              from={ownFrom}
              to={outline.rows.length}
              seams={[]}
              onJump={(entry) => go({ view: 'context', commit: commit.id, entry: outline.rows[entry]?.key, stop: undefined })}
            />
            <div className="behind-acts wrap">
              <Button small icon={BookOpen} label="Open" onClick={() => openContext(commit.id)} />
              <Button
                small
                icon={GitCompareArrows}
                label="Compare with now"
                disabled={now === null}
                title={now === null ? 'No later commit' : `Changes since then, up to ${now}`}
                onClick={() => now && openComparison(commit.id, now)}
              />
              <Button small icon={GitFork} label="Fork" onClick={() => show({ kind: 'fork', commit: commit.id, stop: 'compaction' })} />
              <Button small icon={Play} onClick={() => show({ kind: 'resume', commit: tip ?? commit.id, agent: findAgent(commit.format) })}>
                Resume…
              </Button>
            </div>
          </>
        )}
      </Answer>
    </section>
  );
}

/** The commit, its outline, the first of its own rows, and the latest state: the end of the discussion, else the newest commit of the same principal. */
async function behind(project: string, id: ContextId, tip: ContextId | null) {
  const [commit, outline] = await Promise.all([api.context.show({ id }), loadOutline(project, id, 'compaction')]);
  const newest = tip ?? (commit.principal ? (await api.context.resolve({ principal: commit.principal, at: new Date().toISOString() })).id : null);
  const ownFrom = Math.max(
    0,
    outline.rows.findIndex((row) => row.commit === commit.id),
  );
  return { commit, outline, ownFrom, now: newest === commit.id ? null : newest };
}
