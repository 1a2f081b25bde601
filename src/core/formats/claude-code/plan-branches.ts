import { resultsOf, type TranscriptLine } from './plan-lines.js';
import { type Branch, noEnd, type RecordNode } from './plan-nodes.js';

/** No branches yet. */
export const noBranches = () => ({
  list: [] as Branch[],
  /** The progress of following the round of an answer or a result. */
  rounds: new Map<RecordNode, { last: RecordNode; next: number }>(),
});
type GrowingBranches = ReturnType<typeof noBranches>;

/** Adds an empty branch. */
export function startBranch({ list }: GrowingBranches, branch: Omit<Branch, 'nodes' | 'end'>): Branch {
  const started = { ...branch, nodes: [], end: noEnd() };
  list.push(started);
  return started;
}

/** Appends the node to its branch. */
export function append(node: RecordNode): void {
  const { line, branch, index } = node;
  const { end } = branch;
  branch.nodes.push(node);
  if (line.part === 'quiet' || line.part === 'result') return;
  end.other = index;
  if (line.part === 'assistant') {
    if (line.message === undefined || line.message !== end.message) end.otherAnswer = end.answer;
    end.answer = index;
    end.message = line.message;
  } else if (line.part !== 'attachment') end.turn = index;
}

/**
 * The branch of a child of `parent`: the parent's own branch, or a new one. A parent has several children for three reasons: parallel tool calls,
 * bookkeeping, and a rewind. Only a rewind makes a branch.
 */
export function branchFor(branches: GrowingBranches, line: TranscriptLine, parent: RecordNode): Branch {
  return continues(line, parent) ? parent.branch : branchFrom(branches, lastOfRound(branches, parent));
}

function branchFrom(branches: GrowingBranches, parent: RecordNode): Branch {
  const { branch, index } = parent;
  return index === branch.nodes.length - 1 ? branch : startBranch(branches, { from: parent, sidechain: branch.sidechain });
}

function continues(line: TranscriptLine, { branch, index }: RecordNode): boolean {
  const { part, message } = line;
  const { end } = branch;
  if (index === branch.nodes.length - 1 || part === 'quiet' || part === 'attachment') return true;
  if (part === 'assistant') {
    const answer = message !== undefined && message === end.message ? end.otherAnswer : end.answer;
    return end.turn <= index && answer <= index;
  }
  if (end.other <= index) return true;
  return part === 'result' && !resultsOf(line).some((id) => lastResult(branch, id) > index);
}

/** The position of the call's last result in the branch, or -1. Few records need this, so the branch is searched on demand. */
function lastResult({ nodes, end }: Branch, id: string): number {
  for (; end.searched < nodes.length; end.searched++) {
    const node = nodes[end.searched] as RecordNode;
    if (node.line.part === 'result') for (const each of resultsOf(node.line)) end.results.set(each, node.index);
  }
  return end.results.get(id) ?? -1;
}

/** The last record of the answer and its results. A branch from any of them follows all, because the agent gathers them again. */
function lastOfRound({ rounds }: GrowingBranches, parent: RecordNode): RecordNode {
  const { part } = parent.line;
  if (part !== 'assistant' && part !== 'result') return parent;
  const message = part === 'assistant' ? parent.line.message : undefined;
  const round = rounds.get(parent) ?? { last: parent, next: parent.index + 1 };
  rounds.set(parent, round);
  for (let node = parent.branch.nodes[round.next]; node; node = parent.branch.nodes[++round.next]) {
    const isSameAnswer = node.line.part === 'assistant' && message !== undefined && node.line.message === message;
    if (node.line.part === 'result' || isSameAnswer) round.last = node;
    else if (node.line.part !== 'quiet') break;
  }
  return round.last;
}
