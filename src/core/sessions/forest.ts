import type { CommitSeq } from '../base/index.js';
import {
  beginsTurn,
  commitsOf,
  familiesOf,
  hiddenBy,
  hiddenIn,
  kept,
  type ReadChain,
  type SummarizedCommit,
  subagentsIn,
  type TurnParts,
  turnPartsIn,
} from '../chain/index.js';
import { type Cluster, clustersOf } from './clusters.js';

/** A commit in the list of sessions. */
export type ForestNode = SummarizedCommit;

/** The commits of a cluster, archived ones included and deleted ones excluded, with facts derived from their order. */
export interface Forest {
  readonly nodes: readonly ForestNode[];
  readonly hidden: ReadonlySet<CommitSeq>;
  readonly at: ReadonlyMap<CommitSeq, ForestNode>;
  /** The first commits of subagents that a call started. */
  readonly started: ReadonlySet<CommitSeq>;
  /** The first commit of the subagent that a commit belongs to. */
  readonly subagentOf: ReadonlyMap<CommitSeq, ForestNode>;
  readonly children: ReadonlyMap<CommitSeq, readonly ForestNode[]>;
  /** The key of the session of a commit; undefined for a commit of no session. */
  readonly keyOf: (node: ForestNode) => string | undefined;
  /** The ids under which agents continued a session, by its key. */
  readonly continuedAs: ReadonlyMap<string, readonly string[]>;
  /** Commits beside the trunk of their session: forks made here, and what an agent added after Resume where its session went on. */
  readonly beside: ReadonlySet<CommitSeq>;
  readonly parts: TurnParts;
}

const bytesPerCommit = 700;

/** The commits of a cluster. They are read again only if one of them has changed. */
export const forestOf = (chain: ReadChain, cluster: Cluster): Forest =>
  kept(chain, 'sessions of', String(cluster.families[0]?.runs[0]), cluster.state, () => readForest(chain, cluster), bytesOf);

const bytesOf = ({ nodes, parts }: Forest): number =>
  parts.isIncomplete ? Number.POSITIVE_INFINITY : nodes.reduce((sum, { summary }) => sum + bytesPerCommit + 2 * (summary?.length ?? 0), 0);

/** The commits around a commit; none if it does not exist. */
export function forestAt(chain: ReadChain, seq: CommitSeq): Forest {
  const cluster = clustersOf(chain).at(seq);
  return cluster ? forestOf(chain, cluster) : emptyForest(chain);
}

function readForest(chain: ReadChain, cluster: Cluster): Forest {
  const { families, ...marks } = hiddenBy(chain, familiesOf(chain), { archived: true });
  const hidden = hiddenIn(chain, marks, new Set(cluster.families.filter((family) => families.has(family))));
  const all = commitsOf(chain, cluster.families);
  const nodes = all.filter(({ seq }) => !hidden.has(seq));
  const started = subagentsIn(chain, cluster.families);
  const at = new Map(nodes.map((node) => [node.seq, node] as const));
  const subagentOf = new Map<CommitSeq, ForestNode>();
  const children = Map.groupBy(nodes, ({ parent }) => parent as CommitSeq);
  for (const node of nodes) {
    const inherited = node.parent === null ? undefined : subagentOf.get(node.parent);
    const first = inherited ?? (started.has(node.seq) || (node.parent === null && subagentKind(node) !== undefined) ? node : undefined);
    if (first) subagentOf.set(node.seq, first);
  }
  const imported = rootsWithoutSession(cluster, at);
  const deleted = new Set(chain.db.column('SELECT sessionId FROM sessionMark WHERE project = ? AND deletedAt IS NOT NULL', chain.project));
  const main = new Set(nodes.filter(({ seq }) => !subagentOf.has(seq)).map(({ sessionId }) => sessionId));
  const adopted = new Map<CommitSeq, string>();
  const resumed = chain.db.rows<[string, CommitSeq]>('SELECT sessionId, context FROM resumed WHERE project = ? ORDER BY no', chain.project);
  const continued = new Map(resumed.map(([sessionId, context]) => [sessionId, at.get(context)] as const));
  const keyOf = (node: ForestNode): string | undefined => {
    const first = subagentOf.get(node.seq);
    // A subagent whose commits have the session id of its parent is named by its first commit.
    if (first) return first.sessionId === null || main.has(first.sessionId) ? first.id : first.sessionId;
    const from = node.sessionId === null ? undefined : continued.get(node.sessionId);
    // The recursion ends, because a resumed commit is older than the commits that the agent added to it.
    if (from && from.seq < node.seq) return keyOf(from);
    return adopted.get(node.seq) ?? node.sessionId ?? imported.get(node.seq);
  };
  const continuedAs = new Map<string, string[]>();
  for (const [id, from] of continued) {
    const key = from && keyOf(from);
    if (key !== undefined) continuedAs.set(key, [...(continuedAs.get(key) ?? []), id]);
  }
  // If another session continues commits of a deleted session, they belong to that session.
  for (const node of deleted.size > 0 ? nodes.toReversed() : []) {
    const before = node.parent === null ? undefined : at.get(node.parent);
    const key = before?.sessionId && deleted.has(before.sessionId) ? keyOf(node) : undefined;
    if (before && key !== undefined) adopted.set(before.seq, key);
  }
  const parts = turnPartsIn(chain, all);
  const beside = besideTrunk({ nodes, at, children, parts }, new Set(continued.keys()));
  return { nodes, hidden, at, started, subagentOf, children, keyOf, continuedAs, beside, parts };
}

const emptyForest = (chain: ReadChain): Forest => ({
  nodes: [],
  hidden: new Set(),
  at: new Map(),
  started: new Set(),
  subagentOf: new Map(),
  children: new Map(),
  keyOf: () => undefined,
  continuedAs: new Map(),
  beside: new Set(),
  parts: turnPartsIn(chain, []),
});

/** The commits beside the trunk of their session. `resumed` are the ids under which agents continued sessions. */
function besideTrunk({ nodes, at, children, parts }: Pick<Forest, 'nodes' | 'at' | 'children' | 'parts'>, resumed: ReadonlySet<string>) {
  const isAdded = ({ sessionId }: ForestNode): boolean => sessionId !== null && resumed.has(sessionId);
  const goesOn = ({ seq, sessionId }: ForestNode): boolean =>
    (children.get(seq) ?? []).some((child) => !child.forked && !isAdded(child) && child.sessionId === sessionId);
  const beside = new Set<CommitSeq>();
  for (const node of nodes) {
    const before = node.parent === null ? undefined : at.get(node.parent);
    const leaves = before !== undefined && isAdded(node) && node.sessionId !== before.sessionId && goesOn(before);
    if (node.forked || leaves || parts.states.has(node.seq) || (before && beside.has(before.seq))) beside.add(node.seq);
  }
  return beside;
}

/** The kind of a subagent from its template, such as `Explore` in `claude-code/Explore`. */
export const subagentKind = ({ template }: Pick<ForestNode, 'template'>): string | undefined => /^[\w.-]+\/(.+)$/.exec(template)?.[1];

/** For each commit of an imported file without a session id, the id of the file's first commit. */
function rootsWithoutSession({ files }: Cluster, at: ReadonlyMap<CommitSeq, ForestNode>): ReadonlyMap<CommitSeq, string> {
  const found = new Map<CommitSeq, string>();
  for (const { sessionId, tips } of files.toSorted((a, b) => a.no - b.no))
    for (const tip of sessionId === null ? tips : []) {
      const path = pathTo({ at }, at.get(tip));
      for (const node of path) found.set(node.seq, (path[0] as ForestNode).id);
    }
  return found;
}

/**
 * The first commit of the branch that contains a commit. Forks of the branch never change it. `main` are the commits of the session's main
 * branch, from the root to its end. Another branch begins where it leaves them, in any order of import.
 */
export function branchStart({ at }: Forest, node: ForestNode, main: ReadonlySet<ForestNode>): ForestNode {
  let start = node;
  for (;;) {
    const before = start.parent === null ? undefined : at.get(start.parent);
    if (!before || before.run !== start.run || (start.forked && !before.forked) || (main.has(before) && !main.has(start))) return start;
    start = before;
  }
}

/** The commits of the branch from its first one on, and those of the branches that start from it. */
export function branchCommits({ children }: Forest, start: ForestNode): ForestNode[] {
  const found: ForestNode[] = [];
  for (const waiting = [start]; waiting.length > 0; ) {
    const node = waiting.pop() as ForestNode;
    found.push(node);
    waiting.push(...(children.get(node.seq) ?? []));
  }
  return found;
}

/** The commits of a session, by its key. */
export const nodesOf = ({ nodes, keyOf }: Forest, key: string): ForestNode[] => nodes.filter((node) => keyOf(node) === key);

/** The commits of a path that begin turns: typed prompts. */
export const turnsOn = ({ parts }: Forest, path: readonly ForestNode[]): ForestNode[] => path.filter((node) => beginsTurn(node, parts));

/** The commits from the root to this one. */
export function pathTo({ at }: Pick<Forest, 'at'>, end: ForestNode | undefined): ForestNode[] {
  const path: ForestNode[] = [];
  for (let node = end; node; node = node.parent === null ? undefined : at.get(node.parent)) path.push(node);
  return path.reverse();
}
