import { useEffect, useMemo, useState } from 'react';
import type { ContextId, OutlineRow } from '../../../core/contract/index.js';
import { say, TokenBar, TokenLegend, Unread, Window } from '../../parts';
import { go, loadOutline, type ShownCommit, shownUsage, useQuery, useUsageOf } from '../../state';
import { seamsOf } from '../context';

/** The tokens of the context at this commit, and the tool calls and the last reply that the commit added. */
export function ContextSummary({ project, commit }: { project: string; commit: ShownCommit }) {
  // Waits a moment, so that moving through a list by arrow key loads only the commit that stays selected.
  const [settled, setSettled] = useState<ContextId>();
  useEffect(() => {
    const timer = setTimeout(() => setSettled(commit.id), 140);
    return () => clearTimeout(timer);
  }, [commit.id]);
  const query = useQuery(settled === commit.id ? `${project} ${commit.id}` : null, () => loadOutline(project, commit.id, 'compaction'));
  const usage = useUsageOf(project, settled === commit.id ? commit.id : null);
  const counted = shownUsage(usage);
  const outline = query.data;
  const own = useMemo(() => outline?.rows.filter((row) => row.commit === commit.id) ?? [], [outline, commit.id]);
  const seams = useMemo(() => seamsOf(outline?.rows ?? []), [outline]);
  const tools = useMemo(() => toolCounts(own), [own]);
  const lastReply = own.findLast((row) => row.role === 'assistant' && row.kind === 'text')?.head;
  if (query.status === 'failed') return <Unread what="This context" error={query.error} onRetry={query.retry} />;
  if (!outline)
    return (
      <div className="inspector-inside stack gap-8 placeholder">
        <p className="loading-words muted">Loading the context…</p>
      </div>
    );
  const firstOwn = outline.rows.findIndex((row) => row.commit === commit.id);
  return (
    <div className="inspector-inside stack gap-8">
      <h3>
        Context <Window usage={counted} estimate={outline.tokens} />
      </h3>
      <TokenBar
        rows={outline.rows}
        from={Math.max(0, firstOwn)}
        to={Math.max(0, firstOwn) + own.length}
        seams={seams}
        usage={counted}
        onJump={(entry) => go({ view: 'context', commit: commit.id, entry: outline.rows[entry]?.key, stop: undefined })}
      />
      <TokenLegend rows={outline.rows} usage={counted} />
      {tools.length > 0 && (
        <p className="muted">
          {tools.slice(0, 6).map(([name, times], n) => (
            <span key={name}>
              {n > 0 && ', '}
              <span className="mono">{name}</span>
              {times > 1 && ` × ${times}`}
            </span>
          ))}
          {tools.length > 6 && `, ${say.plural(tools.length - 6, 'other tool')}`}
        </p>
      )}
      {lastReply && <p className="last-words">{say.excerpt(lastReply)}</p>}
    </div>
  );
}

/** How often each tool was called, most often first. */
export function toolCounts(rows: readonly OutlineRow[]): (readonly [tool: string, calls: number])[] {
  const counts = new Map<string, number>();
  for (const { kind, head = 'tool' } of rows) if (kind === 'tool_call') counts.set(head, (counts.get(head) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]);
}
