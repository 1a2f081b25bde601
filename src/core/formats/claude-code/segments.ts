import type { ByteRange } from '../../base/index.js';
import type { Checkpoint } from '../../contract/index.js';
import type { PlanContext } from '../format.js';
import { addRange } from '../jsonl.js';
import type { Line } from './line.js';
import { isNode, isPlaced, type Node, type Strand, type Tree } from './tree.js';

/** A run of a strand that becomes one commit. */
export interface Segment {
  readonly strand: Strand;
  readonly nodes: Node[];
  readonly type: 'delta' | 'compaction';
  readonly checkpoint: Checkpoint;
  readonly lines: Line[];
  /** For a run without records: the one that it follows. */
  readonly after?: Node;
}

/** Cuts strands into runs: at turns, at branch points, around compactions, and where the store's part ends. */
export function cutStrands(tree: Tree, granularity: PlanContext['granularity']): Segment[] {
  const branchedAt = new Set<Node>();
  for (const { from } of tree.strands) if (isNode(from)) branchedAt.add(from);
  const segments: Segment[] = [];
  for (const strand of tree.strands) {
    if (isStub(strand, branchedAt, tree)) continue;
    let begin = 0;
    let inCompaction = false;
    /** The turn has a prompt or an answer: what comes next may begin another one. */
    let filled = false;
    let commanded = false;
    const close = (end: number, checkpoint: Checkpoint): void => {
      if (end <= begin) return;
      const nodes = strand.nodes.slice(begin, end);
      const before = segments.at(-1);
      if (end < strand.nodes.length && !filled && !inCompaction && before && takesIn(before, nodes, branchedAt)) {
        before.nodes.push(...nodes);
        for (const node of nodes) node.run = before;
        begin = end;
        commanded = false;
        return;
      }
      const segment: Segment = {
        strand,
        nodes,
        type: inCompaction ? 'compaction' : 'delta',
        checkpoint: inCompaction ? 'compaction' : checkpoint,
        lines: [],
      };
      segments.push(segment);
      for (const node of nodes) node.run = segment;
      begin = end;
      inCompaction = false;
      filled = false;
      commanded = false;
    };
    strand.nodes.forEach((node, index) => {
      const before = strand.nodes[index - 1];
      if (before && (before.stored === undefined) !== (node.stored === undefined)) close(index, 'turn_boundary');
      if (before && branchedAt.has(before)) close(index, 'turn_boundary');
      if (node.part === 'boundary') {
        close(index, before && isOpen(before) ? 'compaction' : 'turn_boundary');
        inCompaction = true;
        return;
      }
      if (inCompaction) {
        if (node.part === 'summary') close(index + 1, 'compaction');
        else if (node.part !== 'quiet') close(index, 'compaction');
        else return;
        if (node.part === 'summary') return;
      }
      if ((node.part === 'prompt' || node.part === 'command') && filled && !isOnePrompt(before, node)) close(index, 'turn_boundary');
      else if (granularity === 'tool_call' && node.part === 'assistant' && before && answersCalls(strand, index)) close(index, 'tool_call');
      if (node.part === 'command') commanded = true;
      // What a slash command expands to is the turn's prompt; what the runtime says before any prompt belongs to the next.
      filled ||=
        node.part === 'prompt' ||
        (node.part === 'assistant' && node.more?.isClosingWord !== true) ||
        node.part === 'result' ||
        node.part === 'summary' ||
        (node.part === 'meta' && commanded);
    });
    close(strand.nodes.length, 'turn_boundary');
  }
  return segments;
}

/** A command before which branches part is the end of the turn before it, not a turn; unless that turn is itself branched from. */
const takesIn = (before: Segment, [first]: readonly Node[], branchedAt: ReadonlySet<Node>): boolean =>
  before.strand === first?.strand &&
  before.type === 'delta' &&
  (before.nodes[0]?.stored === undefined) === (first.stored === undefined) &&
  !branchedAt.has(before.nodes.at(-1) as Node);

/** A prompt that is written as several records, one a block. */
const isOnePrompt = (before: Node | undefined, node: Node): boolean =>
  before?.part === 'prompt' && node.part === 'prompt' && node.timestamp !== undefined && before.timestamp === node.timestamp;

/** A run of records that say nothing and lead nowhere: bookkeeping, not a branch. */
const isStub = (strand: Strand, branchedAt: ReadonlySet<Node>, tree: Tree): boolean =>
  tree.strands.length > 1 && strand.nodes.every((node) => node.part === 'quiet' && !branchedAt.has(node));

/** The turn is not over: a call waits for its result, or a result for an answer. */
const isOpen = (node: Node): boolean => node.part === 'result' || node.part === 'attachment' || node.stops;

/** Between the record at `index`, an assistant's, and the one before of that kind stand results: a round of tool calls is done. */
function answersCalls({ nodes }: Strand, index: number): boolean {
  const message = nodes[index]?.message;
  for (let at = index - 1; at >= 0; at--) {
    const node = nodes[at] as Node;
    if (node.part === 'result')
      return !nodes.slice(Math.max(0, at - 8), at).some((other) => other.part === 'assistant' && message !== undefined && other.message === message);
    if (node.part !== 'quiet' && node.part !== 'attachment' && node.part !== 'meta') return false;
  }
  return false;
}

/**
 * Gives each record of the file to one run or to the side, which it returns. Lines without a place in the tree go with the turn in
 * which they stand, so that the runs of a file that is one chain are the file.
 */
export function placeLines(lines: readonly Line[], tree: Tree, segments: Segment[], resumeAt: number): readonly ByteRange[] {
  const side: ByteRange[] = [];
  let current: Segment | undefined;
  let lastStored: Node | undefined;
  /** Lines before the first new turn: they open it, except where they stand among the repeated lines of a fork. */
  let waiting: Line[] = [];
  const settle = (segment: Segment | undefined): void => {
    for (const line of waiting) {
      if (segment) segment.lines.push(line);
      else addRange(side, line);
    }
    waiting = [];
  };
  for (const line of lines) {
    const node = isPlaced(line) ? line : undefined;
    const segment = node?.run;
    if (line.start < resumeAt) {
      if (node && segment) lastStored = node;
      // The newline that the last import did not see, mostly: whoever joins the deltas puts it there again.
      if (line.end > resumeAt) addRange(side, { start: resumeAt, end: line.end });
      continue;
    }
    if (node && segment && node.stored !== undefined) {
      if (resumeAt === 0) settle(undefined);
      lastStored = node;
      current = undefined;
      addRange(side, line);
    } else if (segment) {
      if (waiting.length > 0) settle(resumeAt > 0 || lastStored === undefined ? segment : undefined);
      current = segment;
      segment.lines.push(line);
    } else if (line.sort === 'request' || line.sort === 'torn' || line.sort === 'half' || tree.repeated.has(line)) {
      addRange(side, line);
    } else if (current) current.lines.push(line);
    else waiting.push(line);
  }
  // Bookkeeping at the end of a file that has grown by nothing else is a delta of its own, without entries.
  if (waiting.length > 0 && resumeAt > 0 && lastStored) {
    const { strand } = lastStored;
    const segment: Segment = { strand, nodes: [], type: 'delta', checkpoint: 'session_end', lines: [], after: lastStored };
    const last = segments.findLastIndex((other) => other.strand === strand);
    segments.splice(last + 1, 0, segment);
    settle(segment);
  } else settle(undefined);
  for (const segment of segments) inChainOrder(segment);
  return side.sort((a, b) => a.start - b.start);
}

/** A record that was written before the one it hangs on comes after it in the delta, with the lines that stand behind it. */
function inChainOrder({ lines, nodes }: Segment): void {
  if (nodes.every((node, at) => at === 0 || (nodes[at - 1] as Node).start < node.start)) return;
  const groups: { index: number; lines: Line[] }[] = [{ index: -1, lines: [] }];
  for (const line of lines) {
    if (isPlaced(line)) groups.push({ index: line.index, lines: [line] });
    else groups.at(-1)?.lines.push(line);
  }
  lines.splice(0, lines.length, ...groups.sort((a, b) => a.index - b.index).flatMap((group) => group.lines));
}

/** What the project holds already. */
export const isStored = (segment: Segment): boolean => segment.nodes[0]?.stored !== undefined;
