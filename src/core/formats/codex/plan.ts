import type { ByteRange, Timestamp } from '../../base/index.js';
import type { Checkpoint } from '../../contract/index.js';
import type { FileBytes, ImportPlan, ParsedEntry, PlanContext, PlannedCommit, Problem } from '../format.js';
import { addRange } from '../jsonl.js';
import { entriesOf, type Placed, placedLines } from './entries.js';
import { type Fact, type Facts, factsOf, type Session } from './facts.js';
import { scanLines } from './record.js';

export const formatId = 'codex-v1';
const template = 'codex';
const longestName = 400;

/** A commit that there is or will be. */
type Ref = { readonly plan: number } | { readonly record: string };

/**
 * Plans the import of a rollout: a pure function of its bytes, its name and what the project knows. The file is walked once, with the
 * conversation's tip in hand: turns become commits on it, a compaction another, and where turns are taken back the tip goes back.
 */
export function planImport(file: FileBytes, context: PlanContext): ImportPlan {
  const read = factsOf(file);
  const session = sessionIn(read.facts);
  const rollout = rolloutOf(context.path) ?? session.id ?? '';
  const shared = sharedPrefix(read.facts, session, rollout, context);
  const walk = walkTurns(read, { context, session, rollout, shared });
  const cwd = read.facts.find((fact) => fact.cwd !== undefined)?.cwd;
  const about = aboutOf(session, cwd);
  const startedBy = session.subagent !== undefined && session.id !== undefined ? { sessionId: session.id } : undefined;
  const freshFrom = read.facts.find(({ range }) => range.end > context.resumeAt)?.line ?? Number.POSITIVE_INFINITY;
  const fresh = (problems: readonly Problem[]): Problem[] => problems.filter(({ line }) => line >= freshFrom).sort((a, b) => a.line - b.line);
  const title = read.facts.findLast((fact) => fact.title !== undefined)?.title;
  return {
    format: formatId,
    ...(session.id !== undefined && { sessionId: session.id }),
    ...(title !== undefined && { title }),
    ...(cwd !== undefined && { cwd }),
    commits: walk.segments.map((segment, n) =>
      commitOf(read.areHeld ? undefined : file, segment, about, n === 0 && context.resumeAt === 0 ? startedBy : undefined),
    ),
    side: walk.side,
    skipped: fresh(read.skipped),
    notes: fresh([...read.notes, ...walk.notes]),
    tips: walk.tips,
    end: read.end,
    ...(walk.awaits !== undefined && { awaits: walk.awaits }),
  };
}

/** A rollout's own name; a thread that was taken back owns several. */
function rolloutOf(path: string): string | undefined {
  const name = path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
  return /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi.exec(name)?.[0];
}

/** The first line about the session is the file's own; others come with history that was copied. */
const sessionIn = (facts: readonly Fact[]): Session => facts.find(({ meta }) => meta !== undefined)?.meta ?? {};

/**
 * How many lines of the file repeat what the project holds already: up to the last item of the longest known beginning; of a rollout that
 * the agent has moved or compressed since, up to the last commit's end.
 */
function sharedPrefix(facts: readonly Fact[], { base }: Session, rollout: string, { known, resumeAt }: PlanContext): number {
  const isMoved = known.has(rolloutName(rollout));
  if (resumeAt > 0 || (base !== undefined && !isMoved)) return 0;
  const placeOf = placesIn(facts, rollout);
  let end = 0;
  for (const [at, fact] of facts.entries()) {
    if (fact.item && !known.has(fact.item.name.name)) break;
    if (fact.item?.name.isUnique || (isMoved && known.has(placeOf(fact)))) end = at + 1;
  }
  return end;
}

interface Segment {
  readonly facts: Fact[];
  /** Item names as the delta's own reader gives them. */
  readonly records: string[];
  /** The turn that the delta itself names, so far. */
  turn: string;
  type: 'delta' | 'compaction';
  checkpoint: Checkpoint;
  parent: Ref | null;
  /** A person or the model has spoken in it. */
  filled: boolean;
  ends?: string;
}

interface Setting {
  readonly context: PlanContext;
  readonly session: Session;
  readonly rollout: string;
  /** So many lines from the beginning are another file's, which the project has. */
  readonly shared: number;
}

interface Walk {
  readonly segments: readonly Segment[];
  readonly side: readonly ByteRange[];
  readonly notes: readonly Problem[];
  readonly tips: readonly Ref[];
  readonly awaits?: string;
}

const rolloutName = (rollout: string): string => `codex:${rollout}`;
/** The name of the place behind a line in a rollout: whoever goes on from there finds the commit by it. */
const placeName = (rollout: string, number: number): string => `${rolloutName(rollout)}#${number}`;
/** The name of the place behind each of the lines, by the numbers that they have or their own. */
function placesIn([first]: readonly Fact[], rollout: string): (fact: Fact) => string {
  const isNumbered = first?.ordinal !== undefined;
  return ({ line, ordinal }) => placeName(rollout, isNumbered ? (ordinal ?? line) : line);
}

function walkTurns({ facts }: Facts, { context, session, rollout, shared }: Setting): Walk {
  const { known, resumeAt } = context;
  const placeOf = placesIn(facts, rollout);
  const segments: Segment[] = [];
  const side: ByteRange[] = [];
  const notes: Problem[] = [];
  /** Where each of the user's turns that are in the context began. */
  const turns: (Ref | null)[] = [];
  const ends: Ref[] = [];
  const goneOn = new Set<string>();
  const base = session.base === undefined ? undefined : baseOf(session.base, known);
  const awaits = session.base !== undefined && base === undefined ? session.base.rollout : undefined;
  let tip: Ref | null = base ?? null;
  let open: Segment | undefined;
  /** Lines that belong to the next turn: those before the first, and those behind what is another file's. */
  let waiting: Fact[] = [];
  const splitAt = promptsTakenBack(facts);
  const isStoredElsewhere = known.has(rolloutName(rollout));

  const nameOf = (ref: Ref): string => JSON.stringify(ref);
  const goOnFrom = (ref: Ref | null): Ref | null => {
    if (ref) goneOn.add(nameOf(ref));
    return ref;
  };
  const close = (checkpoint: Checkpoint): void => {
    if (!open) return;
    open.checkpoint = open.type === 'compaction' ? 'compaction' : checkpoint;
    const last = open.facts.at(-1) as Fact;
    if (segments.length === 0) open.records.push(rolloutName(rollout));
    open.ends = placeOf(last);
    segments.push(open);
    tip = { plan: segments.length - 1 };
    ends.push(tip);
    open = undefined;
  };
  const begin = (): Segment => {
    open ??= { facts: [], records: [], turn: '', type: 'delta', checkpoint: 'turn_boundary', parent: goOnFrom(tip), filled: false };
    for (const fact of waiting) add(open, fact);
    waiting = [];
    return open;
  };

  if (session.base !== undefined && base === undefined)
    notes.push({ line: 1, reason: `the session goes on from another, ${session.base.rollout}, which is not here: what comes before is missing` });
  else if (session.base !== undefined && base !== undefined && !isExact(session.base, known))
    notes.push({ line: 1, reason: `the session branches off in the middle of a turn of ${session.base.rollout}: it is joined at the turn before` });

  for (const [at, fact] of facts.entries()) {
    if (fact.range.start < resumeAt) {
      // Stored already: only where its commits end, and which turns they are, is of interest.
      if (fact.item?.prompt !== undefined) turns.push(tip);
      if (fact.rolledBack !== undefined) tip = goBack(turns, fact.rolledBack, tip).tip;
      else if (known.has(placeOf(fact))) {
        const here: Ref = { record: placeOf(fact) };
        goOnFrom(tip);
        tip = here;
        ends.push(here);
      }
      if (fact.compaction) turns.length = 0;
      // The newline that the last import did not see, mostly: whoever joins the deltas puts it there again.
      if (fact.range.end > resumeAt) addRange(side, { start: resumeAt, end: fact.range.end });
      continue;
    }
    if (at < shared) {
      // The file's own first line opens its first own turn; all others repeat another file's.
      if (fact.sort === 'meta' && fact.meta === session && !isStoredElsewhere) waiting.push(fact);
      else addRange(side, fact.range);
      if (fact.item?.prompt !== undefined) turns.push(tip);
      if (fact.item) tip = { record: fact.item.name.name };
      if (known.has(placeOf(fact))) tip = { record: placeOf(fact) };
      if (fact.rolledBack !== undefined) tip = goBack(turns, fact.rolledBack, tip).tip;
      if (fact.compaction) turns.length = 0;
      continue;
    }
    if (fact.sort === 'torn' || fact.sort === 'half') {
      addRange(side, fact.range);
      continue;
    }
    if (fact.rolledBack !== undefined) {
      close('turn_boundary');
      const back = goBack(turns, fact.rolledBack, tip);
      if (!back.isWhole)
        notes.push({ line: fact.line, reason: `${fact.rolledBack} turns are taken back, more than stand behind the last compaction` });
      tip = back.tip;
      addRange(side, fact.range);
      continue;
    }
    const isPrompt = fact.item?.prompt !== undefined;
    if ((fact.startsTurn || isPrompt) && open?.filled) close('turn_boundary');
    else if (isPrompt && open && open.records.length > 0 && splitAt.has(at)) close('turn_boundary');
    else if (context.granularity === 'tool_call' && fact.item?.isAnswer && open && endsWithResult(open)) close('tool_call');
    if (fact.item?.isCompactionAnswer && open?.filled) close('turn_boundary');
    if (fact.compaction) {
      const answer = fact.compaction.isOwnAnswer && open ? splitAnswer(open) : [];
      if (open?.filled) close('turn_boundary');
      else if (open) open.type = 'compaction';
      const segment = begin();
      segment.type = 'compaction';
      for (const one of answer) add(segment, one);
      add(segment, fact);
      close('compaction');
      turns.length = 0;
      continue;
    }
    if (!fact.item && !open && !fact.startsTurn && segments.length === 0 && tip === null) {
      waiting.push(fact);
      continue;
    }
    const segment = begin();
    if (isPrompt) turns.push(segment.parent);
    add(segment, fact);
  }
  if (waiting.length > 0) begin();
  close(isAtTurnEnd(open) ? 'turn_boundary' : 'session_end');
  const last = tip === null ? [] : [tip];
  const leaves = ends.filter((ref) => !goneOn.has(nameOf(ref)) && (tip === null || nameOf(ref) !== nameOf(tip)));
  return { segments, side, notes, tips: [...leaves, ...last], ...(awaits !== undefined && { awaits }) };
}

function add(segment: Segment, fact: Fact): void {
  segment.facts.push(fact);
  segment.turn = fact.turn ?? segment.turn;
  if (fact.starts) segment.records.unshift(...fact.starts);
  const { item } = fact;
  if (!item) return;
  segment.records.push(segment.turn === '' ? item.name.loose : item.name.name);
  if ((item.prompt !== undefined || item.isAnswer) && !item.isCompactionAnswer) segment.filled = true;
}

/** Takes out of a turn what turned out to be the answer of the call that compacted it, with the lines behind it. */
function splitAnswer(segment: Segment): readonly Fact[] {
  const at = segment.facts.findLastIndex(({ item }) => item !== undefined);
  if (segment.facts[at]?.item?.isCompactionAnswer) return [];
  const cut = segment.facts.splice(at);
  segment.records.pop();
  segment.filled = segment.facts.some(({ item }) => item?.prompt !== undefined || item?.isAnswer);
  return cut;
}

const endsWithResult = ({ facts }: Segment): boolean => {
  const last = facts.findLast(({ item }) => item !== undefined)?.item;
  return last !== undefined && !last.isAnswer && last.prompt === undefined && facts.some(({ item }) => item?.isAnswer);
};

const isAtTurnEnd = (segment: Segment | undefined): boolean => segment === undefined || segment.facts.some(({ item }) => item?.said !== undefined);

/** Takes so many of the user's turns back: the tip is where the first of them began. */
function goBack(turns: (Ref | null)[], count: number, tip: Ref | null): { readonly tip: Ref | null; readonly isWhole: boolean } {
  const wanted = Math.max(0, Math.floor(count));
  if (wanted === 0) return { tip, isWhole: true };
  const taken = turns.splice(Math.max(0, turns.length - wanted));
  const [first] = taken;
  return { tip: first === undefined ? tip : first, isWhole: taken.length === wanted };
}

/** The prompts to which a later line goes back: their turn begins with them, and what stands before them stays. */
function promptsTakenBack(facts: readonly Fact[]): ReadonlySet<number> {
  const found = new Set<number>();
  const prompts: number[] = [];
  for (const [at, { item, rolledBack, compaction }] of facts.entries()) {
    if (item?.prompt !== undefined) prompts.push(at);
    if (compaction) prompts.length = 0;
    if (rolledBack === undefined || rolledBack < 1) continue;
    const [first] = prompts.splice(Math.max(0, prompts.length - Math.floor(rolledBack)));
    if (first !== undefined) found.add(first);
  }
  return found;
}

const isExact = ({ rollout, end }: NonNullable<Session['base']>, known: PlanContext['known']): boolean => known.has(placeName(rollout, end - 1));

/** The commit that ends where a fork begins, or the last one before it. */
function baseOf({ rollout, end }: NonNullable<Session['base']>, known: PlanContext['known']): Ref | undefined {
  if (!known.has(rolloutName(rollout))) return undefined;
  for (let ordinal = end - 1; ordinal >= Math.max(0, end - furthestBack); ordinal--)
    if (known.has(placeName(rollout, ordinal))) return { record: placeName(rollout, ordinal) };
  return undefined;
}
const furthestBack = 100_000;

interface About {
  readonly template: string;
  readonly principal?: string;
  readonly sessionId?: string;
}

const aboutOf = ({ id, subagent }: Session, cwd: string | undefined): About => ({
  template: subagent === undefined ? template : `${template}/${subagent || 'agent'}`.slice(0, longestName),
  ...(cwd !== undefined && { principal: `${template}@${cwd}`.slice(0, longestName) }),
  ...(id !== undefined && { sessionId: id }),
});

function commitOf(
  file: FileBytes | undefined,
  { facts, records, type, checkpoint, parent, ends }: Segment,
  about: About,
  startedBy: PlannedCommit['startedBy'],
): PlannedCommit {
  const ranges: ByteRange[] = [];
  for (const { range } of facts) addRange(ranges, range);
  const summary = type === 'compaction' ? 'Compaction' : summaryOf(facts);
  const createdAt = facts.findLast(({ at }) => at !== undefined)?.at as Timestamp | undefined;
  return {
    parent,
    type,
    checkpoint,
    ranges,
    ...about,
    ...(summary !== undefined && { summary }),
    ...(createdAt !== undefined && { createdAt }),
    ...(startedBy && { startedBy }),
    records: [...new Set([...records, ...(ends === undefined ? [] : [ends])])],
    get entries() {
      return entriesIn(file, facts, ranges);
    },
    elisions: [],
  };
}

function summaryOf(facts: readonly Fact[]): string | undefined {
  const prompts = facts.flatMap(({ item }) => item?.prompt ?? []);
  return prompts.find((prompt) => prompt !== '') ?? (prompts.length > 0 ? '[image]' : facts.find(({ item }) => item?.said !== undefined)?.item?.said);
}

/** Entries of a commit, as they are read in the delta that its ranges make: from the file, where its lines are not held. */
function entriesIn(file: FileBytes | undefined, facts: readonly Fact[], ranges: readonly ByteRange[]): readonly ParsedEntry[] {
  return file ? readRanges(file, ranges) : entriesOf(heldLines(facts));
}

function heldLines(facts: readonly Fact[]): Placed[] {
  const lines: Placed[] = [];
  let at = 0;
  for (const { held, range } of facts) {
    const raw = { start: at, end: at + range.end - range.start };
    at = raw.end;
    if (held) lines.push({ line: held, raw });
  }
  return lines;
}

function readRanges(file: FileBytes, ranges: readonly ByteRange[]): readonly ParsedEntry[] {
  let before = 0;
  return entriesOf(
    ranges.flatMap(({ start, end }) => {
      const at = before;
      before += end - start;
      return placedLines(scanLines(file.subarray(start, end)).pieces).map(({ line, raw }) => ({
        line,
        raw: { start: at + raw.start, end: at + raw.end },
      }));
    }),
  );
}
