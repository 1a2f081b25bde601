import type { CommitSeq } from '../base/index.js';
import type { TurnParts } from './turn-parts.js';

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
export const isTurn = ({ type, checkpoint }: Pick<Numbered, 'type' | 'checkpoint'>): boolean =>
  type === 'delta' && checkpoint !== 'tool_call' && checkpoint !== 'assistant_message';

/** Whether a turn begins with a commit: not with a part of an earlier turn, a state before a prompt, or what an agent did by itself. */
export const beginsTurn = (
  node: Pick<Numbered, 'seq' | 'type' | 'checkpoint'>,
  { partOf, states, continuations }: Pick<TurnParts, 'partOf' | 'states' | 'continuations'>,
): boolean => isTurn(node) && !partOf.has(node.seq) && !states.has(node.seq) && !continuations.has(node.seq);

/**
 * Numbers the turns on the way from a root, or from the first commit of a subagent, to each commit. A number depends on nothing after its
 * commit, so a fork never changes it. `nodes` must be in recorded order, a parent before its children; `subagents` are first commits.
 */
export function turnNumbers(nodes: readonly Numbered[], subagents: ReadonlySet<CommitSeq>, parts: TurnParts): TurnNumbers {
  const counts = new Uint32Array((nodes.at(-1)?.seq ?? 0) + 1);
  const turns = new Uint8Array(counts.length);
  const inSubagent = new Uint8Array(counts.length);
  for (const node of nodes) {
    const isInside = node.parent !== null && inSubagent[node.parent] === 1;
    const isFirst = !isInside && subagents.has(node.seq);
    const before = node.parent === null || isFirst ? 0 : (counts[node.parent] ?? 0);
    inSubagent[node.seq] = isInside || isFirst ? 1 : 0;
    const begins = beginsTurn(node, parts);
    turns[node.seq] = begins || parts.partOf.has(node.seq) ? 1 : 0;
    counts[node.seq] = before + (begins ? 1 : 0);
  }
  return { of: (seq) => (turns[seq] === 1 ? counts[seq] : undefined) };
}
