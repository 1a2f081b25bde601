import { toTimestamp } from '../base/index.js';
import type { ReadChain } from '../chain/index.js';
import type { InputOf, SessionRow, SessionSort } from '../contract/index.js';
import { type Cluster, clustersOf } from './clusters.js';
import { clusterRows, completed, type SessionFacts } from './list.js';
import { type SessionSketch, storedAt, storedSketches } from './stored.js';

type SessionFilter = NonNullable<InputOf<'session.list'>['filter']>;

/** What a list is sorted and filtered by. For a session that is alone in its cluster, only its time and its marks are known. */
type Sketch = Omit<SessionSketch, 'cluster'> & { readonly models?: readonly string[] };

/** The sessions of the project, one row each. Subagents follow the session that started them. */
export const listSessions = (chain: ReadChain, query: InputOf<'session.list'>, facts: SessionFacts = {}): SessionPage =>
  storedSessions(chain, query, facts) ?? pageOfCommits(chain, query, facts);

interface SessionPage {
  readonly total: number;
  readonly sessions: SessionRow[];
}

/** A page of the stored sessions, for which no price is needed: only its rows are read. Undefined if the stored sessions are out of date. */
export function storedSessions(chain: ReadChain, query: InputOf<'session.list'>, facts: SessionFacts): SessionPage | undefined {
  // The sketches have no models.
  const all = query.filter?.model === undefined ? storedSketches(chain) : undefined;
  if (!all) return undefined;
  const wanted = ordered(all, query);
  const page = pageOf(wanted, query);
  const made = storedAt(chain, [...new Set(page.map(({ cluster }) => cluster))]);
  const rows = completed(chain, [[...made.values()].flatMap(({ rows }) => rows)], facts).flat();
  const byId = new Map(rows.map((row) => [row.sessionId, row] as const));
  return { total: wanted.length, sessions: page.flatMap(({ sessionId }) => byId.get(sessionId) ?? []) };
}

function pageOfCommits(chain: ReadChain, query: InputOf<'session.list'>, facts: SessionFacts): SessionPage {
  const { filter = {}, sort = 'lastAt', limit } = query;
  const { all } = clustersOf(chain);
  // The order by time, and the size of the answer, need no rows of sessions that are alone: only those of the page are read.
  const alone = limit !== undefined && sort === 'lastAt' && needsNoRows(filter) ? aloneIn(chain, all) : new Set<Cluster>();
  const others = all.filter((cluster) => !alone.has(cluster));
  const sketches = [...alone].map((cluster) => ({ ...unknown, ...sketchOf(cluster), found: cluster }));
  const rows = clusterRows(chain, others, facts).flat();
  const wanted = ordered<Sketch & { readonly found?: Cluster }>([...rows, ...sketches], query);
  const page = pageOf(wanted, query);
  const unread = page.flatMap(({ found }) => found ?? []);
  const read = new Map(clusterRows(chain, unread, facts).map((own, at) => [unread[at], own] as const));
  return { total: wanted.length, sessions: page.flatMap((row) => (row.found ? (read.get(row.found) ?? []) : [row as SessionRow])) };
}

const unknown = { title: '', agent: '', repository: null, turns: 0, branches: 0, peakTokens: null, errors: 0, cost: null };
const sketchOf = ({ families: [family], sessions }: Cluster): Pick<Sketch, 'sessionId' | 'pinned' | 'archived' | 'tags' | 'lastAt'> => ({
  ...{ sessionId: [...sessions][0] ?? '', pinned: false, archived: false, tags: [] },
  lastAt: toTimestamp(family?.newest ?? 0),
});

const pageOf = <Row>(rows: readonly Row[], { offset = 0, limit }: InputOf<'session.list'>): readonly Row[] =>
  rows.slice(offset, limit === undefined ? undefined : offset + limit);

/** The sessions that match, in the order of the query, each followed by its subagents. */
function ordered<Row extends Sketch>(rows: readonly Row[], query: InputOf<'session.list'>): readonly Row[] {
  const ids = new Set(rows.map(({ sessionId }) => sessionId));
  const isTop = (row: Row): boolean => row.parentSessionId === undefined || !ids.has(row.parentSessionId);
  const subagents = rows.filter((row) => !isTop(row));
  const inside = Map.groupBy(subagents, ({ parentSessionId }) => parentSessionId);
  const withSubagents = (row: Row): Row[] => [
    row,
    ...(inside.get(row.sessionId) ?? []).sort((a, b) => compare(a.lastAt, b.lastAt) || compare(a.sessionId, b.sessionId)).flatMap(withSubagents),
  ];
  const matches = filterBy(query.filter ?? {});
  return rows
    .filter((row) => isTop(row) && matches(row))
    .sort(orderOf(query))
    .flatMap(withSubagents);
}

/**
 * The clusters of one session without subagents, forks and marks. Its whole history is one tree of commits that name the session, so it has one
 * row, and its latest time is that of the commits.
 */
function aloneIn(chain: ReadChain, clusters: readonly Cluster[]): ReadonlySet<Cluster> {
  const linked = new Set(
    chain.db.column<number>(
      `SELECT c.run FROM started s JOIN commits c ON c.seq = s.context WHERE s.project = :project
       UNION SELECT c.run FROM resumed r JOIN commits c ON c.seq = r.context WHERE r.project = :project`,
      { project: chain.project },
    ),
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
  return (a: Sketch, b: Sketch): number =>
    Number(b.pinned) - Number(a.pinned) ||
    (ascending ? 1 : -1) * compare(sortedBy(a, sort), sortedBy(b, sort)) ||
    compare(b.lastAt, a.lastAt) ||
    compare(a.sessionId, b.sessionId);
}

const compare = (a: string | number, b: string | number): number => (a < b ? -1 : a > b ? 1 : 0);

/** The value to sort by. In descending order, unknown values come last. */
function sortedBy(row: Sketch, sort: SessionSort): string | number {
  if (sort === 'title') return row.title.toLowerCase();
  if (sort === 'repository') return row.repository ?? '\uffff';
  if (sort === 'cost') return row.cost?.amount ?? -1;
  return row[sort] ?? -1;
}

/** Whether a filter asks only for marks and times. */
const needsNoRows = ({ text, agent, repository, model }: SessionFilter): boolean =>
  text === undefined && agent === undefined && repository === undefined && model === undefined;

const filterBy =
  ({ text, agent, repository, model, from, to, tag, pinned, archived = false }: SessionFilter) =>
  (row: Sketch): boolean =>
    row.archived === archived &&
    (from === undefined || row.lastAt >= from) &&
    (to === undefined || row.lastAt < to) &&
    (tag === undefined || row.tags.includes(tag)) &&
    (pinned === undefined || row.pinned === pinned) &&
    (agent === undefined || row.agent === agent) &&
    (repository === undefined || row.repository === repository) &&
    (model === undefined || row.models?.includes(model) === true) &&
    (text === undefined ||
      `${row.title}\n${row.repository ?? ''}\n${row.tags.join('\n')}\n${row.sessionId}`.toLowerCase().includes(text.trim().toLowerCase()));
