import { useMemo } from 'react';
import type { FoundSource } from '../../../core/contract/index.js';
import { api } from '../../client';
import {
  AnswerMemory,
  type SessionPage,
  useImports,
  useKept,
  useLive,
  useLiveSessions,
  useOpenDir,
  useProject,
  useQuery,
  useSessionList,
} from '../../state';
import { partFound, refusals } from './refused';
import { joinSessions, type ListedHistory } from './rows';

const histories = new AnswerMemory<{ readonly places: readonly FoundSource[]; readonly fresh: readonly ListedHistory[] }>(2, 'never');

/** The histories on this machine that the open project contains not at all or only in part. */
export function useFound() {
  const dir = useOpenDir();
  return useQuery(
    dir ?? '',
    async () => {
      const known = histories.get(dir ?? '');
      // Reading the beginning of thousands of files again for each stored session would slow the import. The list is read again at its end.
      if (known && isImporting()) return known;
      const places = await api.library.sources({});
      const lists = await Promise.all(
        places.map(({ root, agent, sessions }) =>
          sessions === 0 ? [] : api.library.sessions({ root }).then((found) => found.map((one): ListedHistory => ({ ...one, agent }))),
        ),
      );
      return { places, fresh: lists.flat().filter(({ imported }) => !imported) };
    },
    histories,
  );
}

const isImporting = (): boolean => useImports.getState().jobs.some(({ state }) => state === 'running');

/** The sessions of the open project. */
export function useProjectSessions() {
  const dir = useOpenDir();
  // A session can start or stop being live without a new commit, so the list reloads then too.
  const liveFiles = useLive(({ capture }) => (capture?.files ?? []).map(({ path, open, tip }) => `${path} ${open} ${tip}`).join('\n'));
  useLiveSessions();
  return useKept(useSessionList(dir, { isWhole: true, moment: liveFiles }), dir);
}

/** All rows that the list can show: both of the above, joined. */
export function useSessions() {
  const dir = useOpenDir();
  const phase = useProject(({ state }) => state.phase);
  const found = useFound();
  const own = useProjectSessions();
  const sessions = own.status === 'done' ? own.data.sessions : undefined;
  const isWhole = own.status === 'done' ? own.data.isWhole : own.status !== 'loading' && phase !== 'opening';
  const archived = useArchived(dir);
  const shelved = archived.status === 'done' ? archived.data.sessions : undefined;
  const fresh = found.status === 'done' ? found.data.fresh : undefined;
  const jobs = useImports((state) => state.jobs);
  const { importable, refused } = useMemo(() => partFound(fresh ?? [], refusals(jobs)), [fresh, jobs]);
  const isRunning = jobs.some(({ state }) => state === 'running');
  const listed = useMemo(() => {
    const own = [...(sessions ?? []), ...(shelved ?? [])];
    // The list of files is read again at the end of an import. Until then, a session that is stored needs no update.
    const stored = new Set(isRunning ? own.map(({ sessionId }) => sessionId) : []);
    // A file of a session that is not loaded yet would look as if it were not imported.
    return joinSessions(own, isWhole ? importable.filter(({ sessionId }) => !stored.has(sessionId)) : []);
  }, [sessions, shelved, importable, isRunning, isWhole]);
  const loading = (own.status === 'loading' && sessions === undefined) || (found.status === 'loading' && fresh === undefined) || phase === 'opening';
  return { found, own, listed, refused, loading, isWhole };
}

/** Archived sessions are loaded only on request. */
const useArchived = (dir: string | undefined) => useQuery(dir ?? null, () => api.session.list({ filter: { archived: true } }), shelves);
const shelves = new AnswerMemory<SessionPage>(2, 'never');
