import type { ByteRange } from '../../base/index.js';
import type { Checkpoint } from '../../contract/index.js';
import { endsAfterResults, endsBeforeResults, type PlanContext } from '../format.js';
import { addRange } from '../shared/jsonl.js';
import { sortByPlace } from '../shared/plans.js';
import type { TranscriptLine } from './plan-lines.js';
import { type Branch, isNode, type RecordNode, type Tree } from './plan-nodes.js';

export interface Segment {
  readonly branch: Branch;
  readonly nodes: RecordNode[];
  readonly type: 'delta' | 'compaction';
  readonly checkpoint: Checkpoint;
  readonly lines: TranscriptLine[];
  /** The segment before it in its branch. */
  readonly before: Segment | undefined;
  /** For a segment without records: the node that it follows. */
  readonly after?: RecordNode;
}

export type Segments = ReturnType<typeof cutBranches>;

/** Cuts branches into segments: at turns, at branch points, around compactions, and at the end of the stored part. */
export function cutBranches(tree: Tree, granularity: PlanContext['granularity']) {
  const branchedAt = new Set<RecordNode>();
  for (const { from } of tree.branches) if (isNode(from)) branchedAt.add(from);
  const list: Segment[] = [];
  for (const branch of tree.branches) if (!isStub(branch, branchedAt, tree)) cutBranch(branch, branchedAt, granularity, list);
  /** The segment of each node. Nodes of stubs have none. */
  const of = new Map<RecordNode, Segment>();
  for (const segment of list) for (const node of segment.nodes) of.set(node, segment);
  return { list, of, branchedAt };
}

function cutBranch(branch: Branch, branchedAt: ReadonlySet<RecordNode>, granularity: PlanContext['granularity'], segments: Segment[]): void {
  let begin = 0;
  let inCompaction = false;
  /** True if the turn has a prompt or an answer, so that the next prompt begins another turn. */
  let filled = false;
  let commanded = false;
  const close = (end: number, checkpoint: Checkpoint): void => {
    if (end <= begin) return;
    const nodes = branch.nodes.slice(begin, end);
    const before = segments.at(-1);
    begin = end;
    commanded = false;
    if (end < branch.nodes.length && !filled && !inCompaction && before && canAbsorb(before, nodes, branchedAt)) {
      before.nodes.push(...nodes);
      return;
    }
    segments.push({
      branch,
      nodes,
      type: inCompaction ? 'compaction' : 'delta',
      checkpoint: inCompaction ? 'compaction' : checkpoint,
      lines: [],
      before: before?.branch === branch ? before : undefined,
    });
    inCompaction = false;
    filled = false;
  };
  branch.nodes.forEach((node, index) => {
    const before = branch.nodes[index - 1];
    const { part } = node.line;
    if (before && (isStoredNode(before) !== isStoredNode(node) || branchedAt.has(before))) close(index, 'turn_boundary');
    if (part === 'boundary') {
      close(index, before && isOpen(before.line) ? 'compaction' : 'turn_boundary');
      inCompaction = true;
      return;
    }
    if (inCompaction) {
      if (part === 'quiet') return;
      close(part === 'summary' ? index + 1 : index, 'compaction');
      if (part === 'summary') return;
    }
    if (filled && beginsTurn(before, node)) close(index, 'turn_boundary');
    else {
      const cut = cutWithinTurn(branch, index, granularity);
      if (cut) close(index, cut);
    }
    if (part === 'command') commanded = true;
    filled ||= fillsTurn(node.line, commanded);
  });
  const last = endsBeforeResults(granularity) ? lastBefore(branch, branch.nodes.length) : undefined;
  close(branch.nodes.length, last?.part === 'result' ? 'tool_call' : last?.calls ? 'assistant_message' : 'turn_boundary');
}

/** The checkpoint before a node inside of a turn, if a commit ends there. */
function cutWithinTurn(branch: Branch, index: number, granularity: PlanContext['granularity']): Checkpoint | undefined {
  const part = branch.nodes[index]?.line.part;
  if (part === 'assistant' && endsAfterResults(granularity) && index > 0 && answersCalls(branch, index)) return 'tool_call';
  return part === 'result' && endsBeforeResults(granularity) && lastBefore(branch, index)?.part === 'assistant' ? 'assistant_message' : undefined;
}

/** The last line before a position that belongs to the conversation. */
const lastBefore = ({ nodes }: Branch, index: number): TranscriptLine | undefined =>
  nodes.slice(Math.max(0, index - 64), index).findLast(({ line }) => line.part !== 'quiet' && line.part !== 'attachment' && line.part !== 'meta')
    ?.line;

const isStoredNode = ({ stored }: RecordNode): boolean => stored !== undefined;

const beginsTurn = (before: RecordNode | undefined, node: RecordNode): boolean =>
  (node.line.part === 'prompt' || node.line.part === 'command') && !isSamePrompt(before, node);

/** Text of the agent belongs to a turn only after a slash command, as its expanded prompt. Otherwise, it belongs to the next prompt. */
const fillsTurn = ({ part, more }: TranscriptLine, commanded: boolean): boolean =>
  part === 'prompt' ||
  (part === 'assistant' && more?.isClosingWord !== true) ||
  part === 'result' ||
  part === 'summary' ||
  (part === 'meta' && commanded);

/** A command directly before a branch point ends the previous turn and does not form a turn, unless the previous turn is also a branch point. */
const canAbsorb = (before: Segment, [first]: readonly RecordNode[], branchedAt: ReadonlySet<RecordNode>): boolean =>
  before.branch === first?.branch &&
  before.type === 'delta' &&
  isStored(before) === isStoredNode(first) &&
  !branchedAt.has(before.nodes.at(-1) as RecordNode);

/** A prompt can be written as several records, one for each block. */
const isSamePrompt = (before: RecordNode | undefined, { line }: RecordNode): boolean =>
  before?.line.part === 'prompt' && line.part === 'prompt' && line.timestamp !== undefined && before.line.timestamp === line.timestamp;

/** A leaf of bookkeeping only is not a branch. */
const isStub = (branch: Branch, branchedAt: ReadonlySet<RecordNode>, tree: Tree): boolean =>
  tree.branches.length > 1 && branch.nodes.every((node) => node.line.part === 'quiet' && !branchedAt.has(node));

/** Whether the turn is incomplete: a call waits for its result, or a result for an answer. */
const isOpen = ({ part, stops }: TranscriptLine): boolean => part === 'result' || part === 'attachment' || stops;

/** Whether results are between the answer at `index` and the previous answer, so that a round of tool calls is complete. */
function answersCalls({ nodes }: Branch, index: number): boolean {
  const message = nodes[index]?.line.message;
  for (let at = index - 1; at >= 0; at--) {
    const { part } = (nodes[at] as RecordNode).line;
    if (part === 'result')
      return !nodes.slice(Math.max(0, at - 8), at).some(({ line }) => line.part === 'assistant' && message !== undefined && line.message === message);
    if (part !== 'quiet' && part !== 'attachment' && part !== 'meta') return false;
  }
  return false;
}

/** Assigns each line to one segment or to the returned side data. Lines without a place in the tree join the turn around them. */
export function placeLines(lines: readonly TranscriptLine[], tree: Tree, segments: Segments, resumeAt: number): readonly ByteRange[] {
  const side: ByteRange[] = [];
  let current: Segment | undefined;
  let lastStored: RecordNode | undefined;
  /** Lines before the first new turn open it, except among the repeated lines of a fork. */
  let waiting: TranscriptLine[] = [];
  const settle = (segment: Segment | undefined): void => {
    for (const line of waiting) {
      if (segment) segment.lines.push(line);
      else addRange(side, line);
    }
    waiting = [];
  };
  const placeNode = (line: TranscriptLine, node: RecordNode, segment: Segment): void => {
    if (isStoredNode(node)) {
      if (resumeAt === 0) settle(undefined);
      lastStored = node;
      current = undefined;
      addRange(side, line);
    } else {
      if (waiting.length > 0) settle(resumeAt > 0 || lastStored === undefined ? segment : undefined);
      current = segment;
      segment.lines.push(line);
    }
  };
  for (const line of lines) {
    const node = tree.placements.get(line);
    const segment = node && segments.of.get(node);
    if (line.start < resumeAt) {
      if (segment) lastStored = node;
      // Usually the newline that the last import did not see. Joining the deltas adds it again.
      if (line.end > resumeAt) addRange(side, { start: resumeAt, end: line.end });
    } else if (segment) placeNode(line, node as RecordNode, segment);
    else if (notInTurn.has(line.sort) || tree.repeated.has(line)) addRange(side, line);
    else if (current) current.lines.push(line);
    else waiting.push(line);
  }
  settle(waiting.length > 0 && resumeAt > 0 && lastStored ? addBookkeeping(segments.list, lastStored) : undefined);
  for (const segment of segments.list) sortByTree(segment, tree);
  return side;
}

/** Lines of these kinds belong to no turn. */
const notInTurn: ReadonlySet<TranscriptLine['sort']> = new Set(['request', 'torn', 'half']);

/** If a file has grown only by bookkeeping, the bookkeeping becomes a delta without entries. */
function addBookkeeping(segments: Segment[], after: RecordNode): Segment {
  const { branch } = after;
  const last = segments.findLastIndex((other) => other.branch === branch);
  const segment: Segment = { branch, nodes: [], type: 'delta', checkpoint: 'session_end', lines: [], before: segments[last], after };
  segments.splice(last + 1, 0, segment);
  return segment;
}

/** A record that was written before its parent comes after the parent in the delta, with the lines that follow it in the file. */
function sortByTree({ lines, nodes }: Segment, { placements }: Tree): void {
  if (nodes.every((node, at) => at === 0 || (nodes[at - 1] as RecordNode).line.start < node.line.start)) return;
  sortByPlace(lines, (line) => placements.get(line)?.index);
}

/** Whether the project holds the segment already. */
export const isStored = (segment: Segment): boolean => segment.nodes[0]?.stored !== undefined;
