import type { CommitSeq } from '../base/index.js';

interface Numbered {
  readonly seq: CommitSeq;
  readonly parent: CommitSeq | null;
  readonly type: string;
  readonly checkpoint: string;
}

/** The number of each commit's turn. */
export interface TurnNumbers {
  /** Undefined for a commit that is no turn. */
  of(seq: CommitSeq): number | undefined;
}

/** Whether a commit is a whole turn, and not a compaction or a part of a turn. */
export const isTurn = ({ type, checkpoint }: Pick<Numbered, 'type' | 'checkpoint'>): boolean => type === 'delta' && checkpoint !== 'tool_call';

/**
 * Numbers the turns on the way from a root, or from the first commit of a subagent, to each commit. A number depends on nothing after its
 * commit, so a fork never changes it. `nodes` must be in recorded order, a parent before its children; `subagents` are first commits.
 */
export function turnNumbers(nodes: readonly Numbered[], subagents: ReadonlySet<CommitSeq>): TurnNumbers {
  const counts = new Uint32Array((nodes.at(-1)?.seq ?? 0) + 1);
  const turns = new Uint8Array(counts.length);
  const inSubagent = new Uint8Array(counts.length);
  for (const node of nodes) {
    const isInside = node.parent !== null && inSubagent[node.parent] === 1;
    const isFirst = !isInside && subagents.has(node.seq);
    const before = node.parent === null || isFirst ? 0 : (counts[node.parent] ?? 0);
    inSubagent[node.seq] = isInside || isFirst ? 1 : 0;
    turns[node.seq] = isTurn(node) ? 1 : 0;
    counts[node.seq] = before + (turns[node.seq] ?? 0);
  }
  return { of: (seq) => (turns[seq] === 1 ? counts[seq] : undefined) };
}
