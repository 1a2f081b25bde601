import { useEffect, useMemo } from 'react';
import type { GraphRow, SearchHit, SessionRow } from '../../core/contract/index.js';
import { api } from '../client';
import { commitName } from '../parts';
import {
  chainOf,
  useCommit,
  useKeptQuery,
  useNavigation,
  useOpenDir,
  useProject,
  useQuery,
  useRested,
  useRounds,
  useSessionList,
  useTickets,
} from '../state';

const maxCommits = 30;
const maxTickets = 8;
const searchAfterMs = 150;
const askAgainMs = 300;

export interface PaletteNarrowing {
  readonly agent: string | undefined;
  /** The number of days before now. */
  readonly days: number | undefined;
}

const dayMs = 86_400_000;
const noSessions: readonly SessionRow[] = [];

/** The filter of a search. Its time is rounded down to the minute, so that the same search is sent only once. */
function filterOf({ agent, days }: PaletteNarrowing) {
  const minute = Math.floor(Date.now() / 60_000) * 60_000;
  return { ...(agent && { agent }), ...(days !== undefined && { from: new Date(minute - days * dayMs).toISOString() }) };
}

/** Hits by session, in the order of each session's best hit. An entry that a compaction or a fork kept is in several commits but is listed once. */
export function hitsBySession(hits: readonly SearchHit[]): readonly (readonly [sessionId: string, hits: readonly SearchHit[]])[] {
  const isFirst = (hit: SearchHit, at: number, own: readonly SearchHit[]) => own.findIndex(({ entryKey }) => entryKey === hit.entryKey) === at;
  return [...Map.groupBy(hits, ({ sessionId }) => sessionId ?? '')].map(([sessionId, own]) => [sessionId, own.filter(isFirst)]);
}

/** The results of the typed words in the open project and on this machine. Each part appears when its answer arrives. */
export function usePaletteSearch(words: string, maxEntries: number, narrowing: PaletteNarrowing) {
  const dir = useOpenDir();
  const revision = useProject((state) => state.revision);
  const ticketRevision = useTickets((state) => state.revision);
  const rested = useRested(words.trim(), searchAfterMs);
  const recent = useQuery('recent', () => api.library.recent({}));
  const sessions = useSessionList(dir, { isWhole: true });
  const filter = filterOf(narrowing);
  const asked = `${rested} ${JSON.stringify(filter)}`;
  const [round, askAgain] = useRounds();
  const entries = useKeptQuery(
    `${dir} ${asked}`,
    dir && rested.length >= 3 && /[\p{L}\p{N}]/u.test(rested) ? `${dir} ${revision} ${asked} ${maxEntries} ${round}` : null,
    (signal) => api.search.query({ text: rested, limit: maxEntries, filter }, { signal }),
  );
  // Each search indexes some of the new commits.
  useEffect(() => {
    if (entries.status !== 'done' || entries.data.pending === 0) return;
    const timer = setTimeout(askAgain, askAgainMs);
    return () => clearTimeout(timer);
  }, [entries, askAgain]);
  const tickets = useQuery(dir && rested.length >= 2 ? `${dir} tickets ${ticketRevision} ${rested}` : null, (signal) =>
    api.ticket.overview({ text: rested, limit: maxTickets }, { signal }),
  );
  return {
    commits: useLoadedCommits(words.trim().toLowerCase()),
    entries: entries.status === 'done' ? entries.data : undefined,
    tickets: tickets.status === 'done' ? tickets.data.rows : [],
    sessions: sessions.status === 'done' ? sessions.data.sessions : noSessions,
    /** True once the sessions are loaded, because the first row must not change after that. */
    isReady: sessions.status !== 'loading' && (sessions.status !== 'done' || sessions.data.isWhole),
    projects: recent.status === 'done' ? recent.data.filter((project) => !project.missing) : [],
  };
}

/** Commits whose title, tip name or id contains the words, among the rows of the chain that this window has loaded. */
function useLoadedCommits(needle: string): readonly GraphRow[] {
  const dir = useOpenDir();
  const revision = useProject((state) => state.revision);
  const session = useNavigation(({ route }) => route.session);
  return useMemo(() => {
    if (!dir || needle.length < 2) return [];
    const rows = chainOf(dir, session, revision);
    const found: GraphRow[] = [];
    for (let n = 0; n < (rows.total() ?? 0) && found.length < maxCommits; n++) {
      const row = rows.at(n);
      if (row && `${commitName(row)}\n${row.commit.summary ?? ''}\n${row.tipOf ?? ''}\n${row.commit.id}`.toLowerCase().includes(needle))
        found.push(row);
    }
    return found;
  }, [dir, session, revision, needle]);
}

/** The commit that the current view shows, with all fields once they are loaded. */
export function useShownCommit() {
  const commit = useNavigation(({ route }) => route.commit);
  const read = useCommit(useOpenDir(), commit);
  if (!commit) return undefined;
  return read.status === 'done' ? read.data : { id: commit, parent: null, format: '' };
}
