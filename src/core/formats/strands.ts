// From a tree of records to commits, for runtimes whose records say plainly what they hang on: cut at turns, at branch points, around
// compactions, and where what is stored ends. Every byte of the file is in one commit or in the side data.
import type { ByteRange, Timestamp } from '../base/index.js';
import type { Elision, ImportPlan, ParsedEntry, PlanContext, PlannedCommit } from './format.js';
import { addRange, type Piece } from './jsonl.js';

/**
 * What a record is to its turn: `prompt` begins one; `lead` is said before a prompt and belongs to the turn that it begins; `answer` and
 * `result` fill it, and so does a `round`, an answer together with what its tools gave; `quiet` stays with the turn in which it stands;
 * `compaction` is a commit of its own, with the `boundary` before it where there is one; a `step` is one too, for runtimes that write
 * states down.
 */
export type Part = 'prompt' | 'lead' | 'answer' | 'result' | 'round' | 'quiet' | 'boundary' | 'compaction' | 'step';

export interface TreeRecord {
  /** By this the project finds it again, in this file and in others. */
  readonly name: string;
  /** Other records that stand in its piece, or that it stands for: the project finds the commit by these too. */
  readonly others?: readonly string[];
  /** The one of them with which it ends, where that is not its name. */
  readonly end?: string;
  readonly piece: Piece;
  readonly part: Part;
  /** A record of the file, one that only the project has, or none. */
  readonly parent: TreeRecord | { readonly record: string } | null;
  /** The project has it already. */
  readonly stored: boolean;
  readonly at?: Timestamp;
  /** What a compaction keeps beside its summary, in the order in which the model sees it. */
  readonly kept?: readonly TreeRecord[];
  /** Where a step ends. */
  readonly ends?: PlannedCommit['checkpoint'];
  /** What started the chain which begins here. */
  readonly startedBy?: PlannedCommit['startedBy'];
}

export interface Grown {
  readonly pieces: readonly Piece[];
  /** Parents before children. */
  readonly records: readonly TreeRecord[];
  /** Pieces that are kept aside though they were read: records of which another with the same id is in the tree. */
  readonly aside: ReadonlySet<Piece>;
}

export interface Writing {
  readonly template: string;
  readonly principal?: string;
  readonly sessionId?: string;
  /** Entries of pieces that stand one after the other in a delta. */
  readonly read: (pieces: readonly Piece[]) => { readonly entries: readonly ParsedEntry[]; readonly elisions: readonly Elision[] };
  /** One line for people that says what the commit is about. */
  readonly summary: (records: readonly TreeRecord[]) => string | undefined;
}

/** Records in a row, each going on from the one before it, from a root or a branch point to a leaf. */
interface Strand {
  readonly from: TreeRecord['parent'];
  readonly records: TreeRecord[];
}

interface Segment {
  readonly strand: Strand;
  readonly records: readonly TreeRecord[];
  readonly type: 'delta' | 'compaction';
  readonly checkpoint: PlannedCommit['checkpoint'];
  readonly pieces: Piece[];
}

const isRecord = (parent: TreeRecord['parent']): parent is TreeRecord => parent !== null && 'piece' in parent;

/** Commits, side data and tips of a file; `context.resumeAt` is where the part that is stored ends. */
export function planStrands(grown: Grown, context: PlanContext, writing: Writing): Pick<ImportPlan, 'commits' | 'side' | 'tips'> {
  const strands = strandsOf(grown.records);
  const branchedAt = new Set(strands.flatMap(({ from }) => (isRecord(from) ? [from] : [])));
  const segments = strands.flatMap((strand) => segmentsOf(strand, branchedAt, context.granularity));
  const home = new Map(segments.flatMap((segment) => segment.records.map((record) => [record, segment] as const)));
  const side = placePieces(grown, home, context.resumeAt);
  const numbers = new Map<Segment, number>();
  const commits = segments
    .filter((segment) => !isStored(segment))
    .map((segment, number) => {
      numbers.set(segment, number);
      return commitOf(segment);
    });
  return { commits, side, tips: tipsOf() };

  function commitOf({ records, type, checkpoint, pieces }: Segment): PlannedCommit {
    const [first] = records as [TreeRecord];
    const kept = records.flatMap((record) => record.kept ?? []).map(({ piece }) => piece);
    const summary = writing.summary(records);
    const createdAt = records.findLast(({ at }) => at !== undefined)?.at;
    return {
      parent: referTo(first.parent),
      type,
      checkpoint,
      ranges: rangesOf(pieces),
      ...(kept.length > 0 ? { kept: rangesOf(kept) } : {}),
      template: writing.template,
      ...(writing.principal === undefined ? {} : { principal: writing.principal }),
      ...(writing.sessionId === undefined ? {} : { sessionId: writing.sessionId }),
      ...(summary === undefined ? {} : { summary }),
      ...(createdAt === undefined ? {} : { createdAt }),
      ...(first.startedBy === undefined || first.parent !== null ? {} : { startedBy: first.startedBy }),
      records: records.flatMap(({ name, others = [] }) => [name, ...others]),
      ...writing.read([...pieces, ...kept]),
    };
  }

  function referTo(parent: TreeRecord['parent']): PlannedCommit['parent'] {
    if (!isRecord(parent)) return parent;
    if (parent.stored) return { record: parent.end ?? parent.name };
    return { plan: numbers.get(home.get(parent) as Segment) as number };
  }

  /** Leaves by the place of their last record in the file: agents go on from the last. */
  function tipsOf(): ImportPlan['tips'] {
    return strands
      .map(({ records }) => records.at(-1) as TreeRecord)
      .filter((last) => !branchedAt.has(last))
      .sort((a, b) => a.piece.range.start - b.piece.range.start)
      .map((last) => referTo(last) as ImportPlan['tips'][number]);
  }
}

const isStored = ({ records }: Segment): boolean => records[0]?.stored === true;

function strandsOf(records: readonly TreeRecord[]): Strand[] {
  const strands: Strand[] = [];
  const ends = new Map<TreeRecord, Strand>();
  for (const record of records) {
    const open = isRecord(record.parent) ? ends.get(record.parent) : undefined;
    const strand = open ?? { from: record.parent, records: [] };
    if (!open) strands.push(strand);
    else ends.delete(record.parent as TreeRecord);
    strand.records.push(record);
    ends.set(record, strand);
  }
  return strands;
}

function segmentsOf(strand: Strand, branchedAt: ReadonlySet<TreeRecord>, granularity: PlanContext['granularity']): Segment[] {
  const { records } = strand;
  const segments: Segment[] = [];
  let begin = 0;
  /** The turn has a prompt or an answer: a prompt that comes now begins another one. */
  let filled = false;
  const close = (end: number, checkpoint: PlannedCommit['checkpoint'], type: Segment['type'] = 'delta'): void => {
    if (end <= begin) return;
    segments.push({ strand, records: records.slice(begin, end), type, checkpoint, pieces: [] });
    begin = end;
    filled = false;
  };
  records.forEach((record, at) => {
    const before = records[at - 1];
    if (before && (before.stored !== record.stored || branchedAt.has(before))) close(at, 'turn_boundary');
    if (record.part === 'step') {
      close(at, 'turn_boundary');
      close(at + 1, record.ends ?? 'turn_boundary');
      return;
    }
    if (record.part === 'boundary' || (record.part === 'compaction' && before?.part !== 'boundary'))
      close(at, before?.part === 'result' ? 'compaction' : 'turn_boundary');
    if (record.part === 'compaction') {
      close(at + 1, 'compaction', 'compaction');
      return;
    }
    if (record.part === 'prompt' && filled) close(startOfTurn(records, at, begin), 'turn_boundary');
    else if (granularity === 'tool_call' && isAnswer(record) && (before?.part === 'result' || before?.part === 'round')) close(at, 'tool_call');
    filled ||= record.part === 'prompt' || record.part === 'result' || isAnswer(record);
  });
  close(records.length, 'turn_boundary');
  return segments;
}

const isAnswer = ({ part }: TreeRecord): boolean => part === 'answer' || part === 'round';

/** What leads to a prompt begins its turn. */
function startOfTurn(records: readonly TreeRecord[], prompt: number, begin: number): number {
  let at = prompt;
  while (at - 1 > begin && records[at - 1]?.part === 'lead') at--;
  return at;
}

/**
 * Gives each piece of the file to one segment or to the side, which it returns. Lines without a place in the tree go with the turn in
 * which they stand, so that the root walk of a file that is one chain without compaction is that file.
 */
function placePieces({ pieces, records, aside }: Grown, home: ReadonlyMap<TreeRecord, Segment>, resumeAt: number): readonly ByteRange[] {
  const side: ByteRange[] = [];
  const recordAt = new Map(records.map((record) => [record.piece, record]));
  let current: Segment | undefined;
  /** Lines before the first new turn open it, except where they stand among the repeated lines of a fork. */
  let waiting: Piece[] = [];
  let isRepeating = false;
  const settle = (segment: Segment | undefined): void => {
    for (const piece of waiting) {
      if (segment) segment.pieces.push(piece);
      else addRange(side, piece.range);
    }
    waiting = [];
  };
  for (const piece of pieces) {
    if (piece.range.start < resumeAt) {
      // The newline that the last import did not see, mostly: whoever joins the deltas puts it there again.
      if (piece.range.end > resumeAt) addRange(side, { start: resumeAt, end: piece.range.end });
      continue;
    }
    const record = recordAt.get(piece);
    const segment = record && home.get(record);
    if (segment && isStored(segment)) {
      settle(undefined);
      isRepeating = true;
      current = undefined;
      addRange(side, piece.range);
    } else if (segment) {
      settle(isRepeating ? undefined : segment);
      isRepeating = false;
      current = segment;
      segment.pieces.push(piece);
    } else if (piece.sort !== 'record' && piece.sort !== 'blank') addRange(side, piece.range);
    else if (aside.has(piece)) addRange(side, piece.range);
    else if (current) current.pieces.push(piece);
    else waiting.push(piece);
  }
  settle(undefined);
  for (const segment of new Set(home.values())) inChainOrder(segment, recordAt);
  return side.sort((a, b) => a.start - b.start);
}

/** A record that was written before the one it hangs on comes after it in the delta, with the lines that stand behind it. */
function inChainOrder({ pieces, records }: Segment, recordAt: ReadonlyMap<Piece, TreeRecord>): void {
  if (records.every((record, at) => at === 0 || (records[at - 1] as TreeRecord).piece.range.start < record.piece.range.start)) return;
  const order = new Map(records.map((record, at) => [record, at]));
  const groups: { place: number; pieces: Piece[] }[] = [{ place: -1, pieces: [] }];
  for (const piece of pieces) {
    const record = recordAt.get(piece);
    if (record) groups.push({ place: order.get(record) as number, pieces: [piece] });
    else groups.at(-1)?.pieces.push(piece);
  }
  pieces.splice(0, pieces.length, ...groups.sort((a, b) => a.place - b.place).flatMap((group) => group.pieces));
}

function rangesOf(pieces: readonly Piece[]): readonly ByteRange[] {
  const ranges: ByteRange[] = [];
  for (const piece of pieces) addRange(ranges, piece.range);
  return ranges;
}
