import { api } from '../../client';
import { go, useKeptQuery, useProject } from '../../state';

/** Chooses the session whose commits are listed. */
export function SessionChoice({ chosen }: { chosen: string | undefined }) {
  const revision = useProject((state) => state.revision);
  const query = useKeptQuery('', `sources ${revision}`, () => api.source.list({}));
  const sources = query.status === 'done' ? query.data.filter((source) => source.sessionId) : [];
  if (sources.length < 2 && !chosen) return null;
  return (
    <select
      className="field chain-sessions"
      aria-label="Session"
      value={chosen ?? ''}
      onChange={(event) => go({ session: event.target.value || undefined, commit: undefined, against: undefined })}
    >
      <option value="">All sessions</option>
      {sources.map((source) => (
        <option key={source.sourceId} value={source.sessionId}>
          {source.title ?? source.sessionId}
        </option>
      ))}
      {chosen && !sources.some((source) => source.sessionId === chosen) && <option value={chosen}>{chosen}</option>}
    </select>
  );
}
