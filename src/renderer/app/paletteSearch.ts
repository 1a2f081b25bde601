import { useEffect, useMemo, useState } from 'react';
import type { ContextId, GraphRow } from '../../core/contract/index.js';
import { api } from '../client';
import { chainOf, useKept, useNavigation, useOpenDir, useProject, useQuery, useTickets } from '../state';

const mostCommits = 30;
const mostTickets = 8;
const searchAfterMs = 150;

/** What the typed words find in the open project and on this machine. Each part fills in as its answer arrives. */
export function usePaletteSearch(words: string, mostEntries: number) {
  const dir = useOpenDir();
  const revision = useProject((state) => state.revision);
  const ticketRevision = useTickets((state) => state.revision);
  const rested = useRested(words.trim(), searchAfterMs);
  const recent = useQuery('recent', () => api.library.recent({}));
  const sources = useKept(
    useQuery(dir ? `sources ${revision}` : null, () => api.source.list({})),
    dir,
  );
  const entries = useKept(
    useQuery(dir && rested.length >= 3 && /[\p{L}\p{N}]/u.test(rested) ? `${dir} ${revision} ${rested} ${mostEntries}` : null, (signal) =>
      api.search.query({ text: rested, limit: mostEntries }, { signal }),
    ),
    `${dir} ${rested}`,
  );
  const tickets = useQuery(dir && rested.length >= 2 ? `${dir} tickets ${ticketRevision} ${rested}` : null, (signal) =>
    api.ticket.overview({ text: rested, limit: mostTickets }, { signal }),
  );
  return {
    commits: useLoadedCommits(words.trim().toLowerCase()),
    entries: entries.status === 'done' ? entries.data : undefined,
    tickets: tickets.status === 'done' ? tickets.data.rows : [],
    sources: sources.status === 'done' ? sources.data : [],
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
    for (let n = 0; n < (rows.total() ?? 0) && found.length < mostCommits; n++) {
      const row = rows.at(n);
      if (row && `${row.commit.summary ?? ''}\n${row.tipOf ?? ''}\n${row.commit.id}`.toLowerCase().includes(needle)) found.push(row);
    }
    return found;
  }, [dir, session, revision, needle]);
}

/** The commit that the current view shows, in full once it is read. */
export function useShownCommit() {
  const commit = useNavigation(({ route }) => route.commit);
  const read = useQuery(commit ? `show ${commit}` : null, () => api.context.show({ id: commit as ContextId }));
  if (!commit) return undefined;
  return read.status === 'done' ? read.data : { id: commit, parent: null, format: '' };
}

/** The value, once it has not changed for `ms` milliseconds. */
function useRested<T>(value: T, ms: number): T {
  const [rested, setRested] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return rested;
}
