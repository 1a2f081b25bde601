// Sums of the entries of long contexts at every 64th commit, so that a page of a context reads only the commits around it. Commits never change.
import { type ContextId, isObject, parseJson } from '../base/index.js';
import type { Kind, OutlineRow } from '../contract/index.js';
import type { ContextRow, ReadChain, Step, WriteChain } from './chain.js';
import { commitAt, findCommit, rangesTowardsRoot, windowRanges } from './find.js';
import { kept } from './kept.js';
import { outlinesOf, outlineVersion } from './outline.js';
import { addSenders } from './senders.js';
import { newestFirst, stepsUntil } from './walk.js';

/** The visible entries of a context, and their number and tokens by kind. */
export interface EntrySums {
  readonly entries: number;
  readonly counts: Partial<Record<Kind, number>>;
  readonly tokens: Partial<Record<Kind, number>>;
  /** The senders of the messages (senders.ts), in the order of their first messages. Absent if they are too many. */
  readonly senders?: readonly string[] | undefined;
}

/** The commits from one commit with sums to the next one. */
export const sumsEvery = 64;
/** Whether a commit of a long conversation has sums, by its depth. */
export const hasSums = ({ depth }: Pick<Step, 'depth'>): boolean => depth % sumsEvery === sumsEvery - 1;
/** The same of a commit `c` in SQL. */
export const isMarked = `c.depth % ${sumsEvery} = ${sumsEvery - 1}`;

/** The sums of nothing. */
export const noEntries: EntrySums = { entries: 0, counts: {}, tokens: {}, senders: [] };

/** The sums with further entries; hidden ones do not count. */
export function addEntries(to: EntrySums, entries: readonly Pick<OutlineRow, 'kind' | 'tokens' | 'hidden'>[]): EntrySums {
  const [counts, tokens] = [{ ...to.counts }, { ...to.tokens }];
  let number = to.entries;
  for (const entry of entries) {
    if (entry.hidden) continue;
    counts[entry.kind] = (counts[entry.kind] ?? 0) + 1;
    tokens[entry.kind] = (tokens[entry.kind] ?? 0) + entry.tokens;
    number += 1;
  }
  return { ...to, entries: number, counts, tokens };
}

/** The sums with the entries of further commits. Undefined if one of them replaces earlier results: the tokens before it then change. */
function addSteps(chain: ReadChain, to: EntrySums, steps: readonly Step[]): EntrySums | undefined {
  const outlines = outlinesOf(chain, steps);
  if (outlines.some(({ elisions }) => elisions.length > 0)) return undefined;
  const sums = outlines.reduce((sum, { entries }) => addEntries(sum, entries), to);
  return { ...sums, senders: addSenders(chain, to.senders, steps, outlines) };
}

/** A commit with stored sums. */
interface Mark {
  readonly seq: Step['seq'];
  readonly sums: EntrySums;
}

function sumsIn(data: string): EntrySums | undefined {
  const sums = parseJson(data);
  return isObject(sums) && isObject(sums.counts) && isObject(sums.tokens) ? (sums as unknown as EntrySums) : undefined;
}

/** The sums that are stored of commits in the window of a commit, oldest first. */
function marksTo(chain: ReadChain, tip: ContextRow): Mark[] {
  const marks: Mark[] = [];
  for (const { run, from, to } of windowRanges(chain, tip)) {
    // A repair may have given the number of a lost commit to another one, so the id is compared.
    const rows = chain.db.rows<[seq: Step['seq'], data: string]>(
      `SELECT c.seq, s.data FROM commits c CROSS JOIN entrySum s ON s.context = c.seq AND s.id = c.id AND s.version = ?
        WHERE c.run = ? AND c.depth BETWEEN ? AND ? AND ${isMarked} ORDER BY c.depth DESC`,
      [outlineVersion, run, from, to],
    );
    for (const [seq, data] of rows) {
      const sums = sumsIn(data);
      if (sums) marks.push({ seq, sums });
    }
  }
  return marks.reverse();
}

/** The sums of a long context, and the commits in which its entries are found. */
export interface SummedContext extends EntrySums {
  readonly tip: ContextRow;
  readonly marks: readonly Mark[];
}

/** The most commits after the last stored sums. With more, the context is read as a whole. */
const maxRest = 1_024;
const bytesPerMark = 500;

/** The sums of a context. Undefined for one that is short or not summed yet, and for one in which later commits replaced results. */
export function summedContext(chain: ReadChain, tip: ContextRow): SummedContext | undefined {
  if (tip.depth < sumsEvery) return undefined;
  const bytesOf = (found: SummedContext | undefined): number => (found?.marks.length ?? 0) * bytesPerMark;
  return kept(chain, 'entry sums', tip.id, '', () => sumsOfTip(chain, tip), bytesOf);
}

function sumsOfTip(chain: ReadChain, tip: ContextRow): SummedContext | undefined {
  if (!mayBeSummed(chain, tip)) return undefined;
  const marks = marksTo(chain, tip);
  const last = marks.at(-1);
  if (!last) return undefined;
  const { found, rest } = stepsUntil(newestFirst(chain, tip).take(maxRest + 1), ({ seq }) => seq === last.seq || undefined);
  const sums = found && addSteps(chain, last.sums, rest);
  return sums && { ...sums, tip, marks };
}

/** Whether one of the commits that `sumsOfTip` may read has stored sums, or may have. */
function mayBeSummed(chain: ReadChain, tip: ContextRow): boolean {
  const oldest = tip.depth - maxRest - sumsEvery;
  const [own] = rangesTowardsRoot(chain, tip);
  if (!own || own.from > oldest) return true;
  const marked = `SELECT 1 FROM commits c CROSS JOIN entrySum s ON s.context = c.seq WHERE c.run = ? AND c.depth BETWEEN ? AND ? AND ${isMarked}`;
  return chain.db.one(marked, tip.run, oldest, tip.depth) !== undefined;
}

/**
 * The commits that contain a range of what `count` counts, and the rest of their stretches of 64 commits; what comes before them; and whether they are the
 * beginning of the context. `more`: stretches before the range.
 */
export function stretchOf(
  chain: ReadChain,
  { tip, marks }: SummedContext,
  range: { readonly from: number; readonly to: number },
  { count = ({ entries }: EntrySums): number => entries, more = 0 } = {},
) {
  const after = marks.findIndex(({ sums }) => count(sums) > range.from);
  const first = (after < 0 ? marks.length : after) - 1 - more;
  const before = marks[first];
  const last = marks.find(({ sums }, at) => at > first && count(sums) >= range.to);
  const { rest } = stepsUntil(newestFirst(chain, last ? commitAt(chain, last.seq) : tip), ({ seq }) => seq === before?.seq || undefined);
  return { steps: rest, before: before?.sums ?? noEntries, isFirst: before === undefined };
}

/** The sums of the visible entries of a context; undefined if later commits replaced results in it, so that its outline must be read. */
export function entrySumsOf(chain: ReadChain, id: ContextId): EntrySums | undefined {
  const tip = findCommit(chain, id);
  return summedContext(chain, tip) ?? addSteps(chain, noEntries, [...newestFirst(chain, tip)].reverse());
}

/** Stores the sums of a commit from those before it. Call it inside a transaction, in the order of the commits. `most`: the commits that it may read. */
export function saveEntrySums(chain: WriteChain, step: Step, most: number): void {
  const { found: before = noEntries, rest } = stepsUntil(newestFirst(chain, step).take(most + 1), (each) =>
    each.seq !== step.seq && hasSums(each) ? storedSums(chain, each) : undefined,
  );
  const sums = rest.length > most ? undefined : addSteps(chain, before, rest);
  const insert = 'INSERT OR REPLACE INTO entrySum (context, version, id, data) VALUES (?, ?, ?, ?)';
  if (sums) chain.db.run(insert, step.seq, outlineVersion, step.id, JSON.stringify(sums));
}

function storedSums({ db }: ReadChain, { seq, id }: Step): EntrySums | undefined {
  const data = db.value<string>('SELECT data FROM entrySum WHERE context = ? AND id = ? AND version = ?', seq, id, outlineVersion);
  return data === undefined ? undefined : sumsIn(data);
}
