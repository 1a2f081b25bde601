// The columns of fillers of every 64 commits of a long context, so that its list reads a hundred rows and not one for each commit.

import { attempt, type CommitSeq, type ContextId, type EntryKey, numberOf } from '../base/index.js';
import {
  type CommitRange,
  commitAt,
  deltaKey,
  hasSums,
  isMarked,
  isResetPoint,
  newestFirst,
  outlinesOf,
  type ReadChain,
  type Step,
  saveFact,
  stepsUntil,
  storedFacts,
  sumsEvery,
  type WriteChain,
  windowRanges,
} from '../chain/index.js';
import { areApart, columnsOf, type FillerColumns, joinColumns, packColumns, unpackColumns } from './filler-columns.js';
import { fillerFacts } from './filler-facts.js';
import { numberList } from './number-list.js';
import { callRowsIn, rangesWithin, replyKeysIn } from './rows.js';

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

const name = 'filler stretch';
/** Increase the last digit when what is stored changes. */
const version = (): number => fillerFacts.version() * 10 + 2;

/** The steps up to a commit with sums that are its stretch. */
const stepsTo = (chain: ReadChain, last: Pick<Step, 'run' | 'depth'>, commits: number): Step[] =>
  [...newestFirst(chain, last).take(commits)].reverse();

/** Stores the columns up to a commit with sums, unless a delta replaces earlier results or its facts are not stored. Call it inside a transaction. */
export function saveStretch(chain: WriteChain, last: Step): void {
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
  saveFact(chain, { artifact: last.artifact, format: last.format, name, version: version(), data });
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
      [name, version(), run, from, to],
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
