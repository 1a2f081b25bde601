import { useMemo } from 'react';
import { api } from '../client';
import { AnswerMemory } from './memory';
import { type Query, useKept, useQuery } from './query';

export type SessionPage = Awaited<ReturnType<typeof api.session.list>>;

/** The sessions of a project. Those of a large one arrive in pages: until `isWhole`, the older ones are missing. */
type SessionList = SessionPage & { readonly isWhole: boolean };

/** The sessions of a page. An answer with more would keep a person waiting for the first rows. */
const pageSize = 500;

const lists = new AnswerMemory<SessionPage>(4);
const olderLists = new AnswerMemory<SessionPage>(4);

async function listOlder(signal: AbortSignal): Promise<SessionPage> {
  const sessions: SessionPage['sessions'] = [];
  for (;;) {
    const page = await api.session.list({ offset: pageSize + sessions.length, limit: pageSize }, { signal });
    sessions.push(...page.sessions);
    if (page.sessions.length < pageSize) return { ...page, sessions };
  }
}

/** The first page and those after it as one list. A session that moved between them is in the list once. */
export function joinPages(first: SessionPage, older: SessionPage | undefined): SessionList {
  const isWhole = older !== undefined || first.total <= pageSize;
  const ids = new Set(first.sessions.map(({ sessionId }) => sessionId));
  const others = first.total <= pageSize ? [] : (older?.sessions ?? []).filter(({ sessionId }) => !ids.has(sessionId));
  return { total: first.total, sessions: [...first.sessions, ...others], isWhole };
}

/** Which sessions to list: all with `isWhole`, else the newest 500. A changed `moment` reloads them. */
interface Listed {
  readonly isWhole: boolean;
  readonly moment?: string;
}

/** The sessions of a project that are not archived, until it changes. */
export function useSessionList(project: string | undefined, { isWhole, moment = '' }: Listed): Query<SessionList> {
  const key = project ? `${project} ${moment}` : null;
  const first = useQuery(key, (signal) => api.session.list({ limit: pageSize }, { signal }), lists);
  const isLong = isWhole && first.status === 'done' && first.data.total > pageSize;
  // The older sessions stay in view while they are asked for again.
  const older = useKept(useQuery(isLong ? key : null, listOlder, olderLists), project);
  return useMemo((): Query<SessionList> => {
    if (first.status !== 'done') return first;
    if (older.status === 'failed') return older;
    return { ...first, data: joinPages(first.data, older.status === 'done' ? older.data : undefined) };
  }, [first, older]);
}
