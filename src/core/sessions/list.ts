import { type CommitSeq, type ContextId, notFound, toTimestamp } from '../base/index.js';
import { intactColumn, kept, type ReadChain, recalled, startedAmong } from '../chain/index.js';
import { runtimes, type SessionRow } from '../contract/index.js';
import { repositoryAt } from '../files/index.js';
import { builtInMappings } from '../formats/index.js';
import { formatOfAgent, mappedFormat } from '../import/index.js';
import { callStates, driftsOf, settingsState } from '../usage/index.js';
import { type Cluster, clusterName, clustersOf } from './clusters.js';
import { type Forest, type ForestNode, forestOf, nodesOf, pathTo, subagentKind, turnsOn } from './forest.js';
import { continuedSessions, type Linked, type LinkRecord, linkRecords, recently } from './links.js';
import { type SessionMark, sessionMarks } from './marks.js';
import { noNumbers, numbersOf, sessionsOnHub } from './numbers.js';
import { type Made, storedClusters, storedTitles } from './stored.js';
import { firstPrompt, firstWords, writtenTitle } from './titles.js';

/** Facts about sessions that the store does not contain. */
export interface SessionFacts {
  /** The commits at the ends of sessions on which an agent is working now. */
  readonly live?: ReadonlySet<string> | undefined;
}

/** The row of one session. @throws NOT_FOUND */
export function readSession(chain: ReadChain, sessionId: string, facts: SessionFacts = {}): SessionRow {
  const clusters = clustersOf(chain).of([sessionId]);
  const row = rowsIn(chain, clusters, facts).find((one) => one.sessionId === sessionId);
  if (!row) throw notFound(sessionId, `This project has no session ${sessionId}.`, { field: 'sessionId' });
  return row;
}

/** The rows of the session and of those around it: its subagents and the sessions that share commits with it. */
export const rowsAround = (chain: ReadChain, sessionId: string): SessionRow[] => rowsIn(chain, clustersOf(chain).of([sessionId]), {});

const bytesPerRow = 1_500;

const rowsIn = (chain: ReadChain, clusters: Iterable<Cluster>, facts: SessionFacts): SessionRow[] => clusterRows(chain, [...clusters], facts).flat();

/** The rows of the sessions in each of these clusters. */
export function clusterRows(chain: ReadChain, clusters: readonly Cluster[], facts: SessionFacts): (readonly SessionRow[])[] {
  const made = madeOf(chain, clusters).map(({ rows }) => rows);
  return completed(chain, made, facts);
}

/** Rows with what depends on other sessions, and on the work of agents now. */
export function completed(chain: ReadChain, found: (readonly SessionRow[])[], { live }: SessionFacts): (readonly SessionRow[])[] {
  const names = new Set(found.flatMap((rows) => rows.map(({ sessionId }) => sessionId)));
  const records = linkRecords(chain).filter(({ session }) => names.has(session));
  const links = records.length > 0 ? madeOf(chain, clustersBefore(chain, records)).flatMap((made) => made.links) : [];
  const continued = continuedSessions(records, new Map(links));
  if (!live && continued.size === 0) return found;
  return found.map((rows) =>
    rows.map((row) => {
      const continues = continued.get(row.sessionId);
      return { ...row, ...(continues && { continues }), live: live !== undefined && row.tips.some((tip) => live.has(tip)) };
    }),
  );
}

/** The clusters of sessions that go on from another one, and those in which that one may be: by its name, or by its folder and time. */
function clustersBefore(chain: ReadChain, records: readonly LinkRecord[]): Cluster[] {
  const { all, of } = clustersOf(chain);
  const named = of(records.flatMap(({ kind, session, before }) => (kind === 'continues' ? [session, before] : [session])));
  const cleared = [...of(records.flatMap(({ kind, session }) => (kind === 'cleared' ? [session] : [])))];
  const folders = new Set(cleared.flatMap(({ files }) => files.map(({ cwd }) => cwd)));
  const times = cleared.flatMap(({ families }) => families);
  const from = times.reduce((least, { oldest }) => Math.min(least, oldest), Number.POSITIVE_INFINITY) - recently;
  const to = times.reduce((most, { newest }) => Math.max(most, newest), Number.NEGATIVE_INFINITY);
  const isNear = ({ files, families }: Cluster): boolean =>
    families.some(({ oldest, newest }) => newest >= from && oldest <= to) && files.some(({ cwd }) => folders.has(cwd));
  return all.filter((cluster) => named.has(cluster) || isNear(cluster));
}

/** The sessions of clusters. Those of a cluster are kept until one of its commits, files, marks or calls changes. */
export function madeOf(chain: ReadChain, clusters: readonly Cluster[]): Made[] {
  const marks = sessionMarks(chain);
  const asked = sessionStates(chain, clusters, marks).map((state, at) => ({ cluster: clusters[at] as Cluster, state }));
  const unknown = asked.filter(({ cluster, state }) => recalled(chain, kind, String(clusterName(cluster)), state) === undefined);
  const stored = storedClusters(chain, unknown);
  return asked.map(({ cluster, state }) => {
    const read = (): Made => stored.get(cluster) ?? readRows(chain, cluster, marks);
    return kept(chain, kind, String(clusterName(cluster)), state, read, ({ rows }) => rows.length * bytesPerRow + state.length);
  });
}

const kind = 'session rows';

/** For each cluster, a text that changes with everything that its sessions are read from. */
export function sessionStates(chain: ReadChain, clusters: readonly Cluster[], marks = sessionMarks(chain)): string[] {
  const calls = callStates(chain, clusters.length > manyClusters ? undefined : new Set(clusters.flatMap(({ sessions }) => [...sessions])));
  const project = `${settingsState(chain)} ${calls.get('')}`;
  const onHub = sessionsOnHub(chain);
  const own = (session: string): string =>
    `${calls.get(session)} ${onHub.has(session)} ${marks.has(session) ? JSON.stringify(marks.get(session)) : ''}`;
  return clusters.map(({ sessions, state }) => [project, state, ...[...sessions].map(own)].join('\n'));
}

const manyClusters = 100;

function readRows(chain: ReadChain, cluster: Cluster, marks: ReadonlyMap<string, SessionMark>): Made {
  const forest = forestOf(chain, cluster);
  const byKey = Map.groupBy(forest.nodes, forest.keyOf);
  byKey.delete(undefined);
  const commits = byKey as ReadonlyMap<string, ForestNode[]>;
  const files = filesBySession(cluster, forest);
  const parents = startersOf(chain, forest);
  const numbers = numbersOf(chain, cluster, forest, parents);
  const drifts = driftsOf(chain, [...commits.keys()]);
  const mains = new Map([...commits].map(([sessionId, own]) => [sessionId, mainTip(forest, own)] as const));
  const rowOf = (sessionId: string, own: readonly ForestNode[]): SessionRow => {
    const [mark, parent, drift] = [marks.get(sessionId), parents.get(sessionId), drifts.get(sessionId)];
    const { count = 0, titles = [], cwd }: Partial<SessionFiles> = files.get(sessionId) ?? {};
    const main = mains.get(sessionId);
    const tips = tipsOf(forest, own, main).map(({ id }) => id);
    const recorded = own.filter(({ forked }) => !forked);
    const first = own[0] as ForestNode;
    const subagent = forest.subagentOf.get(first.seq);
    return {
      sessionId,
      agent: recognizeAgent(first),
      ...(isOwnMapping(first) && { hasOwnMapping: true as const }),
      title: mark?.title ?? sessionTitle(chain, own, titles, subagent !== undefined) ?? namelessTitle(sessionId),
      repository: cwd === undefined ? null : repositoryAt(cwd),
      lastAt: toTimestamp((recorded.length > 0 ? recorded : own).reduce((last, { createdAt }) => Math.max(last, createdAt), 0)),
      turns: turnsOn(forest, pathTo(forest, main)).filter((node) => forest.subagentOf.get(node.seq) === subagent).length,
      branches: tips.length,
      ...(numbers.get(sessionId) ?? noNumbers),
      ...(drift && { drift }),
      errors: own.reduce((sum, { errors }) => sum + errors, 0),
      live: false,
      ...(parent !== undefined && parent !== sessionId && { parentSessionId: parent }),
      ...(subagent && { subagent: subagentKind(subagent) ?? 'agent' }),
      sources: count,
      continuedAs: [...(forest.continuedAs.get(sessionId) ?? [])],
      tips,
      pinned: (mark?.pinnedAt ?? null) !== null,
      archived: (mark?.archivedAt ?? null) !== null,
      tags: [...(mark?.tags ?? [])],
      ...(!isIntact(chain, first) && { damaged: true as const }),
    };
  };
  return {
    rows: [...commits].map(([sessionId, own]) => rowOf(sessionId, own)),
    links: [...commits].map(([sessionId, own]) => [sessionId, linkedOf(forest, own, mains.get(sessionId), files.get(sessionId)?.cwd)] as const),
  };
}

function linkedOf(forest: Forest, own: readonly ForestNode[], main: ForestNode | undefined, cwd: string | undefined): Linked {
  const first = own[0] as ForestNode;
  return {
    cwd,
    first: first.seq,
    format: first.format,
    startedAt: first.createdAt,
    endedAt: own.reduce((last, { createdAt }) => Math.max(last, createdAt), 0),
    isSubagent: forest.subagentOf.has(first.seq),
    main: main?.id,
  };
}

const isIntact = (chain: ReadChain, { seq }: ForestNode): boolean =>
  chain.db.value(`SELECT ${intactColumn} FROM commits c WHERE c.seq = ?`, seq) === 1;

/** The format of telemetry spans. Without content they have poor titles, so a session that also has the agent's own file is titled by that. */
const spanFormat = 'otlp-v1';

/** The title of a session in which nobody typed anything. */
export const namelessTitle = (sessionId: string): string => `Session ${sessionId.slice(0, 8)}`;

/** The titles of the sessions whose main branches end in these commits, so that a session has one name everywhere. */
export function mainTitles(chain: ReadChain, ends: readonly ContextId[]): ReadonlyMap<ContextId, string> {
  const { titles, others } = storedTitles(chain, ends);
  if (others.length === 0) return titles;
  const wanted = new Set(others);
  const marks = sessionMarks(chain);
  return new Map([...titles, ...[...clustersOf(chain).of(wanted)].flatMap((cluster) => titlesIn(chain, cluster, wanted, marks))]);
}

function titlesIn(chain: ReadChain, cluster: Cluster, ids: ReadonlySet<ContextId>, marks: ReadonlyMap<string, SessionMark>): [ContextId, string][] {
  const forest = forestOf(chain, cluster);
  const keys = new Map<string, ForestNode[]>();
  for (const node of forest.nodes) {
    const key = ids.has(node.id) ? forest.keyOf(node) : undefined;
    if (key !== undefined) keys.set(key, []);
  }
  if (keys.size === 0) return [];
  for (const node of forest.nodes) keys.get(forest.keyOf(node) ?? '')?.push(node);
  const files = filesBySession(cluster, forest);
  return [...keys].flatMap(([key, own]): [ContextId, string][] => {
    const main = mainTip(forest, own);
    const [first] = own;
    if (!main || !ids.has(main.id)) return [];
    const isSubagent = first !== undefined && forest.subagentOf.has(first.seq);
    return [[main.id, marks.get(key)?.title ?? sessionTitle(chain, own, files.get(key)?.titles ?? [], isSubagent) ?? namelessTitle(key)]];
  });
}

/** The title of a session: the agent's own title, or else the first prompt that a person typed. A subagent is titled by its task. */
function sessionTitle(chain: ReadChain, own: readonly ForestNode[], titles: readonly string[], isSubagent: boolean): string | undefined {
  if (isSubagent) return own.find(({ summary }) => summary !== null)?.summary ?? undefined;
  const written = own.filter(({ format }) => format !== spanFormat);
  return writtenTitle(titles, own) ?? firstPrompt(chain, written) ?? firstPrompt(chain, own) ?? firstWords(own);
}

const newestFirst = (a: ForestNode, b: ForestNode): number => b.createdAt - a.createdAt || b.seq - a.seq;

/** The ends of the branches of a session, newest first. The main branch ends where its agent stopped, also if forks continue from there. */
export function tipsOf(forest: Forest, own: readonly ForestNode[], main = mainTip(forest, own)): ForestNode[] {
  const { children, keyOf, parts } = forest;
  const key = own[0] && keyOf(own[0]);
  const isEnd = (node: ForestNode): boolean => !parts.states.has(node.seq) && !children.get(node.seq)?.some((child) => keyOf(child) === key);
  const ends = own.filter((node) => isEnd(node) && !isBeginning(forest, own, node));
  return [...new Set([...ends, ...(main ? [main] : [])])].sort(newestFirst);
}

/** Whether a commit is the part of a turn with which a forked subagent begins. It is stored again for the subagent and is no branch. */
const isBeginning = ({ children, subagentOf }: Forest, own: readonly ForestNode[], { seq, parent }: ForestNode): boolean =>
  (children.get(seq) ?? []).some((child) => subagentOf.get(child.seq) === child) && own.some((one) => one.seq !== seq && one.parent === parent);

/** The end of the main branch, where the agent works: the newest commit that is not beside the trunk; without a trunk, the newest end. */
export function mainTip({ children, keyOf, beside, parts }: Forest, own: readonly ForestNode[]): ForestNode | undefined {
  const key = own[0] && keyOf(own[0]);
  const endsOf = (nodes: readonly ForestNode[], isSame: (child: ForestNode) => boolean): ForestNode | undefined =>
    nodes.filter(({ seq }) => !children.get(seq)?.some((child) => keyOf(child) === key && isSame(child))).sort(newestFirst)[0];
  const isTrunk = ({ seq }: ForestNode): boolean => !beside.has(seq);
  const isRow = ({ seq }: ForestNode): boolean => !parts.states.has(seq);
  return endsOf(own.filter(isTrunk), isTrunk) ?? endsOf(own.filter(isRow), () => true);
}

/** The commits on the main branch of the session of a commit; none for a commit of no session. */
export function mainPathOf(forest: Forest, node: ForestNode): ReadonlySet<ForestNode> {
  const key = forest.keyOf(node);
  return new Set(key === undefined ? [] : pathTo(forest, mainTip(forest, nodesOf(forest, key))));
}

/** The agent that wrote a commit: by its format, else the beginning of its template. */
const recognizeAgent = ({ format, template }: ForestNode): string =>
  runtimes.find((agent) => formatOfAgent(agent)?.id === format) ?? template.split(/[/@]/, 1)[0] ?? template;

/** Whether the session was read by a mapping that is not part of Stemma. A history has the name of its mapping. */
const isOwnMapping = (node: ForestNode): boolean =>
  node.format === mappedFormat && !builtInMappings.some(({ name }) => name === recognizeAgent(node));

interface SessionFiles {
  readonly count: number;
  /** Titles in the files, the main file's first. */
  readonly titles: readonly string[];
  readonly cwd: string | undefined;
}

/** The files of each session. A file belongs to the session that contains the ends of its branches. */
function filesBySession(cluster: Cluster, forest: Forest): ReadonlyMap<string, SessionFiles> {
  const found = new Map<string, SessionFiles>();
  for (const { sessionId, title, cwd, tips } of cluster.files) {
    const ends = tips.flatMap((seq) => forest.at.get(seq) ?? []);
    const keys = new Set(ends.flatMap((node) => forest.keyOf(node) ?? []));
    // A file without commits of its own repeats another one of its session.
    const own = [...forest.continuedAs].find(([, ids]) => sessionId !== null && ids.includes(sessionId))?.[0] ?? sessionId;
    const owner = own !== null && (keys.size === 0 || keys.has(own)) ? own : [...keys].at(-1);
    if (owner === undefined) continue;
    const known = found.get(owner);
    found.set(owner, {
      count: (known?.count ?? 0) + 1,
      titles: [...(known?.titles ?? []), ...(title === null ? [] : [title])],
      cwd: known?.cwd ?? cwd ?? undefined,
    });
  }
  return found;
}

/** For each subagent the session that started it: that of the call, or else the session whose id its commits have. */
function startersOf(chain: ReadChain, { nodes, at, started, subagentOf, keyOf }: Forest): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const set = (node: ForestNode | undefined, starter: string | null | undefined): void => {
    const key = node && keyOf(node);
    if (key !== undefined && starter !== null && starter !== undefined && !found.has(key)) found.set(key, starter);
  };
  for (const { context, starter } of startedAmong(chain, started)) {
    const by = at.get(starter);
    set(at.get(context), by && keyOf(by));
  }
  // A subagent that begins as a copy of the session that started it.
  for (const node of nodes) {
    const before = node.parent === null || subagentOf.get(node.seq) !== node ? undefined : at.get(node.parent);
    set(before && node, before && keyOf(before));
  }
  // A tool that names the session and no call.
  const selectNamed = "SELECT context, substr(toolCallId, 9) FROM started WHERE project = ? AND toolCallId LIKE 'session:%'";
  const named = chain.db.rows<[CommitSeq, session: string]>(selectNamed, chain.project);
  const sessions = new Set(named.length > 0 ? nodes.map(keyOf) : []);
  for (const [context, session] of named) if (sessions.has(session)) set(at.get(context), session);
  for (const node of nodes) if (subagentOf.get(node.seq) === node) set(node, node.sessionId);
  return found;
}
