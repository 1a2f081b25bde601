import { type ByteRange, defined } from '../../base/index.js';
import type { Checkpoint } from '../../contract/index.js';
import { lastName } from '../../system/index.js';
import {
  endsAfterResults,
  endsBeforeResults,
  type FileBytes,
  type ImportPlan,
  type ParsedEntry,
  type PlanContext,
  type PlannedCommit,
  type Problem,
} from '../format.js';
import { addRange, joinRanges } from '../shared/jsonl.js';
import { lastRead } from '../shared/last-read.js';
import { firstIn, madeBy } from '../shared/plans.js';
import { inDelta } from '../shared/records.js';
import { readItems } from './parse.js';
import { copiedPrefix, gatherFacts, goBack, type ItemFact, type LineFact, promptsTakenBack, type Ref, type RolloutSession } from './plan-facts.js';
import { type PlacedLine, readLines } from './schema.js';

export const formatId = 'codex-v1';

type ReadEntries = (facts: readonly LineFact[], ranges: readonly ByteRange[]) => readonly ParsedEntry[];

/** Plans the import of a rollout in one walk: turns and compactions become commits on the tip, and a rollback moves the tip back. */
export function planImport(file: FileBytes, context: PlanContext): ImportPlan {
  const read = gatherFacts(file);
  const last = lastRead<readonly ParsedEntry[]>();
  const entriesOf: ReadEntries = (facts, ranges) => last(facts, () => readItems(read.areHeld ? heldLines(facts) : linesAt(file, ranges)));
  // The first session line belongs to the file. Others were copied with a history.
  const session = firstIn(read.facts, ({ meta }) => meta) ?? {};
  // A thread with rollbacks has several rollouts, each with its name in that of the file.
  const rollout = uuidPattern.exec(lastName(context.path))?.[0] ?? session.id ?? '';
  const walk = walkTurns(read.facts, context, session, rollout);
  const cwd = firstIn(read.facts, (fact) => fact.cwd);
  const role = session.subagent === undefined ? undefined : session.subagent || 'agent';
  const about = madeBy('codex', { role, cwd, sessionId: session.id });
  const startedBy = session.subagent !== undefined && session.id !== undefined ? { sessionId: session.id } : undefined;
  const freshFrom = read.facts.find(({ range }) => range.end > context.resumeAt)?.line ?? Number.POSITIVE_INFINITY;
  const fresh = (problems: readonly Problem[]): Problem[] => problems.filter(({ line }) => line >= freshFrom).sort((a, b) => a.line - b.line);
  const title = read.facts.findLast((fact) => fact.title !== undefined)?.title;
  return {
    format: formatId,
    ...defined({ sessionId: session.id, title, cwd }),
    commits: walk.segments.map((segment, n) => planCommit(entriesOf, segment, about, n === 0 && context.resumeAt === 0 ? startedBy : undefined)),
    side: walk.side,
    skipped: fresh(read.skipped),
    notes: fresh([...read.notes, ...walk.notes]),
    ...(walk.isCopy ? { tips: [], end: 0 } : { tips: walk.tips, end: read.end }),
    ...defined({ awaits: walk.awaits }),
  };
}

const uuidPattern = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i;

/** The lines of a commit in its delta. */
const heldLines = (facts: readonly LineFact[]): PlacedLine[] => [...inDelta(facts)].flatMap(([{ held }, raw]) => (held ? [{ ...held, raw }] : []));

/** The same, read from the file. */
const linesAt = (file: FileBytes, ranges: readonly ByteRange[]): PlacedLine[] =>
  [...inDelta(ranges.map((range) => ({ range })))].flatMap(([{ range }, { start: at }]) =>
    readLines(file.subarray(range.start, range.end)).map(({ raw, ...line }) => ({ ...line, raw: { start: at + raw.start, end: at + raw.end } })),
  );

/**
 * The number of leading lines that the project already contains: up to the last item of the longest known beginning. For a rollout that the agent has
 * moved or compressed since, up to the end of its last commit. A fork may have been read while the other session was copied into it.
 */
function sharedPrefix(facts: readonly LineFact[], session: RolloutSession, rollout: string, { known, resumeAt }: PlanContext): number {
  const { base } = session;
  const isMoved = known.has(rolloutName(rollout));
  const copied = resumeAt === 0 ? facts.length : known.has(rolloutName(session.origin?.session ?? '')) ? copiedPrefix(facts, session) : 0;
  if (copied === 0 || (base !== undefined && !isMoved)) return 0;
  const placeOf = placesIn(facts, rollout);
  let end = 0;
  for (const [at, fact] of facts.slice(0, copied).entries()) {
    const isKnown = fact.item !== undefined && knownName(fact.item, session, known) !== undefined;
    if (fact.item && !isKnown && !fact.item.isVoid) break;
    if ((isKnown && fact.item?.name.isUnique) || (isMoved && known.has(placeOf(fact)))) end = at + 1;
  }
  // An older copy of a known rollout ends with lines that belong to its last items.
  const isOlder = end > 0 && facts.every(({ item, rolledBack }, at) => at < end || at >= copied || (!item && rolledBack === undefined));
  return isOlder ? copied : end;
}

/** The name under which the project has an item, if it has it. Only a fork repeats answers with new times. */
function knownName({ name: { name, inTurn } }: ItemFact, { isFork }: RolloutSession, known: PlanContext['known']): string | undefined {
  if (known.has(name)) return name;
  return isFork && inTurn !== undefined && known.has(inTurn) ? inTurn : undefined;
}

interface Segment {
  readonly facts: LineFact[];
  /** The names of items, equal to the names that the reader of the delta will assign. */
  records: string[];
  /** The last turn that the delta itself names. */
  turn: string;
  type: 'delta' | 'compaction';
  checkpoint: Checkpoint;
  parent: Ref | null;
  /** True if a person or the model has written in the turn. */
  filled: boolean;
  ends?: string;
}

const rolloutName = (rollout: string): string => `codex:${rollout}`;
/** The name of the position after a line of a rollout. A rollout that continues at this position finds the commit by this name. */
const placeName = (rollout: string, number: number): string => `${rolloutName(rollout)}#${number}`;
/** Names the position after each line, by the line's ordinal or by its number. */
function placesIn([first]: readonly LineFact[], rollout: string): (fact: LineFact) => string {
  const isNumbered = first?.ordinal !== undefined;
  return ({ line, ordinal }) => placeName(rollout, isNumbered ? (ordinal ?? line) : line);
}

/** A walk through a rollout, with the tip of the conversation at the current line. */
const newWalk = (facts: readonly LineFact[], context: PlanContext, session: RolloutSession, rollout: string) => ({
  context,
  session,
  rollout,
  /** The number of first lines that repeat another file of the project. */
  shared: sharedPrefix(facts, session, rollout, context),
  placeOf: placesIn(facts, rollout),
  segments: [] as Segment[],
  side: [] as ByteRange[],
  notes: [] as Problem[],
  /** The start of each turn of the user in the context. */
  turns: [] as (Ref | null)[],
  ends: [] as Ref[],
  continued: new Set<string>(),
  /** The prompts at which a rollback starts again. */
  splitAt: promptsTakenBack(facts),
  tip: null as Ref | null,
  open: undefined as Segment | undefined,
  /** Lines that belong to the next turn: lines before the first turn, and lines after another file's lines. */
  waiting: [] as LineFact[],
});
type Walking = ReturnType<typeof newWalk>;

function walkTurns(facts: readonly LineFact[], context: PlanContext, session: RolloutSession, rollout: string) {
  const base = session.base && baseOf(session.base, context.known);
  const walk = newWalk(facts, context, session, rollout);
  walk.tip = base ?? null;
  noteBase(walk, base);
  for (const [at, fact] of facts.entries()) {
    if (fact.range.start < context.resumeAt) passStored(walk, fact);
    else if (at < walk.shared) passShared(walk, fact);
    else if (fact.sort === 'copy' || fact.sort === 'torn' || fact.sort === 'half') addRange(walk.side, fact.range);
    else if (fact.rolledBack !== undefined) rollBack(walk, fact, fact.rolledBack);
    else addToTurn(walk, fact, at);
  }
  const isCopy = isCopySoFar(facts, walk);
  if (isCopy) {
    for (const { range } of [...(walk.open?.facts ?? []), ...walk.waiting]) addRange(walk.side, range);
    walk.open = undefined;
  } else if (walk.waiting.length > 0) begin(walk);
  close(walk, isAtTurnEnd(walk.open) ? 'turn_boundary' : endsBeforeResults(context.granularity) ? partEnd(walk.open) : 'session_end');
  const { segments, side, notes, tip, ends, continued } = walk;
  const leaves = ends.filter((ref) => !continued.has(refKey(ref)) && (tip === null || refKey(ref) !== refKey(tip)));
  const awaits = base === undefined ? (session.base?.rollout ?? awaitedBy(facts, walk)) : undefined;
  return { segments, side: side.sort((a, b) => a.start - b.start), notes, tips: tip === null ? leaves : [...leaves, tip], awaits, isCopy };
}

/** Whether a fork says nothing so far that the project does not have. Where its own work begins is not known yet: the next import begins anew. */
function isCopySoFar(facts: readonly LineFact[], { session, shared, segments, rollout, context: { known, resumeAt } }: Walking): boolean {
  if (resumeAt > 0 || segments.length > 0 || !session.origin || known.has(rolloutName(rollout))) return false;
  const isOwn = ({ item, compaction, rolledBack }: LineFact): boolean =>
    compaction !== undefined || rolledBack !== undefined || (item !== undefined && knownName(item, session, known) === undefined);
  return !facts.slice(shared).some(isOwn);
}

/** The session that this one repeats, if the project does not have all of what was copied from it. */
function awaitedBy(facts: readonly LineFact[], { session, shared, context: { known, resumeAt } }: Walking): string | undefined {
  if (session.origin === undefined || resumeAt > 0) return undefined;
  const rest = facts.slice(shared, copiedPrefix(facts, session));
  return rest.some(({ item }) => item && !item.isVoid && knownName(item, session, known) === undefined) ? session.origin.session : undefined;
}

const refKey = (ref: Ref): string => JSON.stringify(ref);

function noteBase({ session, context, notes }: Walking, base: Ref | undefined): void {
  if (session.base === undefined) return;
  const { rollout, end } = session.base;
  if (base === undefined)
    notes.push({ line: 1, reason: `the session continues the rollout ${rollout}, which the project does not have: its history is missing` });
  else if (!context.known.has(placeName(rollout, end - 1)))
    notes.push({ line: 1, reason: `the session branches off inside of a turn of ${rollout}: it is attached to the turn before` });
}

function continueFrom({ continued }: Walking, ref: Ref | null): Ref | null {
  if (ref) continued.add(refKey(ref));
  return ref;
}

function close(walk: Walking, checkpoint: Checkpoint): void {
  const { open, segments, ends } = walk;
  if (!open) return;
  open.checkpoint = open.type === 'compaction' ? 'compaction' : checkpoint;
  if (segments.length === 0) open.records.push(rolloutName(walk.rollout));
  open.ends = walk.placeOf(open.facts.at(-1) as LineFact);
  segments.push(open);
  walk.tip = { plan: segments.length - 1 };
  ends.push(walk.tip);
  walk.open = undefined;
}

function begin(walk: Walking): Segment {
  const open: Segment = walk.open ?? {
    ...{ facts: [], records: [], turn: '', type: 'delta', checkpoint: 'turn_boundary', filled: false },
    parent: continueFrom(walk, walk.tip),
  };
  walk.open = open;
  for (const fact of walk.waiting) add(open, fact);
  walk.waiting = [];
  return open;
}

/** For a stored line, only the ends of commits and the turns matter. */
function passStored(walk: Walking, fact: LineFact): void {
  const { turns, placeOf, context, ends, side } = walk;
  if (fact.item?.prompt !== undefined) turns.push(walk.tip);
  if (fact.rolledBack !== undefined) walk.tip = goBack(turns, fact.rolledBack, walk.tip).tip;
  else if (context.known.has(placeOf(fact))) {
    const here: Ref = { record: placeOf(fact) };
    continueFrom(walk, walk.tip);
    walk.tip = here;
    ends.push(here);
  }
  if (fact.compaction) turns.length = 0;
  // Usually the newline that the last import did not see. Joining the deltas adds it again.
  if (fact.range.end > context.resumeAt) addRange(side, { start: context.resumeAt, end: fact.range.end });
}

/** The file's own first line opens its first turn. All other shared lines repeat another file. */
function passShared(walk: Walking, fact: LineFact): void {
  const { session, rollout, turns, placeOf, context } = walk;
  const isOwn = fact.sort === 'meta' && fact.meta === session && !context.known.has(rolloutName(rollout));
  if (isOwn) walk.waiting.push(fact);
  else addRange(walk.side, fact.range);
  if (fact.item?.prompt !== undefined) turns.push(walk.tip);
  const name = fact.item && knownName(fact.item, session, context.known);
  if (name !== undefined) {
    continueFrom(walk, walk.tip);
    walk.tip = { record: name };
  }
  if (context.known.has(placeOf(fact))) walk.tip = { record: placeOf(fact) };
  if (fact.rolledBack !== undefined) walk.tip = goBack(turns, fact.rolledBack, walk.tip).tip;
  if (fact.compaction) turns.length = 0;
}

function rollBack(walk: Walking, { line, range }: LineFact, count: number): void {
  close(walk, 'turn_boundary');
  const back = goBack(walk.turns, count, walk.tip);
  if (!back.isWhole) walk.notes.push({ line, reason: `${count} turns are taken back, more than there are since the last compaction` });
  walk.tip = back.tip;
  addRange(walk.side, range);
}

function addToTurn(walk: Walking, fact: LineFact, at: number): void {
  const { open, splitAt, segments, turns, context } = walk;
  const isPrompt = fact.item?.prompt !== undefined;
  if ((fact.startsTurn || isPrompt) && open?.filled) close(walk, 'turn_boundary');
  else if (isPrompt && open && open.records.length > 0 && splitAt.has(at)) close(walk, 'turn_boundary');
  else if (endsAfterResults(context.granularity) && fact.item?.isAnswer && open && endsWithResult(open)) close(walk, 'tool_call');
  else if (endsBeforeResults(context.granularity) && isResult(fact.item) && open && lastItem(open)?.isAnswer) close(walk, 'assistant_message');
  if (fact.item?.isCompactionAnswer && walk.open?.filled) close(walk, 'turn_boundary');
  if (fact.compaction) addCompaction(walk, fact, fact.compaction.isOwnAnswer);
  else if (!fact.item && !walk.open && !fact.startsTurn && segments.length === 0 && walk.tip === null) walk.waiting.push(fact);
  else {
    const segment = begin(walk);
    if (isPrompt) turns.push(segment.parent);
    add(segment, fact);
  }
}

function addCompaction(walk: Walking, fact: LineFact, isOwnAnswer: boolean): void {
  const { open } = walk;
  const answer = isOwnAnswer && open ? splitAnswer(open) : [];
  if (open?.filled || (open && goesOn(walk, open))) close(walk, 'turn_boundary');
  else if (open) open.type = 'compaction';
  const segment = begin(walk);
  segment.type = 'compaction';
  for (const one of answer) add(segment, one);
  add(segment, fact);
  close(walk, 'compaction');
  walk.turns.length = 0;
}

function add(segment: Segment, fact: LineFact): void {
  segment.facts.push(fact);
  segment.turn = fact.turn ?? segment.turn;
  if (fact.starts) segment.records.unshift(...fact.starts);
  const { item } = fact;
  if (!item) return;
  // A delta that begins inside a turn does not name it. Other copies of the file find the item by the turn's name too.
  const { name, loose, inTurn } = item.name;
  segment.records.push(...new Set([segment.turn === '' ? loose : name, name, inTurn ?? name]));
  if ((item.prompt !== undefined || item.isAnswer) && !item.isCompactionAnswer) segment.filled = true;
}

/** Removes the answer of the call that compacted the turn, with the lines after it, and returns them. */
function splitAnswer(segment: Segment): readonly LineFact[] {
  const at = segment.facts.findLastIndex(({ item }) => item !== undefined);
  if (segment.facts[at]?.item?.isCompactionAnswer) return [];
  const cut = segment.facts.splice(at);
  const { name, loose, inTurn } = cut[0]?.item?.name ?? {};
  segment.records = segment.records.filter((record) => record !== name && record !== loose && record !== inTurn);
  segment.filled = segment.facts.some(({ item }) => item?.prompt !== undefined || item?.isAnswer);
  return cut;
}

const lastItem = ({ facts }: Segment): ItemFact | undefined => facts.findLast(({ item }) => item !== undefined)?.item;
const isResult = (item: ItemFact | undefined): boolean => item !== undefined && !item.isAnswer && item.prompt === undefined;
const endsWithResult = (segment: Segment): boolean => isResult(lastItem(segment)) && segment.facts.some(({ item }) => item?.isAnswer);

/** Whether the file was imported within the turn to which the lines before a compaction belong. */
const goesOn = ({ context, segments, tip }: Walking, { facts }: Segment): boolean =>
  context.resumeAt > 0 && segments.length === 0 && tip !== null && !facts.some(({ startsTurn }) => startsTurn);

/** The checkpoint of a part of a turn: the model's message, or the results of its calls. */
const partEnd = (segment: Segment | undefined): Checkpoint => (segment && lastItem(segment)?.isAnswer ? 'assistant_message' : 'tool_call');

const isAtTurnEnd = (segment: Segment | undefined): boolean => segment === undefined || segment.facts.some(({ item }) => item?.said !== undefined);

/** The commit that ends at the start of a fork, or the last commit before it. */
function baseOf({ rollout, end }: NonNullable<RolloutSession['base']>, known: PlanContext['known']): Ref | undefined {
  if (!known.has(rolloutName(rollout))) return undefined;
  for (let ordinal = end - 1; ordinal >= Math.max(0, end - maxLookBack); ordinal--)
    if (known.has(placeName(rollout, ordinal))) return { record: placeName(rollout, ordinal) };
  return undefined;
}
const maxLookBack = 100_000;

function planCommit(
  entriesOf: ReadEntries,
  { facts, records, type, checkpoint, parent, ends }: Segment,
  about: ReturnType<typeof madeBy>,
  startedBy: PlannedCommit['startedBy'],
): PlannedCommit {
  const ranges = joinRanges(facts.map(({ range }) => range));
  const summary = type === 'compaction' ? 'Compaction' : writeSummary(facts);
  const createdAt = facts.findLast(({ at }) => at !== undefined)?.at;
  return {
    parent,
    type,
    checkpoint,
    ranges,
    ...about,
    ...defined({ summary, createdAt }),
    ...(startedBy && { startedBy }),
    records: [...new Set([...records, ...(ends === undefined ? [] : [ends])])],
    get entries() {
      return entriesOf(facts, ranges);
    },
    elisions: [],
  };
}

function writeSummary(facts: readonly LineFact[]): string | undefined {
  const prompts = facts.flatMap(({ item }) => item?.prompt ?? []);
  return prompts.find((prompt) => prompt !== '') ?? (prompts.length > 0 ? '[image]' : firstIn(facts, ({ item }) => item?.said));
}
