import { BookOpen, GitCompareArrows, GitFork, Play } from 'lucide-react';
import { useEffect, useMemo } from 'react';
import type { ContextId, Ticket } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, agentOf, Button, Id, say, TokenBar } from '../../parts';
import { go, move, outlineOf, show, useQuery } from '../../state';

/** What was understood when the ticket was written: the commit, how full its context was, and the ways into it. */
export function Behind({
  project,
  contextId,
  tip,
  found,
}: {
  project: string;
  contextId: ContextId;
  tip: ContextId | null;
  found: Ticket['contextFound'];
}) {
  const query = useQuery(`${project} ${contextId} ${tip}`, () => behind(project, contextId, tip));
  // The inspector beside the view says the rest of it.
  useEffect(() => move({ commit: contextId, entry: undefined }), [contextId]);
  return (
    <section className="behind" aria-label="Understood then">
      <Answer
        query={query}
        what="This context cannot be read"
        loading="Reading the context"
        lines={3}
        stillWorks="The ticket and its discussion are whole."
      >
        {({ commit, outline, now }) => (
          <>
            <p className="behind-words">
              <Id id={commit.id} what="commit id" />
              <span className="muted">
                {commit.principal ?? commit.template} · {say.when(commit.createdAt)} · {say.tokens(outline.tokens)}
                {found === 'resolved' && ' · found by name and time'}
              </span>
            </p>
            {commit.summary && <p className="behind-summary">{say.firstLine(commit.summary, 200)}</p>}
            <Bar commit={commit.id} rows={outline.rows} />
            <div className="behind-acts">
              <Button small icon={BookOpen} onClick={() => go({ view: 'context', commit: commit.id, entry: undefined, stop: undefined })}>
                Open
              </Button>
              <Button
                small
                icon={GitCompareArrows}
                disabled={now === null}
                title={now === null ? 'Nothing came after it' : `What came since, up to ${now}`}
                onClick={() => now && go({ view: 'diff', commit: commit.id, against: now, entry: undefined })}
              >
                Diff against now
              </Button>
              <Button small icon={GitFork} onClick={() => show({ kind: 'fork', commit: commit.id, stop: 'compaction' })}>
                Fork
              </Button>
              <Button small icon={Play} onClick={() => show({ kind: 'resume', commit: tip ?? commit.id, agent: agentOf(commit.format) })}>
                Resume…
              </Button>
            </div>
          </>
        )}
      </Answer>
    </section>
  );
}

function Bar({ commit, rows }: { commit: ContextId; rows: Awaited<ReturnType<typeof outlineOf>>['rows'] }) {
  const own = useMemo(
    () =>
      Math.max(
        0,
        rows.findIndex((row) => row.commit === commit),
      ),
    [rows, commit],
  );
  return (
    <TokenBar
      rows={rows}
      from={own}
      to={rows.length}
      seams={[]}
      onJump={(entry) => go({ view: 'context', commit, entry: rows[entry]?.key, stop: undefined })}
    />
  );
}

/** The commit, its outline, and what stands for now: the end of the discussion, else the newest of the same agent. */
async function behind(project: string, id: ContextId, tip: ContextId | null) {
  const [commit, outline] = await Promise.all([api.context.show({ id }), outlineOf(project, id, 'compaction')]);
  const newest = tip ?? (commit.principal ? (await api.context.resolve({ principal: commit.principal, at: new Date().toISOString() })).id : null);
  return { commit, outline, now: newest === commit.id ? null : newest };
}
