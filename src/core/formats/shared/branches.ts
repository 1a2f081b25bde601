// Turns a tree of records into commits, for runtimes whose records name their parents. Cuts at turns, at branch points, around compactions
// and where the stored part ends. Every byte of the file is in one commit or in the side data.
import { type ByteRange, defined, type Timestamp } from '../../base/index.js';
import {
  endsAfterResults,
  endsBeforeResults,
  type ImportPlan,
  type ParsedDelta,
  type ParsedEntry,
  type PlanContext,
  type PlannedCommit,
  type Problem,
  type StoredRecord,
} from '../format.js';
import { addRange, joinRanges, type RecordPiece } from './jsonl.js';
import { lastRead } from './last-read.js';
import { sortByPlace } from './plans.js';

/**
 * The role of a record in its turn. `prompt` begins a turn. `lead` comes before a prompt and belongs to its turn. `answer` and `result` fill the
 * turn, and so does a `round`, an answer together with its tool results. `quiet` stays with the turn around it. `compaction` is a separate commit,
 * with the `boundary` before it if one exists. A `step` is also a separate commit, for agents that record states.
 */
export type RecordRole = 'prompt' | 'lead' | 'answer' | 'result' | 'round' | 'quiet' | 'boundary' | 'compaction' | 'step';

export interface TreeRecord {
  /** The project finds the record by this name, in this file and in others. */
  readonly name: string;
  /** Names of other records that the piece contains or stands for. The project finds the commit by these too. */
  readonly others?: readonly string[];
  /** The name of the record at its end, if it is not `name`. */
  readonly end?: string;
  readonly piece: RecordPiece;
  readonly part: RecordRole;
  /** A record of the file, a record that only the project has, or null for a root. */
  readonly parent: TreeRecord | { readonly record: string } | null;
  /** True if the project already contains the record. */
  readonly stored: boolean;
  readonly at?: Timestamp | undefined;
  /** The messages that a compaction keeps, in the order in which the model sees them. */
  readonly kept?: readonly TreeRecord[];
  readonly ends?: PlannedCommit['checkpoint'];
  /** The call or session that started the chain that begins here. */
  readonly startedBy?: PlannedCommit['startedBy'];
}

export interface RecordTree {
  readonly pieces: readonly RecordPiece[];
  /** Parents come before children. */
  readonly records: readonly TreeRecord[];
  /** Pieces that are not used, because another record with the same id is in the tree. */
  readonly aside: ReadonlySet<RecordPiece>;
}

/** What a delta says. */
export type Content = Pick<ParsedDelta, 'entries' | 'elisions'>;

export interface CommitFacts extends Pick<PlannedCommit, 'template' | 'principal' | 'sessionId'> {
  /** The entries of pieces that follow each other in a delta. */
  readonly read: (pieces: readonly RecordPiece[]) => Content;
  /** Whether a piece has no entries, if that does not depend on other pieces. */
  readonly isSilent?: (piece: RecordPiece) => boolean;
  /** True if commits and their entries are read again on demand, because all of them would fill the memory. */
  readonly isLazy?: true;
  /** One line that describes the commit. `entries` are the entries of its delta. */
  readonly summary: (records: readonly TreeRecord[], entries: readonly ParsedEntry[]) => string | undefined;
}

/** Consecutive records, each the child of the previous one, from a root or a branch point to a leaf. */
interface Branch {
  readonly from: TreeRecord['parent'];
  readonly records: TreeRecord[];
}

interface Segment {
  readonly branch: Branch;
  readonly records: readonly TreeRecord[];
  readonly type: 'delta' | 'compaction';
  readonly checkpoint: PlannedCommit['checkpoint'];
  readonly pieces: RecordPiece[];
}

const isRecord = (parent: TreeRecord['parent']): parent is TreeRecord => parent !== null && 'piece' in parent;

/** The commits, side data and tips of a file. The part before `context.resumeAt` is stored already. */
export function planBranches(tree: RecordTree, context: PlanContext, facts: CommitFacts): Pick<ImportPlan, 'commits' | 'side' | 'tips'> {
  const branches = branchesOf(tree.records);
  const branchedAt = new Set(branches.flatMap(({ from }) => (isRecord(from) ? [from] : [])));
  const segments = branches.flatMap((branch) => segmentsOf(branch, branchedAt, context.granularity));
  const home = new Map(segments.flatMap((segment) => segment.records.map((record) => [record, segment] as const)));
  const isFine = endsBeforeResults(context.granularity);
  const side = placePieces(tree, home, context.resumeAt);
  const fresh = segments.filter((segment) => !isStored(segment));
  const numbers = new Map(fresh.map((segment, number) => [segment, number]));
  const commits = fresh.map(facts.isLazy ? onDemand(planCommit) : planCommit);
  return { commits, side, tips: tipsOf() };

  function planCommit({ branch, records, type, checkpoint, pieces }: Segment): PlannedCommit {
    const inside = new Set(records);
    const kept = records.flatMap((record) => record.kept ?? []).flatMap((record) => (inside.has(record) ? [] : [record.piece]));
    const first = records[0] as TreeRecord;
    const read = facts.read([...pieces, ...kept]);
    const summary = facts.summary(records, read.entries);
    const createdAt = records.findLast(({ at }) => at !== undefined)?.at;
    return {
      parent: referTo(first.parent),
      type,
      checkpoint: isFine && checkpoint === 'turn_boundary' && records.at(-1) === branch.records.at(-1) ? checkpointAtEnd(read.entries) : checkpoint,
      ranges: rangesOf(pieces),
      ...(kept.length > 0 && { kept: rangesOf(kept) }),
      template: facts.template,
      ...defined({ principal: facts.principal, sessionId: facts.sessionId, summary, createdAt }),
      ...(first.startedBy && first.parent === null && { startedBy: first.startedBy }),
      records: records.flatMap(({ name, others = [] }) => [name, ...others]),
      ...read,
    };
  }

  function referTo(parent: TreeRecord['parent']): PlannedCommit['parent'] {
    if (!isRecord(parent)) return parent;
    if (parent.stored) return storedAs(parent);
    return { plan: numbers.get(home.get(parent) as Segment) as number };
  }

  /** A stored record, by which the project finds the commit that ends with it. */
  function storedAs(record: TreeRecord): StoredRecord {
    let at: TreeRecord['parent'] = record;
    while (isRecord(at) && facts.isSilent?.(at.piece)) at = at.parent;
    const nameOf = ({ end, name }: TreeRecord): string => end ?? name;
    return { record: nameOf(record), ...(at !== record && { last: isRecord(at) ? nameOf(at) : (at?.record ?? null) }) };
  }

  /** The leaves by the position of their last record in the file. Agents resume the last one. */
  function tipsOf(): ImportPlan['tips'] {
    return branches
      .map(({ records }) => records.at(-1) as TreeRecord)
      .filter((last) => !branchedAt.has(last))
      .sort((a, b) => a.piece.range.start - b.piece.range.start)
      .map((last) => referTo(last) as ImportPlan['tips'][number]);
  }
}

/** Commits that are made again whenever they are read, because the commits of a large file would fill the memory. They share their getters. */
function onDemand(make: (segment: Segment) => PlannedCommit): (segment: Segment) => PlannedCommit {
  const last = lastRead<PlannedCommit>();
  const source = Symbol('segment');
  const getterOf = (name: keyof PlannedCommit): PropertyDescriptor => ({
    enumerable: true,
    get(this: { readonly [source]: Segment }) {
      return last(this[source], () => make(this[source]))[name];
    },
  });
  const getters = Object.fromEntries(commitFields.map((name) => [name, getterOf(name)]));
  return (segment) => Object.defineProperties(Object.defineProperty({}, source, { value: segment }), getters) as PlannedCommit;
}

const commitFields = [
  ...(['parent', 'type', 'checkpoint', 'ranges', 'kept', 'template', 'principal', 'sessionId', 'summary', 'createdAt'] as const),
  ...(['startedBy', 'records', 'entries', 'elisions'] as const),
];

/** The checkpoint at the end of a branch: that of a turn, or of a part of it whose calls are open or answered. */
function checkpointAtEnd(entries: readonly ParsedEntry[]): PlannedCommit['checkpoint'] {
  const last = entries.findLast(({ kind, marks }) => kind !== 'event' && !marks?.includes('hidden'))?.kind;
  return last === 'tool_call' ? 'assistant_message' : last === 'tool_result' ? 'tool_call' : 'turn_boundary';
}

const isStored = ({ records }: Segment): boolean => records[0]?.stored === true;

function branchesOf(records: readonly TreeRecord[]): Branch[] {
  const branches: Branch[] = [];
  const ends = new Map<TreeRecord, Branch>();
  for (const record of records) {
    const open = isRecord(record.parent) ? ends.get(record.parent) : undefined;
    const branch = open ?? { from: record.parent, records: [] };
    if (!open) branches.push(branch);
    else ends.delete(record.parent as TreeRecord);
    branch.records.push(record);
    ends.set(record, branch);
  }
  return branches;
}

function segmentsOf(branch: Branch, branchedAt: ReadonlySet<TreeRecord>, granularity: PlanContext['granularity']): Segment[] {
  const { records } = branch;
  const segments: Segment[] = [];
  let begin = 0;
  /** True if the turn has a prompt or an answer, so that the next prompt begins another turn. */
  let filled = false;
  const close = (end: number, checkpoint: PlannedCommit['checkpoint'], type: Segment['type'] = 'delta'): void => {
    if (end <= begin) return;
    segments.push({ branch, records: records.slice(begin, end), type, checkpoint, pieces: [] });
    begin = end;
    filled = false;
  };
  for (const [at, record] of records.entries()) {
    const before = records[at - 1];
    if (before && (before.stored !== record.stored || branchedAt.has(before))) close(at, 'turn_boundary');
    if (record.part === 'step') {
      close(at, 'turn_boundary');
      close(at + 1, record.ends ?? 'turn_boundary');
      continue;
    }
    // Earlier records without a prompt or an answer do not form a turn but belong to the compaction.
    if (filled && (record.part === 'boundary' || (record.part === 'compaction' && before?.part !== 'boundary')))
      close(at, before?.part === 'result' ? 'compaction' : 'turn_boundary');
    if (record.part === 'compaction') close(at + 1, 'compaction', 'compaction');
    else if (record.part === 'prompt' && filled) close(startOfTurn(records, at, begin), 'turn_boundary');
    else if (endsAfterResults(granularity) && isAnswer(record) && endsRound.has(before?.part)) close(at, 'tool_call');
    else if (endsBeforeResults(granularity) && record.part === 'result' && lastSpoken(records.slice(begin, at))?.part === 'answer')
      close(at, 'assistant_message');
    filled ||= fillsTurn.has(record.part);
  }
  const last = segments.at(-1);
  if (!filled && last && takesRest(last, records[begin], branchedAt))
    segments[segments.length - 1] = { ...last, records: [...last.records, ...records.slice(begin)] };
  else close(records.length, 'turn_boundary');
  return segments;
}

/** Records without a prompt or an answer at the end belong to the compaction before them, unless they were imported separately. */
const takesRest = ({ type, records }: Segment, next: TreeRecord | undefined, branchedAt: ReadonlySet<TreeRecord>): boolean =>
  next !== undefined && type === 'compaction' && records[0]?.stored === next.stored && !branchedAt.has(records.at(-1) as TreeRecord);

const endsRound: ReadonlySet<RecordRole | undefined> = new Set(['result', 'round']);
const fillsTurn: ReadonlySet<RecordRole> = new Set(['prompt', 'answer', 'round', 'result']);
/** The last record that is not bookkeeping. */
const lastSpoken = (records: readonly TreeRecord[]): TreeRecord | undefined => records.findLast(({ part }) => part !== 'quiet');

const isAnswer = ({ part }: TreeRecord): boolean => part === 'answer' || part === 'round';

function startOfTurn(records: readonly TreeRecord[], prompt: number, begin: number): number {
  let at = prompt;
  while (at - 1 > begin && records[at - 1]?.part === 'lead') at--;
  return at;
}

/** Assigns each piece to one segment or to the returned side data. Pieces without a place join the turn around them. */
function placePieces({ pieces, records, aside }: RecordTree, home: ReadonlyMap<TreeRecord, Segment>, resumeAt: number): readonly ByteRange[] {
  const side: ByteRange[] = [];
  const recordAt = new Map(records.map((record) => [record.piece, record]));
  let current: Segment | undefined;
  /** Lines before the first new turn open it, except among the repeated lines of a fork. */
  let waiting: RecordPiece[] = [];
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
      // Usually the newline that the last import did not see. Joining the deltas adds it again.
      if (piece.range.end > resumeAt) addRange(side, { start: resumeAt, end: piece.range.end });
      continue;
    }
    const record = recordAt.get(piece);
    const segment = record && home.get(record);
    if (segment) {
      const stored = isStored(segment);
      settle(stored || isRepeating ? undefined : segment);
      isRepeating = stored;
      current = stored ? undefined : segment;
      if (stored) addRange(side, piece.range);
      else segment.pieces.push(piece);
    } else if ((piece.sort !== 'record' && piece.sort !== 'blank') || aside.has(piece)) addRange(side, piece.range);
    else if (current) current.pieces.push(piece);
    else waiting.push(piece);
  }
  settle(undefined);
  for (const segment of new Set(home.values())) inChainOrder(segment, recordAt);
  return side.sort((a, b) => a.start - b.start);
}

/** A record that was written before its parent comes after the parent in the delta, with the lines that follow it in the file. */
function inChainOrder({ pieces, records }: Segment, recordAt: ReadonlyMap<RecordPiece, TreeRecord>): void {
  if (records.every((record, at) => at === 0 || (records[at - 1] as TreeRecord).piece.range.start < record.piece.range.start)) return;
  const order = new Map(records.map((record, at) => [record, at]));
  sortByPlace(pieces, (piece) => order.get(recordAt.get(piece) as TreeRecord));
}

const rangesOf = (pieces: readonly RecordPiece[]): readonly ByteRange[] => joinRanges(pieces.map(({ range }) => range));

/** The most kept records per record. Otherwise, a file whose compactions all keep everything would cost quadratic time and space. */
export const maxRepeats = 16;

/** The records before one, back to the first one that is asked for. Undefined if the compactions of the file keep too many, which a note says. */
export function recordsBefore(
  growth: { repeats: number; readonly notes: Problem[] },
  { piece, parent }: TreeRecord,
  isFirst = (_: TreeRecord): boolean => false,
): TreeRecord[] | undefined {
  const before: TreeRecord[] = [];
  for (let at = parent; at && 'piece' in at; at = isFirst(at) ? null : at.parent) {
    if (growth.repeats-- <= 0) {
      growth.notes.push({ line: piece.line, reason: 'the compactions of this file keep too many messages: those of this one are dropped' });
      return undefined;
    }
    before.push(at);
  }
  return before.reverse();
}
