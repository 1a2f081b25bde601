import { useMemo } from 'react';
import { api } from '../../client';
import { useKept, useLive, useOpenDir, useProject, useQuery } from '../../state';
import { type Found, joinSessions } from './rows';

/** The histories on this machine that the open project does not contain, or only in part. */
export function useFound() {
  const dir = useOpenDir();
  const revision = useProject((state) => state.revision);
  return useKept(
    useQuery(`found ${dir ?? ''} ${revision}`, async () => {
      const places = await api.library.sources({});
      const lists = await Promise.all(
        places.map(({ root, agent, sessions }) =>
          sessions === 0 ? [] : api.library.sessions({ root }).then((found) => found.map((one): Found => ({ ...one, agent }))),
        ),
      );
      return { places, all: lists.flat(), fresh: lists.flat().filter(({ imported }) => !imported) };
    }),
    dir,
  );
}

/** The sessions of the open project. */
export function useProjectSessions() {
  const dir = useOpenDir();
  const revision = useProject((state) => state.revision);
  // A session becomes live, or rests, without a new commit.
  const liveFiles = useLive(({ capture }) => (capture?.watching ? capture.files.map(({ path, open }) => `${path} ${open}`).join('\n') : ''));
  return useKept(
    useQuery(dir ? `sessions ${dir} ${revision} ${liveFiles}` : null, () => api.session.list({})),
    dir,
  );
}

/** Everything that the list can show: both of the above, joined. */
export function useSessions() {
  const dir = useOpenDir();
  const phase = useProject(({ state }) => state.phase);
  const found = useFound();
  const own = useProjectSessions();
  const sessions = own.status === 'done' ? own.data.sessions : undefined;
  const archived = useKept(useArchived(), dir);
  const shelved = archived.status === 'done' ? archived.data.sessions : undefined;
  const fresh = found.status === 'done' ? found.data.fresh : undefined;
  const listed = useMemo(() => joinSessions([...(sessions ?? []), ...(shelved ?? [])], fresh ?? []), [sessions, shelved, fresh]);
  const loading = (own.status === 'loading' && sessions === undefined) || (found.status === 'loading' && fresh === undefined) || phase === 'opening';
  return { found, own, listed, loading };
}

/** Archived sessions are few; the list shows them on request. */
function useArchived() {
  const dir = useOpenDir();
  const revision = useProject((state) => state.revision);
  return useQuery(dir ? `archived ${dir} ${revision}` : null, () => api.session.list({ filter: { archived: true } }));
}
