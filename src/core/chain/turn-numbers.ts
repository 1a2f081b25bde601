import type { CommitSeq } from '../base/index.js';
import type { ContextRow } from './chain.js';
import { isTurn } from './continued-turns.js';
import type { TurnParts } from './turn-parts.js';

type Numbered = Pick<ContextRow, 'seq' | 'parent' | 'type' | 'checkpoint'>;

/** The number of a commit's turn; undefined for a commit that is no turn. */
export type TurnNumbers = (seq: CommitSeq) => number | undefined;

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
  const placeOf = new Map(nodes.map(({ seq }, place) => [seq, place] as const));
  const counts = new Uint32Array(nodes.length);
  const turns = new Uint8Array(nodes.length);
  const inSubagent = new Uint8Array(nodes.length);
  for (const [place, node] of nodes.entries()) {
    const parent = node.parent === null ? undefined : placeOf.get(node.parent);
    const isInside = parent !== undefined && inSubagent[parent] === 1;
    const isFirst = !isInside && subagents.has(node.seq);
    const before = parent === undefined || isFirst ? 0 : (counts[parent] ?? 0);
    inSubagent[place] = isInside || isFirst ? 1 : 0;
    const begins = beginsTurn(node, parts);
    turns[place] = begins || parts.partOf.has(node.seq) ? 1 : 0;
    counts[place] = before + (begins ? 1 : 0);
  }
  return (seq) => {
    const place = placeOf.get(seq);
    return place !== undefined && turns[place] === 1 ? counts[place] : undefined;
  };
}
