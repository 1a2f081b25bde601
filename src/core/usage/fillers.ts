import { type ContextId, type EntryKey, firstWhere, numberOf } from '../base/index.js';
import { type ContextRow, factsAlong, findCommit, type ReadChain, type Step, walk, windowRanges } from '../chain/index.js';
import type { InputOf, UsageFiller } from '../contract/index.js';
import { requireContents } from './backfill.js';
import { commitAtEntry, elides, type FillerStretch, replyPlaces, stepsOf, stretchesTo } from './context-sums.js';
import { areApart, columnsOf, type FillerColumns } from './filler-columns.js';
import { describe, type FillerFact, fillerFacts, rowName, shownFacts } from './filler-facts.js';
import { numberList } from './number-list.js';
import { type Offered, offeredIn, serverGroup } from './offered.js';
import { callRowsIn, rangesWithin, replyKeysIn } from './rows.js';
import { lastCallOf } from './window.js';

/** The fillers of a context, in order, as columns of numbers, and what describes one of them. */
export interface FillerSizes {
  readonly count: number;
  /** The number of those that are entries, which come first. */
  readonly entries: number;
  /** 0 for content that does not count. */
  readonly tokens: ArrayLike<number>;
  /** The calls whose input contained it. */
  readonly calls: ArrayLike<number>;
  /** The row of `usage.largest` that it belongs to. */
  readonly rows: ArrayLike<number>;
  /** 1 if it repeats earlier content. */
  readonly repeats: ArrayLike<number>;
  /** 1 if it is a tool that no reply called. */
  readonly unused: ArrayLike<number>;
  readonly describe: (place: number) => UsageFiller;
}

const fewFillers = 1_000;

/**
 * Lists the content that fills the window of a context, sorted by tokens times the calls that contained it. @throws NOT_FOUND for an unknown commit.
 */
export function usageFillers(chain: ReadChain, { id, offset = 0, limit = fewFillers }: InputOf<'usage.fillers'>): UsageFiller[] {
  const sizes = fillerSizes(chain, id);
  const places = largestPlaces(sizes, offset + limit).slice(offset);
  return places.map(sizes.describe);
}

/** The places of the fillers with the most tokens times calls, largest first. */
function largestPlaces(sizes: FillerSizes, most: number): number[] {
  const tokenCalls = Float64Array.from({ length: sizes.count }, (_, place) => tokenCallsAt(sizes, place));
  return placesFrom(tokenCalls, most)
    .filter((place) => (sizes.tokens[place] as number) > 0)
    .sort((a, b) => compareFillers(sizes, a, b))
    .slice(0, most);
}

const tokenCallsAt = ({ tokens, calls }: FillerSizes, place: number): number => (tokens[place] as number) * (calls[place] as number);

/** Sorts the fillers with the most tokens times calls first. */
export const compareFillers = (sizes: FillerSizes, a: number, b: number): number =>
  tokenCallsAt(sizes, b) - tokenCallsAt(sizes, a) || (sizes.tokens[b] as number) - (sizes.tokens[a] as number) || a - b;

/** The places of the largest numbers, and of those that equal the least of them. Numbers are sorted much faster than places by a function. */
export function placesFrom(numbers: Float64Array, most: number): number[] {
  const least = numbers.toSorted()[Math.max(0, numbers.length - most)] ?? 0;
  const found: number[] = [];
  for (let place = 0; place < numbers.length; place++) if ((numbers[place] as number) >= least) found.push(place);
  return found;
}

/** A stretch of commits, or the whole context, and the place of its first entry. */
interface Part {
  readonly columns: FillerColumns;
  /** The facts of all its entries, or of those of one commit of a stretch. */
  readonly facts: (commit?: number) => readonly FillerFact[];
  readonly from: number;
  readonly stretch?: FillerStretch;
}

/** The sizes of all fillers of a context. */
export function fillerSizes(chain: ReadChain, id: ContextId): FillerSizes {
  requireContents(chain, id);
  const tip = findCommit(chain, id);
  const parts = partsOf(chain, tip);
  const last = lastCallOf(chain, tip);
  const offered = last ? offeredIn(chain, last) : [];
  const entries = parts.reduce((sum, { columns }) => sum + columns.keys.length, 0);
  const count = entries + offered.length;
  const columns = joinColumns(parts, entries, count);
  const replies = repliesIn(chain, tip, parts);
  const calls = callsAfter(parts, columns, replies);
  const { repeats, firstOf } = repeatsIn(columns.digests, count);
  const used = new Set(parts.flatMap((part) => part.columns.used));
  const further = offered.map((one) => offeredFiller(one, used, replies.length));
  const unused = new Uint8Array(count);
  for (const [at, filler] of further.entries()) {
    columns.tokens[entries + at] = filler.tokens;
    columns.rows[entries + at] = numberOf(rowName(filler) ?? `${filler.tool ?? filler.kind}`);
    calls[entries + at] = filler.calls;
    if (filler.unused) unused[entries + at] = 1;
  }
  const entryAt = openDescriptions(parts);
  return {
    ...{ count, entries, tokens: columns.tokens, calls, rows: columns.rows, repeats, unused },
    describe: (place) => {
      if (place >= entries) return further[place - entries] as UsageFiller;
      const entry = entryAt(place);
      const stayed = calls[place] as number;
      const copied = repeats[place] ? firstOf(place) : undefined;
      return {
        ...entry,
        calls: stayed,
        tokenCalls: entry.tokens * stayed,
        ...(copied !== undefined && { duplicateOf: entryAt(copied).key as EntryKey }),
      };
    },
  };
}

function joinColumns(parts: readonly Part[], entries: number, count: number) {
  const [tokens, rows, digests] = [new Float64Array(count), new Float64Array(count), new Float64Array(entries)];
  for (const { columns, from } of parts) {
    tokens.set(columns.tokens, from);
    digests.set(columns.digests, from);
    for (let at = 0; at < columns.rows.length; at++) rows[from + at] = columns.rows[at] || (columns.keys[at] as number);
  }
  return { tokens, rows, digests };
}

/** Which texts repeat earlier ones, and the place of the first of such texts. */
function repeatsIn(digests: Float64Array, count: number) {
  const repeats = new Uint8Array(count);
  const first: number[] = [];
  const known = numberList(digests.length);
  for (let place = 0; place < digests.length; place++) {
    const digest = digests[place] as number;
    if (digest === 0) continue;
    const text = known.add(digest);
    if (text < first.length) repeats[place] = 1;
    else first.push(place);
  }
  return { repeats, firstOf: (place: number) => first[known.find(digests[place] as number)] as number };
}

/** The stretches of a context; or the whole context as one, if an entry of a stretch needs another stretch to be described. */
function partsOf(chain: ReadChain, tip: ContextRow): Part[] {
  const { stretches, rest } = stretchesTo(chain, tip);
  if (elides(chain, rest)) return [partOf(shownFacts(chain, tip))];
  const parts: Part[] = [];
  const ranges = windowRanges(chain, tip);
  for (const stretch of stretches)
    parts.push({ stretch, columns: stretch, from: endOf(parts), facts: (commit) => factsOf(chain, stepsOf(chain, ranges, stretch, commit)) });
  parts.push(partOf(factsOf(chain, rest), endOf(parts)));
  return areApart(parts.map(({ columns }) => columns)) ? parts : [partOf(factsOf(chain, walk(chain, tip).contributing))];
}

/** The place after the last entry. */
const endOf = (parts: readonly Part[]): number => {
  const last = parts.at(-1);
  return last ? last.from + last.columns.keys.length : 0;
};

const partOf = (facts: readonly FillerFact[], from = 0): Part => ({ columns: columnsOf(facts), from, facts: () => facts });

const factsOf = (chain: ReadChain, steps: readonly Step[]): FillerFact[] => steps.flatMap(factsAlong(chain, fillerFacts, steps));

/** Describes entries by their places. It reads the facts of their deltas. */
function openDescriptions(parts: readonly Part[]) {
  const known = new Map<number, ReturnType<typeof describe>>();
  return (place: number) => {
    const part = parts[firstWhere(0, parts.length, (at) => (parts[at] as Part).from > place) - 1] as Part;
    const { at, commit } = part.stretch ? commitAtEntry(part.stretch, place - part.from) : { at: 0, commit: undefined };
    const from = part.from + at;
    const entries = known.get(from) ?? describe(part.facts(commit));
    known.set(from, entries);
    return entries[place - from] as (typeof entries)[number];
  };
}

/** The places of the first entries of replies, in order. Those in stretches are stored, unless other calls are known since. */
function repliesIn(chain: ReadChain, tip: ContextRow, parts: readonly Part[]): Float64Array {
  const ranges = windowRanges(chain, tip);
  const stretches = parts.flatMap((part) => (part.stretch ? [{ ...part, stretch: part.stretch }] : []));
  const end = stretches.at(-1)?.stretch.depth ?? -1;
  const isStored = stretches.reduce((sum, { stretch }) => sum + stretch.calls, 0) === callRowsIn(chain, rangesWithin(ranges, 0, end));
  const read = isStored ? parts.filter(({ stretch }) => !stretch) : parts;
  const places = replyPlaces(read, replyKeysIn(chain, isStored ? rangesWithin(ranges, end + 1) : ranges));
  if (isStored) for (const { stretch, from } of stretches) for (const place of stretch.replies) places.push(from + place);
  return Float64Array.from(places).sort();
}

/** The number of calls that contained each entry: of those whose replies begin after it. A system prompt that does not count any more has no tokens. */
function callsAfter(parts: readonly Part[], { tokens }: { readonly tokens: Float64Array }, replies: Float64Array): Float64Array {
  const calls = new Float64Array(tokens.length);
  let before = 0;
  for (let place = 0; place < tokens.length; place++) {
    while (before < replies.length && (replies[before] as number) <= place) before += 1;
    calls[place] = replies.length - before;
  }
  // If an agent records its prompt at each turn, only the last record fills the window, and it counts as sent since the first.
  const latest = new Map<string, { readonly first: number; readonly place: number }>();
  for (const { columns, from } of parts)
    for (const [at, beginning] of columns.prompts) {
      const earlier = latest.get(beginning);
      const place = from + at;
      if (earlier) tokens[earlier.place] = 0;
      const first = earlier?.first ?? place;
      calls[place] = replies.length - firstWhere(0, replies.length, (at) => (replies[at] as number) > first);
      latest.set(beginning, { first, place });
    }
  return calls;
}

/** What a recorded request contains beside the entries. */
function offeredFiller({ kind, tool, tokens }: Offered, used: ReadonlySet<string>, calls: number): UsageFiller {
  const filler = { kind, tokens, calls, tokenCalls: tokens * calls };
  if (tool === undefined) return filler;
  const isUnused = !used.has(tool);
  const group = serverGroup(tool) ?? (isUnused ? 'Tools never used' : 'Tools that were used');
  return { ...filler, tool, group, ...(isUnused && { unused: true }) };
}
