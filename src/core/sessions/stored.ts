// The sessions of clusters in derived data: the writer stores them while the project is idle, so that a list of many sessions reads no commits.
import { sha256Of } from '../artifacts/index.js';
import { type CommitSeq, type ContextId, present, toTimestamp } from '../base/index.js';
import { intactColumn, type ReadChain, runList, type WriteChain } from '../chain/index.js';
import type { SessionRow } from '../contract/index.js';
import { readDerivedProgress, setDerivedProgress } from '../store/index.js';
import { forgetSums, settingsState } from '../usage/index.js';
import { type Cluster, clusterName, clustersOf } from './clusters.js';
import type { Linked } from './links.js';

/** The sessions of a cluster. */
export interface Made {
  readonly rows: readonly SessionRow[];
  readonly links: readonly (readonly [session: string, linked: Linked])[];
}

/** A cluster with a text that changes with everything that its sessions are read from. */
export interface StatedCluster {
  readonly cluster: Cluster;
  readonly state: string;
}

/** Increase this number when rows of sessions change their meaning, so that stored ones are made again. */
const rowsVersion = 2;
const markOf = (state: string): string => sha256Of(`${rowsVersion} ${state}`).toString('base64url').slice(0, 22);

/** The sessions of stored clusters, by their names. `isMeant` is asked about the mark of each. */
export function storedAt(
  chain: ReadChain,
  names: readonly number[],
  isMeant: (name: number, mark: string) => boolean = () => true,
): ReadonlyMap<number, Made> {
  const found = chain.db
    .rows<[run: number, mark: string, data: string]>(
      'SELECT run, mark, data FROM sessionCluster WHERE project = ? AND run IN (SELECT value FROM json_each(?))',
      [chain.project, JSON.stringify(names)],
    )
    .flatMap(([run, mark, data]): [number, Made][] => (isMeant(run, mark) ? [[run, JSON.parse(data) as Made]] : []));
  const links = found.flatMap(([, made]) => made.links);
  const damaged = damagedSessions(chain, links);
  if (damaged.size === 0) return new Map(found);
  const marked = (row: SessionRow): SessionRow => (damaged.has(row.sessionId) ? { ...row, damaged: true } : row);
  return new Map(found.map(([name, made]) => [name, { ...made, rows: made.rows.map(marked) }] as const));
}

/** The stored sessions of those of these clusters that have not changed since. None in a project without a clone, where contents come and go. */
export function storedClusters(chain: ReadChain, asked: readonly StatedCluster[]): ReadonlyMap<Cluster, Made> {
  if (asked.length === 0 || chain.artifacts.copies.expects()) return new Map();
  const byName = new Map(asked.map((one) => [clusterName(one.cluster), one] as const));
  const found = storedAt(chain, [...byName.keys()], (name, mark) => mark === markOf(byName.get(name)?.state ?? ''));
  return new Map([...found].flatMap(([name, made]): [Cluster, Made][] => [[(byName.get(name) as StatedCluster).cluster, made]]));
}

/** The sessions whose first commit was damaged after they were stored. */
function damagedSessions(chain: ReadChain, links: Made['links']): ReadonlySet<string> {
  const damaged = new Set(
    chain.db.column<CommitSeq>(
      `SELECT seq FROM (SELECT c.seq, ${intactColumn} FROM commits c WHERE c.seq IN (SELECT value FROM json_each(?))) WHERE NOT intact`,
      JSON.stringify(links.map(([, { first }]) => first)),
    ),
  );
  return new Set(links.flatMap(([session, { first }]) => (damaged.has(first) ? [session] : [])));
}

/** Of all clusters, those whose stored sessions are out of date; and the names of stored clusters that are gone. */
export function staleClusters(chain: ReadChain, stated: readonly StatedCluster[]): { stale: readonly StatedCluster[]; gone: readonly number[] } {
  const marks = new Map(chain.db.rows<[run: number, mark: string]>('SELECT run, mark FROM sessionCluster WHERE project = ?', chain.project));
  const names = new Set(stated.map(({ cluster }) => clusterName(cluster)));
  return {
    stale: stated.filter(({ cluster, state }) => marks.get(clusterName(cluster)) !== markOf(state)),
    gone: [...marks.keys()].filter((run) => !names.has(run)),
  };
}

/** Stores the sessions of a cluster. No rule has been applied to them then. */
export function storeCluster({ db, project }: WriteChain, { cluster, state }: StatedCluster, made: Made): void {
  const insert = 'INSERT OR REPLACE INTO sessionCluster (project, run, runs, mark, data) VALUES (?, ?, ?, ?, ?)';
  db.run(insert, project, clusterName(cluster), runList(cluster.families), markOf(state), JSON.stringify(made));
}

/** The row of `derivedProgress` with the state of the project whose sessions are stored. */
export const storedProgress = 'usage sessions';

/** SQL for a text that changes with every commit, imported file, name, pin, tag, archive and deletion. */
const recordState = `(SELECT IFNULL(group_concat(changes || '/' || total), '') FROM areaCount WHERE project = :project AND area = 'commits') || ' ' ||
            (SELECT IFNULL(MAX(no), 0) || ' ' || COUNT(*) || ' ' || TOTAL(LENGTH(path) + size) FROM source WHERE project = :project) || ' ' ||
            (SELECT IFNULL(group_concat(no || IFNULL(title, '') || IFNULL(tags, '') || (deletedAt IS NULL) || (archivedAt IS NULL) || IIF(pinnedAt IS NULL, '', 'p')), '') FROM sessionMark) || ' ' ||
            (SELECT IFNULL(group_concat(no || IFNULL(title, '') || (deletedAt IS NULL) || (archivedAt IS NULL)), '') FROM branchMark) || ' ' ||
            (SELECT IFNULL(MAX(no), 0) FROM contextVersion) || ' ' || (SELECT COUNT(*) FROM resumed)`;

/** A number for the text that this SQL gives, the settings for usage, and `rowsVersion`. */
export function stateNumber(chain: ReadChain, sql: string): number {
  const text = chain.db.value<string>(`SELECT ${recordState} || ' ' || ${sql}`, { project: chain.project });
  const whole = `${rowsVersion} ${text}${settingsState(chain)}`;
  let state = 1;
  for (let at = 0; at < whole.length; at++) state = (state * 31 + whole.charCodeAt(at)) % 4_294_967_291;
  return state;
}

/** A number that changes with every commit, call, branch of git, price, limit, name, pin, archive and deletion. */
export const storedState = (chain: ReadChain): number =>
  stateNumber(
    chain,
    `(SELECT COUNT(*) FROM usageBranch) || ' ' ||
     (SELECT COUNT(*) || ' ' || TOTAL(calls) || ' ' || TOTAL(cost) || ' ' || TOTAL(input + quarter) || ' ' || TOTAL(cacheRead) || ' ' || TOTAL(cacheWrite) || ' ' || TOTAL(output)
        FROM usageSum WHERE project = :project)`,
  );

/** Whether the stored sessions are out of date. */
export const sessionsAreDue = (chain: ReadChain): boolean => readDerivedProgress(chain, storedProgress) !== storedState(chain);

/** What a list is sorted and filtered by. */
export interface SessionSketch
  extends Pick<SessionRow, 'sessionId' | 'parentSessionId' | 'title' | 'agent' | 'repository' | 'lastAt'>,
    Pick<SessionRow, 'turns' | 'branches' | 'peakTokens' | 'errors' | 'pinned' | 'archived' | 'tags'> {
  readonly cost: { readonly amount: number } | null;
  readonly cluster: number;
}

/** Whether the stored sessions are current. Never where contents come from copies elsewhere, since they come and go. */
const areCurrent = (chain: ReadChain): boolean => !chain.artifacts.copies.expects() && !sessionsAreDue(chain);

/** The titles of stored sessions, by the ends of their main branches; and the ends whose sessions are not stored. */
export function storedTitles(chain: ReadChain, ends: readonly ContextId[]): { titles: ReadonlyMap<ContextId, string>; others: readonly ContextId[] } {
  if (ends.length === 0 || !areCurrent(chain)) return { titles: new Map(), others: ends };
  const clusters = new Map(
    chain.db.rows<[ContextId, number]>(
      `SELECT c.id, s.cluster FROM commits c JOIN usageSession s ON s.project = c.project AND s.session = c.sessionId
        WHERE c.project = ? AND c.id IN (SELECT value FROM json_each(?))`,
      [chain.project, JSON.stringify(ends)],
    ),
  );
  const wanted = new Set(ends);
  const names = [...new Set(clusters.values())];
  const stored = storedAt(chain, names);
  const mains = new Map([...stored.values()].flatMap(({ links }) => links.map(([session, { main }]) => [session, main] as const)));
  const select = 'SELECT session, title FROM usageSession WHERE project = ? AND cluster IN (SELECT value FROM json_each(?))';
  const titles = new Map<ContextId, string>();
  for (const [session, title] of chain.db.rows<[string, string]>(select, chain.project, JSON.stringify(names))) {
    const main = mains.get(session);
    if (main !== undefined && wanted.has(main)) titles.set(main, title);
  }
  return { titles, others: ends.filter((id) => !stored.has(clusters.get(id) ?? -1)) };
}

/** All sessions as they are stored; undefined if one of them may have changed since. */
export function storedSketches(chain: ReadChain): SessionSketch[] | undefined {
  if (!areCurrent(chain)) return undefined;
  return chain.db
    .all<Omit<SessionSketch, 'tags' | 'cost' | 'lastAt'> & { parent: string | null; endedAt: number; tags: string | null; cost: number | null }>(
      `SELECT s.session AS sessionId, s.cluster, s.parent, s.title, s.agent, s.repository, s.endedAt, s.turns, s.branches, s.errors, s.peakTokens, s.cost,
              m.pinnedAt IS NOT NULL AS pinned, s.isArchived AS archived, m.tags
         FROM usageSession s LEFT JOIN sessionMark m ON m.project = s.project AND m.sessionId = s.session WHERE s.project = ?`,
      chain.project,
    )
    .map(({ parent, endedAt, tags, cost, pinned, archived, ...row }) => ({
      ...row,
      ...present({ parentSessionId: parent }),
      lastAt: toTimestamp(endedAt),
      cost: cost === null ? null : { amount: cost },
      pinned: Boolean(pinned),
      archived: Boolean(archived),
      tags: tags === null ? [] : (JSON.parse(tags) as string[]),
    }));
}

/** Forgets what is stored of clusters, with what rules found in them; of all clusters without names. */
export function forgetClusters(chain: WriteChain, names?: readonly number[]): void {
  const { db, project } = chain;
  for (const [table, column] of [
    ['sessionCluster', 'run'],
    ['usageSession', 'cluster'],
    ['finding', 'cluster'],
  ])
    if (names) db.run(`DELETE FROM ${table} WHERE project = ? AND ${column} IN (SELECT value FROM json_each(?))`, project, JSON.stringify(names));
    else db.run(`DELETE FROM ${table} WHERE project = ?`, project);
  setDerivedProgress(chain, storedProgress, 0);
  if (names === undefined || names.length > 0) forgetSums(chain);
}

/** Forgets what is stored of the clusters of commits, because their contents have arrived. */
export function forgetClustersOf(chain: WriteChain, commits: readonly CommitSeq[]): void {
  const { at } = clustersOf(chain);
  forgetClusters(chain, [...new Set(commits.flatMap((seq) => at(seq) ?? []))].map(clusterName));
}
