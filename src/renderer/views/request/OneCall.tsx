import type { RequestRow } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, Proof, say } from '../../parts';
import { useQuery } from '../../state';
import { CallBody } from './CallBody';
import { Changes, type ListedRequest } from './Changes';

const usage = ({ tokens }: RequestRow): string => {
  const parts = [
    tokens.input !== null && `${say.compact(tokens.input)} in`,
    tokens.cacheRead !== null && `${say.compact(tokens.cacheRead)} read from cache`,
    tokens.cacheWrite !== null && `${say.compact(tokens.cacheWrite)} written to cache`,
    tokens.output !== null && `${say.compact(tokens.output)} out`,
  ].filter((part) => part !== false);
  return parts.length ? `${parts.join(', ')}, counted` : 'count not recorded';
};

/** One call: its facts, what changed since another call, and the request in full. */
export function OneCall(listed: ListedRequest) {
  const { project, row } = listed;
  const query = useQuery(`${project} ${row.requestId}`, (signal) => api.request.get({ requestId: row.requestId }, { signal }));
  return (
    <div className="request-one">
      <header className="request-head row baseline wrap">
        <h2>Request</h2>
        <span className="mono muted">{row.model ?? 'model not recorded'}</span>
        <Proof proof={row.proof} />
      </header>
      <p className="request-facts muted">
        {say.instant(row.at)} · {say.plural(row.messageCount, 'message')} · {usage(row)}
        {row.agentId && ` · subagent ${row.agentId}`}
      </p>
      {row.problem && query.status !== 'failed' && <p className="notice-line">{row.problem}</p>}
      {row.commit === null && (
        <p className="muted request-missing">
          {row.source === 'wire'
            ? 'Recorded on the wire, but no imported session contains its reply. Agents make such calls for titles and summaries. If this call belongs to a session, import that session.'
            : 'No commit contains its reply or the message before it.'}
        </p>
      )}
      {/* A request that cannot be reconstructed cannot be compared either; one error is enough. */}
      {query.status !== 'failed' && <Changes {...listed} missing={query.data?.missing ?? []} />}
      <Answer
        query={query}
        what="Cannot reconstruct this request"
        loading="Reconstructing the request"
        stillWorks="Other calls still work."
        lines={16}
      >
        {(request) => <CallBody request={request} model={row.model} />}
      </Answer>
    </div>
  );
}
