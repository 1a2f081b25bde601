// The commits of families as a graph draws them.
import type { CommitSeq } from '../base/index.js';
import type { ReadChain } from './chain.js';
import { type Family, startedAmong } from './families.js';
import { commitsOf, type FamilyCommit } from './family-commits.js';
import type { LaneNode } from './lanes.js';
import { matches, type TipFilter } from './read.js';
import { placesOf, type TurnParts } from './turn-parts.js';

export type GraphNode = LaneNode & FamilyCommit;

/** The commits that have rows, each below the row of the turn before it. An answer to an edited prompt belongs to the fork with the prompt. */
export function drawnNodes(nodes: readonly GraphNode[], parts: TurnParts): readonly GraphNode[] {
  if (parts.folded.size === 0) return nodes;
  const places = placesOf(nodes, parts);
  return nodes.flatMap((node): GraphNode[] => {
    const place = places.get(node.seq);
    if (!place) return [];
    const { parent, isAnswer } = place;
    return [parent === node.parent && !isAnswer ? node : { ...node, parent, forked: node.forked || isAnswer }];
  });
}

/**
 * The commits of families, in recorded order. `subagents` are the first commits of the subagents in these families. `current` marks the commits from a root to the
 * end of each imported session, the branch on which its agent continued last.
 */
export function nodesOf(chain: ReadChain, families: readonly Family[], subagents: ReadonlySet<CommitSeq>, ends: () => FileEnds): GraphNode[] {
  const nodes = commitsOf(chain, families);
  const started = new Map(startedAmong(chain, subagents).map(({ context, starter }) => [context, starter] as const));
  const parents = nodes.flatMap(({ parent }) => parent ?? []);
  // Nothing is drawn from it where no commit is continued in two ways.
  const current = new Set(parents).size < parents.length ? currentTimes(nodes, ends()) : undefined;
  return nodes.map((node) => {
    const startedBy = started.get(node.seq);
    const ended = current?.get(node.seq);
    return startedBy === undefined && ended === undefined
      ? node
      : { ...node, ...(startedBy !== undefined && { startedBy }), ...(ended !== undefined && { current: ended }) };
  });
}

/** The newest end of an imported file, and whether an agent wrote the file after Resume. */
interface FileEnd {
  readonly no: number;
  readonly tip: CommitSeq | null;
  readonly isResumed: 0 | 1;
}

/** The ends of imported files, by commit. */
export type FileEnds = ReadonlyMap<CommitSeq | null, readonly FileEnd[]>;

/** The ends of all imported files. */
export const endsIn = (chain: ReadChain): FileEnds => {
  const ends = chain.db.all<FileEnd>(
    `SELECT s.no, CASE WHEN json_array_length(s.tips) = 1 THEN s.tips ->> 0
                 ELSE (SELECT c.seq FROM json_each(s.tips) t JOIN commits c ON c.seq = t.value ORDER BY c.createdAt DESC, c.seq DESC LIMIT 1) END AS tip,
            EXISTS (SELECT 1 FROM resumed r WHERE r.project = s.project AND r.sessionId = s.sessionId) AS isResumed
       FROM source s WHERE s.project = ?`,
    chain.project,
  );
  return Map.groupBy(ends, ({ tip }) => tip);
};

/** For each run, a text that changes with the ends of imported files in it. */
export const endStates = (chain: ReadChain): ReadonlyMap<number, string> => {
  const ends = [...endsIn(chain).values()].flat();
  const tips = JSON.stringify(ends.map(({ tip }) => tip));
  const runs = new Map(chain.db.rows<[CommitSeq, number]>('SELECT seq, run FROM commits WHERE seq IN (SELECT value FROM json_each(?))', tips));
  const byRun = Map.groupBy(ends, ({ tip }) => runs.get(tip as CommitSeq) ?? 0);
  return new Map([...byRun].map(([run, own]) => [run, own.map(({ no, tip, isResumed }) => `${no}:${tip}:${isResumed}`).join(' ')] as const));
};

/**
 * For each commit between a root and the end of an imported session, the time of that end. What an agent added after Resume counts where it continues
 * such an end, and nowhere else: it does not move the trunk of the session that it left (W30).
 */
function currentTimes(nodes: readonly FamilyCommit[], ends: FileEnds): ReadonlyMap<CommitSeq, number> {
  const bySeq = new Map(nodes.map((node) => [node.seq, node] as const));
  const newestFirst = (a: FamilyCommit, b: FamilyCommit): number => b.createdAt - a.createdAt || b.seq - a.seq;
  // In the order of import.
  const own = nodes.flatMap((node) => (ends.get(node.seq) ?? []).map((end) => ({ ...end, node }))).sort((a, b) => a.no - b.no);
  const endsWith = (isResumed: FileEnd['isResumed']): FamilyCommit[] => own.filter((end) => end.isResumed === isResumed).map(({ node }) => node);
  const current = new Map<CommitSeq, number>();
  const parentOf = ({ parent }: FamilyCommit): FamilyCommit | undefined => (parent === null ? undefined : bySeq.get(parent));
  // Sessions may share their first commits. These get the latest end.
  for (const end of endsWith(0).sort(newestFirst))
    for (let node: FamilyCommit | undefined = end; node && !current.has(node.seq); node = parentOf(node)) current.set(node.seq, end.createdAt);
  const continued = new Set([...current.keys()].flatMap((seq) => bySeq.get(seq)?.parent ?? []));
  for (const end of endsWith(1)) {
    const added: FamilyCommit[] = [];
    let node: FamilyCommit | undefined = end;
    for (; node && !current.has(node.seq) && !node.forked; node = parentOf(node)) added.push(node);
    if (!node || node.forked || continued.has(node.seq) || added.length === 0) continue;
    for (const { seq, parent } of added) {
      current.set(seq, end.createdAt);
      if (parent !== null) continued.add(parent);
    }
  }
  return current;
}

/** All commits that share a root with a commit of the filter, and the subagents started from them. */
export function matchingTrees(nodes: readonly GraphNode[], filter: TipFilter): GraphNode[] {
  const roots = new Map<CommitSeq, CommitSeq>();
  for (const node of nodes) roots.set(node.seq, node.parent === null ? node.seq : (roots.get(node.parent) ?? node.seq));
  const wanted = new Set(nodes.filter((node) => matches(node, filter)).map((node) => roots.get(node.seq)));
  const startedIn = nodes.flatMap(({ seq, startedBy }) => (startedBy === undefined ? [] : [{ root: roots.get(seq), starter: roots.get(startedBy) }]));
  for (let grown = true; grown; ) {
    grown = false;
    for (const { root, starter } of startedIn)
      if (wanted.has(starter) && !wanted.has(root)) {
        wanted.add(root);
        grown = true;
      }
  }
  return nodes.filter((node) => wanted.has(roots.get(node.seq)));
}
