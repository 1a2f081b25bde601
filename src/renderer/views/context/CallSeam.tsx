import { useEffect, useRef, useState } from 'react';
import type { ContextId, RequestRow } from '../../../core/contract/index.js';
import { api } from '../../client';
import { basis, Proof, say } from '../../parts';
import { go } from '../../state';

/** The number of commits whose calls are kept. */
const maxCommits = 400;
/** Milliseconds before calls are requested, so that commits that only scroll past are not requested. */
const restMs = 120;

/** The model calls of the commits in view, by the first entry of each reply; after the first entries (`isRead`), which they must not delay. */
export function useCalls(project: string, commits: readonly ContextId[], isRead: boolean): ReadonlyMap<string, RequestRow> {
  const [calls, setCalls] = useState<ReadonlyMap<string, RequestRow>>(new Map());
  const asked = useRef({ project, commits: new Set<ContextId>() });
  if (asked.current.project !== project) asked.current = { project, commits: new Set() };
  const shown = commits.join(' ');
  // biome-ignore lint/correctness/useExhaustiveDependencies: `shown` names the commits
  useEffect(() => {
    if (!isRead) return;
    const rest = setTimeout(load, restMs);
    return () => clearTimeout(rest);
    function load(): void {
      const known = asked.current.commits;
      if (known.size > maxCommits) known.clear();
      for (const id of commits) {
        if (known.has(id)) continue;
        known.add(id);
        // Without its calls, a context has no lines above replies. They are requested again when the commit is back in view.
        api.request.list({ id }).then(
          ({ requests }) =>
            setCalls((before) => new Map([...before, ...requests.flatMap((row) => (row.replyKey ? [[row.replyKey, row] as const] : []))])),
          () => known.delete(id),
        );
      }
    }
  }, [project, shown, isRead]);
  return calls;
}

/** The line above a reply: model, tokens and proof of the call. Opens the request. */
export function CallSeam({ call }: { call: RequestRow }) {
  const { input, cacheRead, cacheWrite, output } = call.tokens;
  const fed = [input, cacheRead, cacheWrite].flatMap((part) => part ?? []);
  return (
    <button
      type="button"
      className="call-seam row gap-12 wide"
      title={`Open the request of this call. ${fed.length ? basis.counted : basis.notRecorded}`}
      onClick={() => go({ view: 'calls', call: call.requestId })}
    >
      <Proof proof={call.proof} />
      <span className="mono">{call.model ?? 'model not recorded'}</span>
      <span>
        {fed.length ? `${say.compact(fed.reduce((sum, part) => sum + part, 0))} in` : 'count not recorded'}
        {cacheRead ? `, ${say.compact(cacheRead)} cached` : ''}
        {output !== null && `, ${say.compact(output)} out`}
      </span>
    </button>
  );
}
