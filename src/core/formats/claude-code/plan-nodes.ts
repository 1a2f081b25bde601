import type { Problem } from '../format.js';
import type { TranscriptLine } from './plan-lines.js';

/** A record with an id: it may get a place in the tree. */
export interface Chained extends TranscriptLine {
  readonly uuid: string;
}

export interface RecordNode {
  readonly line: Chained;
  readonly branch: Branch;
  readonly index: number;
  /** The record by which the project finds the commit; undefined if the project does not contain it. */
  readonly stored: string | undefined;
}

/** The last position of each sort of record in a branch; -1 if the branch has no such record. Kept so that no record must scan its successors. */
export const noEnd = () => ({
  /** Neither a result nor bookkeeping. */
  other: -1,
  /** A prompt, a summary or a boundary: not an answer and not an attachment. */
  turn: -1,
  answer: -1,
  /** An answer that belongs to a different message than the last answer. */
  otherAnswer: -1,
  message: undefined as string | undefined,
  /** The position of each call's last result, among the first `searched` records. */
  results: new Map<string, number>(),
  searched: 0,
});

/** Records in a row, each the child of the one before it, from a root or a branch point to a leaf. */
export interface Branch {
  /** The parent of the first record: a node of another branch, a record that only the store has, or null for a root. */
  readonly from: RecordNode | { readonly record: string } | null;
  /** If `from` is the summary of a compaction: the number of kept messages before this branch. */
  readonly keeps?: number;
  readonly nodes: RecordNode[];
  readonly end: ReturnType<typeof noEnd>;
  readonly sidechain: boolean;
  readonly startedBy?: string;
}

export interface Tree {
  readonly branches: readonly Branch[];
  /** In the order in which they were placed. */
  readonly nodes: readonly RecordNode[];
  readonly placements: ReadonlyMap<TranscriptLine, RecordNode>;
  /** Copies of records whose id occurs twice. They are not read. */
  readonly repeated: ReadonlySet<TranscriptLine>;
  /** For each compaction boundary: the records that it keeps in addition to its summary, in order. */
  readonly kept: ReadonlyMap<RecordNode, readonly RecordNode[]>;
  readonly skipped: readonly Problem[];
  readonly notes: readonly Problem[];
}

/** Whether the line is a record with an id. */
export const isChainedLine = (line: TranscriptLine): line is Chained => line.uuid !== undefined;

/** Whether the parent is in this file and not only in the store. */
export const isNode = (from: Branch['from']): from is RecordNode => from !== null && 'branch' in from;

/** The node before this one in its branch. */
export const nodeBefore = ({ branch, index }: RecordNode): RecordNode | undefined => branch.nodes[index - 1];

/** The boundary of a summary's compaction; undefined where the summary has none. */
export function boundaryBefore(summary: RecordNode): RecordNode | undefined {
  for (let node = nodeBefore(summary); node; node = nodeBefore(node)) {
    if (node.line.part === 'boundary') return node;
    if (node.line.part !== 'quiet') return undefined;
  }
  return undefined;
}
