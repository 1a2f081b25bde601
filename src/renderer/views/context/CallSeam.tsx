import { useMemo, useRef } from 'react';
import type { ContextId, RequestRow, Stop } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Proof, say } from '../../parts';
import { go, useQuery } from '../../state';

/**
 * The model calls of a context, by the first entry of each reply. Loaded only after the first entries (`isRead`), because
 * verifying hundreds of calls must not delay the first screen.
 */
export function useCalls(project: string, commit: ContextId, stop: Stop, isRead: boolean): ReadonlyMap<string, RequestRow> {
  const wanted = useRef(false);
  wanted.current ||= isRead;
  const query = useQuery(wanted.current ? `${project} ${commit} ${stop} calls` : null, (signal) =>
    api.request.list({ id: commit, stop }, { signal }),
  );
  const rows = query.status === 'done' ? query.data : undefined;
  return useMemo(() => new Map((rows ?? []).flatMap((row) => (row.replyKey === null ? [] : [[row.replyKey as string, row] as const]))), [rows]);
}

/** The line above a reply: model, tokens and proof of the call. Opens the request. */
export function CallSeam({ call }: { call: RequestRow }) {
  const { input, cacheRead, cacheWrite, output } = call.tokens;
  const fed = [input, cacheRead, cacheWrite].flatMap((part) => part ?? []);
  return (
    <button
      type="button"
      className="call-seam"
      title="Open the request of this call. Its tokens are as the provider counted them."
      onClick={() => go({ view: 'calls', call: call.requestId })}
    >
      <Proof proof={call.proof} />
      <span className="mono">{call.model ?? 'model not recorded'}</span>
      <span>
        {fed.length ? `${say.compact(fed.reduce((sum, part) => sum + part, 0))} in` : 'usage not recorded'}
        {cacheRead ? `, ${say.compact(cacheRead)} cached` : ''}
        {output !== null && `, ${say.compact(output)} out`}
      </span>
    </button>
  );
}
