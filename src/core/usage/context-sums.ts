// Sums of long contexts at every 64th commit, so that a question reads only the commits after the last sum. The columns of fillers are stored for the
// same stretches, so that their list reads a hundred rows and not one for each commit. Commits never change.
import { attempt, type CommitSeq, type ContextId, contentGone, type EntryKey, numberOf, orUndefined, parseJson } from '../base/index.js';
import {
  backwards,
  type CommitRange,
  commitAt,
  deltaKey,
  encodedFact,
  hasSums,
  isMarked,
  isResetPoint,
  newestFirst,
  outlinesOf,
  outlineVersion,
  type ReadChain,
  readOutline,
  type Step,
  saveEntrySums,
  saveFact,
  stepsUntil,
  storedFacts,
  sumsEvery,
  type WriteChain,
  windowRanges,
} from '../chain/index.js';
import { rememberedFacts } from '../composer/index.js';
import { type DeltaLosses, lossSum, type ParsedDelta } from '../formats/index.js';
import { commitProgress, upToBytes } from '../store/index.js';
import { measureFacts, measureRules } from './delta-measures.js';
import { areApart, columnsOf, type FillerColumns, joinColumns, packColumns, unpackColumns } from './filler-columns.js';
import { fillerFacts } from './filler-facts.js';
import { numberList } from './number-list.js';
import { openWindow, type WindowState } from './parts.js';
import { callRowsIn, rangesWithin, replyKeysIn } from './rows.js';
import { hasTokenizer } from './tokenizer.js';
import { lossesAlong, lossFacts, turnFacts } from './turn-facts.js';

/** The commits of a context from one with sums to the next one. */
export interface FillerStretch extends FillerColumns {
  /** Its last commit. */
  readonly of: ContextId;
  readonly depth: number;
  readonly commits: number;
  readonly isFirst: boolean;
  /** The first entry of each commit; empty if an entry of one needs another one to be described. */
  readonly starts: readonly number[];
  /** The calls of its commits, and the places of the first entries of their replies among its entries. */
  readonly calls: number;
  readonly replies: readonly number[];
}

const stretchName = 'filler stretch';
/** Increase the last digit when what is stored changes. */
const stretchVersion = (): number => fillerFacts.version() * 10 + 2;

/** The steps up to a commit with sums that are its stretch. */
const stepsTo = (chain: ReadChain, last: Pick<Step, 'run' | 'depth'>, commits: number): Step[] =>
  [...newestFirst(chain, last).take(commits)].reverse();

/** Stores the columns up to a commit with sums, unless a delta replaces earlier results or its facts are not stored. Call it inside a transaction. */
function saveStretch(chain: WriteChain, last: Step): void {
  const steps = stepsTo(chain, last, sumsEvery);
  const [first] = steps;
  const known = storedFacts(chain, fillerFacts, steps);
  if (!first || steps.some((step) => !known.has(deltaKey(step))) || elides(chain, steps)) return;
  const facts = steps.map((step) => known.get(deltaKey(step)) ?? []);
  const each = facts.map(columnsOf);
  const [columns, starts] = areApart(each) ? joinColumns(each) : [columnsOf(facts.flat()), []];
  const isFirst = isResetPoint(first) || first.parent === null;
  const ranges = rangesWithin(windowRanges(chain, last), first.depth, last.depth);
  const replies = replyPlaces([{ columns, from: 0 }], replyKeysIn(chain, ranges));
  const beside = { of: last.id, depth: last.depth, commits: steps.length, isFirst, starts, calls: callRowsIn(chain, ranges), replies };
  const data = packColumns(columns, beside satisfies Omit<FillerStretch, keyof FillerColumns>);
  saveFact(chain, { artifact: last.artifact, format: last.format, name: stretchName, version: stretchVersion(), data });
}

/** The places of the first entries of replies in parts of a context, in no order. Of entries with the same key, the last counts. */
export function replyPlaces(parts: readonly { readonly columns: FillerColumns; readonly from: number }[], replies: readonly EntryKey[]): number[] {
  const numbers = replies.map(numberOf);
  const wanted = numberList(numbers.length);
  for (const number of numbers) wanted.add(number);
  const places = new Int32Array(wanted.size()).fill(-1);
  for (const { columns, from } of parts)
    for (let at = 0; at < columns.keys.length; at++) {
      const reply = wanted.find(columns.keys[at] as number);
      if (reply >= 0) places[reply] = from + at;
    }
  return numbers.map((number) => places[wanted.find(number)] as number).filter((place) => place >= 0);
}

/** Whether one of these deltas replaces earlier results. */
export const elides = (chain: ReadChain, steps: readonly Step[]): boolean => outlinesOf(chain, steps).some(({ elisions }) => elisions.length > 0);

/** The commits of a context in stretches, oldest first, and those after the last one. Without stored stretches, the rest is all of it. */
export function stretchesTo(chain: ReadChain, tip: Step): { readonly stretches: readonly FillerStretch[]; readonly rest: readonly Step[] } {
  const stored = storedStretches(chain, tip);
  const { found, rest } = stepsUntil(newestFirst(chain, tip), (step) => (hasSums(step) ? stretchesFrom(stored, step.depth) : undefined));
  return { stretches: found ?? [], rest };
}

/** The stretches from the beginning of the context up to a depth; undefined if one is missing. */
function stretchesFrom(stored: ReadonlyMap<number, FillerStretch>, to: number): FillerStretch[] | undefined {
  const stretches: FillerStretch[] = [];
  for (let depth = to; ; ) {
    const stretch = stored.get(depth);
    if (!stretch) return undefined;
    stretches.push(stretch);
    if (stretch.isFirst) return stretches.reverse();
    depth -= stretch.commits;
  }
}

/** The stored stretches in the window of a commit, by the depth of their last commit. */
function storedStretches(chain: ReadChain, tip: Step): ReadonlyMap<number, FillerStretch> {
  const found = new Map<number, FillerStretch>();
  for (const { run, from, to } of windowRanges(chain, tip))
    for (const [id, depth, data] of chain.db.rows<[ContextId, number, Uint8Array]>(
      `SELECT c.id, c.depth, f.data FROM commits c CROSS JOIN deltaFact f ON f.artifact = c.artifact AND f.format = c.format AND f.name = ? AND f.version = ?
        WHERE c.run = ? AND c.depth BETWEEN ? AND ? AND ${isMarked}`,
      [stretchName, stretchVersion(), run, from, to],
    )) {
      const stretch = attempt(() => unpackColumns<Omit<FillerStretch, keyof FillerColumns>>(data));
      // Another commit with the same content may have stored its own.
      if (stretch?.of === id && stretch.depth === depth) found.set(depth, stretch);
    }
  return found;
}

/** The commit in which an entry of a stretch is described, and that commit's first entry; no commit if only the whole stretch describes it. */
export function commitAtEntry({ starts }: FillerStretch, entry: number): { readonly at: number; readonly commit: number | undefined } {
  const commit = starts.findLastIndex((start) => start <= entry);
  return commit < 0 ? { at: 0, commit: undefined } : { at: starts[commit] as number, commit };
}

/** The commits of a stretch in the ranges of a window, or one of them. */
export function stepsOf(chain: ReadChain, ranges: readonly CommitRange[], { depth, commits }: FillerStretch, commit?: number): readonly Step[] {
  const last = commit === undefined ? depth : depth - commits + 1 + commit;
  const run = ranges.find(({ from, to }) => from <= last && last <= to)?.run;
  if (run === undefined) return [];
  if (commit === undefined) return stepsTo(chain, { run, depth: last }, commits);
  return chain.db.column<CommitSeq>('SELECT seq FROM commits WHERE run = ? AND depth = ?', run, last).map((seq) => commitAt(chain, seq));
}

/** What is known at a commit. */
interface Sums {
  /** The commits from the root to this one that are turns, and their visible entries. */
  readonly turns: number;
  readonly turnEntries: number;
  /** The window up to this commit; undefined if a later delta replaced results in it, because then the earlier deltas must be read. */
  readonly window?: {
    readonly measured: WindowState;
    /** What other formats have no field for, if all deltas have one format. */
    readonly lost?: { readonly format: string; readonly sum: DeltaLosses };
  };
}

/**
 * Shorter conversations have no sums: they are measured when a question asks for them, which is soon done. So nobody tokenizes what nobody asks about.
 * A multiple of `sumsEvery`.
 */
const longFrom = 512;

/** The rules of outlines and of measures with the tokenizer. Sums from other rules count as missing. */
const version = outlineVersion * 1_000 + measureRules;

function storedSums({ db }: ReadChain, { seq, id }: Pick<Step, 'seq' | 'id'>): Sums | undefined {
  const data = db.value<string>('SELECT data FROM usageContext WHERE context = ? AND version = ?', seq, version);
  const stored = data === undefined ? undefined : (parseJson(data) as unknown as (Sums & { readonly of: ContextId }) | undefined);
  // A repair may have given the number of a lost commit to another one.
  return stored?.of === id ? stored : undefined;
}

/**
 * Where the window of a commit begins to be read: the window at the last commit with sums, and the contributing commits after it. Without sums, those are
 * all commits of the window. `isApart`: the commit itself is read in any case.
 */
export function windowBefore(chain: ReadChain, tip: Pick<Step, 'run' | 'depth'>, { isApart = false } = {}) {
  const { found, rest } = stepsUntil(newestFirst(chain, tip), (step) =>
    hasSums(step) && !(isApart && step.depth === tip.depth) ? storedSums(chain, step)?.window : undefined,
  );
  return { window: found, rest };
}

/** A delta, or the beginning of a context, and what other formats have no field for. */
export interface Lost {
  readonly format: string;
  readonly losses: DeltaLosses;
}

/** The losses of a context: of its beginning up to the last sums, and of each delta since. Undefined if its deltas must be read one by one. */
export function lossesSinceSums(chain: ReadChain, tip: Pick<Step, 'run' | 'depth'>): Lost[] | undefined {
  const { window, rest } = windowBefore(chain, tip);
  const before = window?.lost;
  const since = before && rest.every(({ format }) => format === before.format) ? lossesAlong(chain, rest) : undefined;
  return before && since && [before.sum, ...since].map((losses) => ({ format: before.format, losses }));
}

/** Whether a commit is one of the turns of its chain. A snapshot with a parent copies earlier turns. */
export const isTurn = (commit: Pick<Step, 'type' | 'parent'>): boolean => commit.type !== 'snapshot' || commit.parent === null;

/** The number of turns from the root to a commit, and of their visible entries. */
export function turnSumsOf(chain: ReadChain, tip: Pick<Step, 'run' | 'depth'>): Pick<Sums, 'turns' | 'turnEntries'> {
  const { found, rest } = stepsUntil(backwards(chain, tip), (step) => (hasSums(step) ? storedSums(chain, step) : undefined));
  const own = rest.filter(isTurn);
  const entriesIn = (step: Step): number => readOutline(chain, step).entries.filter(({ hidden }) => !hidden).length;
  const { turns = 0, turnEntries = 0 } = found ?? {};
  return { turns: turns + own.length, turnEntries: own.reduce((sum, step) => sum + entriesIn(step), turnEntries) };
}

/** The commits that are read at a time, and the bytes after which a batch ends early: the tokenizer reads about 5 MB a second. */
const batch = { commits: 256, bytes: 512 * 1024 };

/** Increase this number when more is stored of each conversation. What was stored before stays valid. */
const progress = commitProgress('usage contexts', version * 10 + 1);

/** Whether new commits of long conversations have no measures and sums yet. */
export const contextsAreDue = (chain: ReadChain, from = longFrom): boolean =>
  chain.db.one('SELECT 1 FROM commits WHERE seq > ? AND depth >= ? AND +project = ? LIMIT 1', progress.last(chain), from - 1, chain.project) !==
  undefined;

/**
 * Measures the deltas of new commits of long conversations and stores sums, in short transactions. Yields after each. Before the tokenizer is loaded,
 * it only notes up to which commit no conversation is long. `from`: the commits from which a conversation is long.
 */
export function* catchUpContexts(chain: WriteChain, from = longFrom): Generator<void> {
  while (contextsAreDue(chain, from)) {
    if (!hasTokenizer()) return;
    yield* storeBatch(chain, from);
  }
  // The next question about what is due begins after the commits that were looked at.
  if (chain.db.one('SELECT 1 FROM commits WHERE seq > ?', progress.last(chain))) chain.db.transaction(() => progress.readTo(chain, undefined));
}

function* storeBatch(chain: WriteChain, from: number): Generator<void> {
  const { db, project } = chain;
  const rows = db.all<Step & { readonly size: number | null }>(
    `SELECT seq, id, parent, run, depth, type, artifact, format, messageCount, tokenCount, (SELECT a.size FROM artifact a WHERE a.no = c.artifact) AS size
       FROM commits c WHERE c.seq > ? AND c.depth >= ? AND +c.project = ? ORDER BY c.seq LIMIT ${batch.commits}`,
    [progress.last(chain), from - 1, project],
  );
  const some = upToBytes(rows, batch.bytes);
  // A conversation that has become long: what comes before was not measured.
  for (const step of some.filter(({ depth }) => depth === from - 1)) {
    const { rest } = stretchesTo(chain, step);
    for (let at = 0; at < rest.length; at += sumsEvery) {
      const earlier = rest.slice(at, at + sumsEvery);
      const store = storing(chain, earlier);
      db.transaction(() => {
        store();
        for (const each of earlier.filter(hasSums)) saveSums(chain, each, sumsEvery);
      });
      yield;
    }
  }
  const store = storing(chain, some);
  db.transaction(() => {
    store();
    for (const step of some.filter(hasSums)) {
      saveSums(chain, step, gapAt(step, from));
      storeSums(chain, step, from);
    }
    progress.readTo(chain, some.at(-1)?.seq ?? progress.last(chain));
  });
  yield;
}

/** Stores what the entries up to a commit add up to. `most`: the commits that it may read. */
function saveSums(chain: WriteChain, step: Step, most: number): void {
  orUndefined(() => saveEntrySums(chain, step, most), contentGone);
  orUndefined(() => saveStretch(chain, step), contentGone);
}

/** What is stored of each delta of a long conversation. */
const kinds = [measureFacts, fillerFacts, turnFacts, lossFacts, rememberedFacts];

/** Makes the values of deltas, and returns what stores them: nobody else can write during a transaction. Missing content is left out. */
function storing(chain: WriteChain, steps: readonly Step[]): () => void {
  // Measuring takes longest, and a question may have done it.
  const known = storedFacts(chain, measureFacts, steps);
  const fresh = steps.flatMap((step) => {
    const parsed = orUndefined(() => chain.reader(step.format).parse(chain.artifacts.read(step.artifact)), contentGone);
    const wanted = parsed ? kinds.filter((facts) => facts !== measureFacts || !known.has(deltaKey(step))) : [];
    return wanted.map((facts) => encodedFact<unknown>(facts, step, facts.make(parsed as ParsedDelta, step.format)));
  });
  return () => {
    for (const fact of fresh) saveFact(chain, fact);
  };
}

function storeSums(chain: WriteChain, step: Step, from: number): void {
  const sums = orUndefined((): Sums => {
    const window = windowAt(chain, step, from);
    return { ...turnSumsOf(chain, step), ...(window && { window }) };
  }, contentGone);
  const insert = 'INSERT OR REPLACE INTO usageContext (context, version, data) VALUES (?, ?, ?)';
  if (sums) chain.db.run(insert, step.seq, version, JSON.stringify({ of: step.id, ...sums }));
}

/** The most commits between two sums: a conversation that has become long is read from its beginning. */
const gapAt = ({ depth }: Step, from: number): number => Math.max(sumsEvery, depth < from ? from : sumsEvery);

/** The window up to a commit from the sums before it, or from its beginning. Undefined if too much lies between, or if results were replaced since. */
function windowAt(chain: ReadChain, step: Step, from: number): Sums['window'] {
  const { window: before, rest } = windowBefore(chain, step);
  const first = rest[0];
  const isWhole = before !== undefined || first === undefined || isResetPoint(first) || first.parent === null;
  if (!isWhole || rest.length > gapAt(step, from)) return undefined;
  const measures = storedFacts(chain, measureFacts, rest);
  const window = openWindow(before?.measured);
  for (const each of rest) {
    const measure = measures.get(deltaKey(each));
    if (!measure || measure.elides) return undefined;
    window.addDelta(measure);
  }
  const lost = lostUpTo(chain, before, rest);
  return { measured: window.state(), ...(lost && { lost }) };
}

/** The losses of a window that starts from an earlier one. Undefined if its deltas have several formats. */
function lostUpTo(chain: ReadChain, before: Sums['window'], rest: readonly Step[]): NonNullable<Sums['window']>['lost'] {
  const format = before ? before.lost?.format : rest[0]?.format;
  const known = storedFacts(chain, lossFacts, rest);
  const stored = rest.map((step) => (step.format === format ? known.get(deltaKey(step)) : undefined));
  const losses = stored.every((each) => each != null) ? stored : undefined;
  if (format === undefined || !losses) return undefined;
  const sum = lossSum();
  for (const each of before?.lost ? [before.lost.sum, ...losses] : losses) sum.add(each);
  return { format, sum: sum.state() };
}
