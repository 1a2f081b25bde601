import { timestampOf } from '../base/index.js';
import type { ReadChain } from '../chain/index.js';
import type { InputOf, SessionRow, SessionSort } from '../contract/index.js';
import { type Cluster, clustersOf } from './clusters.js';
import { rowsOf, type SessionFacts } from './list.js';

type SessionFilter = NonNullable<InputOf<'session.list'>['filter']>;

/** A session that no other one of the list started, with its subagents; or the cluster in which it is alone, whose commits are not read. */
interface Listed extends Pick<SessionRow, 'pinned' | 'lastAt'> {
  readonly found: SessionRow | Cluster;
}

/** The sessions of the project, one row each. Subagents follow the session that started them. */
export function listSessions(chain: ReadChain, query: InputOf<'session.list'>, facts: SessionFacts = {}): { total: number; sessions: SessionRow[] } {
  const { filter = {}, sort = 'lastAt', offset = 0, limit } = query;
  const { all } = clustersOf(chain);
  // The order by time, and the size of the answer, need no rows of sessions that are alone: only those of the page are read.
  const alone = limit !== undefined && sort === 'lastAt' && needsNoRows(filter) ? aloneIn(chain, all) : new Set<Cluster>();
  const others = all.filter((cluster) => !alone.has(cluster));
  const rowsAt = new Map(rowsOf(chain, others, facts).map((rows, at) => [others[at], rows] as const));
  const rows = [...rowsAt.values()].flat();
  const ids = new Set(rows.map(({ sessionId }) => sessionId));
  const isTop = (row: SessionRow): boolean => row.parentSessionId === undefined || !ids.has(row.parentSessionId);
  const inside = Map.groupBy(
    rows.filter((row) => !isTop(row)),
    ({ parentSessionId }) => parentSessionId,
  );
  const matches = filterBy(filter);
  const listed = all.flatMap((cluster): Listed[] => {
    if (!alone.has(cluster)) return (rowsAt.get(cluster) ?? []).filter((row) => isTop(row) && matches(row)).map((row) => sortable(row, row));
    const sketch = { pinned: false, archived: false, tags: [], lastAt: timestampOf(cluster.families[0]?.newest ?? 0) };
    return matchesMarks(filter)(sketch) ? [sortable(sketch, cluster)] : [];
  });
  const withSubagents = (row: SessionRow): SessionRow[] => [
    row,
    ...(inside.get(row.sessionId) ?? []).sort((a, b) => compare(a.lastAt, b.lastAt)).flatMap(withSubagents),
  ];
  const wanted = listed.sort(orderOf(query)).flatMap(({ found }): (SessionRow | Cluster)[] => (isCluster(found) ? [found] : withSubagents(found)));
  const page = wanted.slice(offset, limit === undefined ? undefined : offset + limit);
  const unread = page.filter(isCluster);
  const read = new Map(rowsOf(chain, unread, facts).map((own, at) => [unread[at], own] as const));
  return { total: wanted.length, sessions: page.flatMap((found) => (isCluster(found) ? (read.get(found) ?? []) : [found])) };
}

const sortable = ({ pinned, lastAt }: Pick<SessionRow, 'pinned' | 'lastAt'>, found: SessionRow | Cluster): Listed => ({ pinned, lastAt, found });

const isCluster = (found: SessionRow | Cluster): found is Cluster => 'families' in found;

/**
 * The clusters of one session without subagents, forks and marks. Its whole history is one tree of commits that name the session, so it has one
 * row, and its latest time is that of the commits.
 */
function aloneIn(chain: ReadChain, clusters: readonly Cluster[]): ReadonlySet<Cluster> {
  const linked = new Set(
    chain.db
      .all<{ run: number }>(
        `SELECT c.run FROM started s JOIN context c ON c.seq = s.context WHERE s.project = :project
         UNION SELECT c.run FROM resumed r JOIN context c ON c.seq = r.context WHERE r.project = :project`,
        { project: chain.project },
      )
      .map(({ run }) => run),
  );
  const isAlone = ({ families: [family, ...more], sessions, isMarked }: Cluster): boolean =>
    family !== undefined &&
    more.length === 0 &&
    sessions.size === 1 &&
    family.unnamed === 0 &&
    family.forks === 0 &&
    !isMarked &&
    !family.runs.some((run) => linked.has(run));
  return new Set(clusters.filter(isAlone));
}

function orderOf({ sort = 'lastAt', ascending = sort === 'title' || sort === 'agent' || sort === 'repository' }: InputOf<'session.list'>) {
  const value = ({ found, lastAt }: Listed): string | number => (isCluster(found) ? lastAt : sortedBy(found, sort));
  return (a: Listed, b: Listed): number =>
    Number(b.pinned) - Number(a.pinned) || (ascending ? 1 : -1) * compare(value(a), value(b)) || compare(b.lastAt, a.lastAt);
}

const compare = (a: string | number, b: string | number): number => (a < b ? -1 : a > b ? 1 : 0);

/** The value to sort by. In descending order, unknown values come last. */
function sortedBy(row: SessionRow, sort: SessionSort): string | number {
  switch (sort) {
    case 'lastAt':
    case 'agent':
      return row[sort];
    case 'title':
      return row.title.toLowerCase();
    case 'repository':
      return row.repository ?? '\uffff';
    case 'cost':
      return row.cost?.amount ?? -1;
    case 'peakTokens':
      return row.peakTokens ?? -1;
    case 'turns':
    case 'branches':
    case 'errors':
      return row[sort];
  }
}

/** Whether a filter asks only for marks and times. */
const needsNoRows = ({ text, agent, repository, model }: SessionFilter): boolean =>
  text === undefined && agent === undefined && repository === undefined && model === undefined;

const matchesMarks =
  ({ from, to, tag, pinned, archived = false }: SessionFilter) =>
  (row: Pick<SessionRow, 'lastAt' | 'tags' | 'pinned' | 'archived'>): boolean =>
    row.archived === archived &&
    (from === undefined || row.lastAt >= from) &&
    (to === undefined || row.lastAt < to) &&
    (tag === undefined || row.tags.includes(tag)) &&
    (pinned === undefined || row.pinned === pinned);

const filterBy =
  (filter: SessionFilter) =>
  (row: SessionRow): boolean =>
    matchesMarks(filter)(row) && matchesContent(filter, row);

const matchesContent = ({ text, agent, repository, model }: SessionFilter, row: SessionRow): boolean =>
  (agent === undefined || row.agent === agent) &&
  (repository === undefined || row.repository === repository) &&
  (model === undefined || row.models.includes(model)) &&
  (text === undefined ||
    `${row.title}\n${row.repository ?? ''}\n${row.tags.join('\n')}\n${row.sessionId}`.toLowerCase().includes(text.trim().toLowerCase()));
