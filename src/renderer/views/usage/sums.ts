import type { Range } from './ranges';

/** What calls and tool calls are filtered and grouped by. */
export const facets = ['agent', 'repository', 'model', 'person', 'branch'] as const;
export type UsageFacet = (typeof facets)[number];
export const groupings = ['day', 'model', 'repository', 'agent', 'person', 'branch', 'tool', 'session'] as const;
export type ShownGrouping = (typeof groupings)[number];

/** What a bar shows. */
export const measures = ['cost', 'tokens', 'loss', 'errors', 'time'] as const;
export type ShownMeasure = (typeof measures)[number];

/** The values of a chosen facet; a facet that is missing is not chosen. An empty text stands for what was not recorded. */
export type ChosenFacets = Readonly<Partial<Record<UsageFacet, readonly string[]>>>;

/** Where a row of sums belongs. A value that was not recorded is an empty text. */
interface Place extends Readonly<Record<UsageFacet, string>> {
  readonly day: string;
  readonly session: string;
  /** The tool of tool calls; undefined for calls to models. */
  readonly tool?: string;
}

interface Counts {
  readonly calls: number;
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
  readonly cost: number;
  readonly unpriced: number;
  readonly uncountedInputs: number;
  readonly uncountedOutputs: number;
  readonly misses: number;
  readonly loss: number;
  readonly waitMs: number;
  readonly toolCalls: number;
  readonly results: number;
  readonly errors: number;
  readonly toolMs: number;
}

/** Sums of the calls, or of the tool calls, of a session on a day. */
export type Slice = Place & Counts;

const names = [
  'calls',
  'input',
  'cacheRead',
  'cacheWrite',
  'output',
  'cost',
  'unpriced',
  'uncountedInputs',
  'uncountedOutputs',
  'misses',
  'loss',
  'waitMs',
  'toolCalls',
  'results',
  'errors',
  'toolMs',
] as const satisfies readonly (keyof Counts)[];

export type Sums = { -readonly [Name in keyof Counts]: number } & { readonly sessions: Set<string> };

/** Sums of nothing. */
export const noSums = (): Sums => ({
  ...(Object.fromEntries(names.map((name) => [name, 0])) as { -readonly [Name in keyof Counts]: number }),
  sessions: new Set<string>(),
});

function add(sums: Sums, slice: Slice): void {
  sums.sessions.add(slice.session);
  for (const name of names) sums[name] += slice[name];
}

/** The sums of slices. */
export const sumOf = (slices: Iterable<Slice>): Sums => {
  const sums = noSums();
  for (const slice of slices) add(sums, slice);
  return sums;
};

/** The slices on the days of a range. */
export const inRange = (slices: readonly Slice[], { from, to }: Range): readonly Slice[] => slices.filter(({ day }) => day >= from && day <= to);

/** The slices that match every chosen facet, or every one but `except`. */
export const matching = (slices: readonly Slice[], chosen: ChosenFacets, except?: UsageFacet): readonly Slice[] => {
  const tests = facets.flatMap((facet) => {
    const values = facet === except ? undefined : chosen[facet];
    return values && values.length > 0 ? [[facet, new Set(values)] as const] : [];
  });
  return tests.length === 0 ? slices : slices.filter((slice) => tests.every(([facet, values]) => values.has(slice[facet])));
};

/** The values of a facet with the number of sessions that have each, the most frequent first. The other facets are applied. */
export function valuesOf(slices: readonly Slice[], chosen: ChosenFacets, facet: UsageFacet): readonly (readonly [value: string, sessions: number])[] {
  const found = new Map<string, Set<string>>();
  for (const slice of matching(slices, chosen, facet)) {
    const known = found.get(slice[facet]);
    if (known) known.add(slice.session);
    else found.set(slice[facet], new Set([slice.session]));
  }
  return [...found].map(([value, sessions]) => [value, sessions.size] as const).sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1));
}

/** The sums of each group. Calls to models belong to no tool. */
export function groupsOf(slices: readonly Slice[], by: ShownGrouping): ReadonlyMap<string, Sums> {
  const groups = new Map<string, Sums>();
  for (const slice of slices) {
    const key = slice[by];
    if (key === undefined) continue;
    let sums = groups.get(key);
    if (!sums) {
      sums = noSums();
      groups.set(key, sums);
    }
    add(sums, slice);
  }
  return groups;
}

/** All tokens that were counted. */
export const tokensOf = ({ input, cacheRead, cacheWrite, output }: Sums | Slice): number => input + cacheRead + cacheWrite + output;

/** The share of the input that was read from the cache; undefined without a counted input. */
export function hitShare({ input, cacheRead, cacheWrite }: Sums): number | undefined {
  const whole = input + cacheRead + cacheWrite;
  return whole === 0 ? undefined : cacheRead / whole;
}

/** The height of a bar. Of tools, the time is that of the tools. */
export function amountOf(of: Sums | Slice, measure: ShownMeasure, isTool = false): number {
  switch (measure) {
    case 'cost':
      return of.cost;
    case 'tokens':
      return tokensOf(of);
    case 'loss':
      return of.loss;
    case 'errors':
      return of.errors;
    case 'time':
      return isTool ? of.toolMs : of.waitMs;
  }
}

/** Whether a cost is a lower bound, because calls without a price or an output are in it. */
export const isLowerBound = ({
  unpriced,
  uncountedOutputs,
  uncountedInputs,
}: Pick<Sums, 'unpriced' | 'uncountedOutputs' | 'uncountedInputs'>): boolean => unpriced + uncountedOutputs + uncountedInputs > 0;

/** Whether a sum of tokens is a lower bound, because a count is missing in it. A missing price changes no tokens. */
export const isMissingTokens = ({ uncountedOutputs, uncountedInputs }: Pick<Sums, 'uncountedOutputs' | 'uncountedInputs'>): boolean =>
  uncountedOutputs + uncountedInputs > 0;

/** Whether a value of a measure is a lower bound, because counts or prices are missing in it. */
export const isBound = (of: Parameters<typeof isLowerBound>[0], measure: ShownMeasure): boolean =>
  measure === 'cost' ? isLowerBound(of) : measure === 'tokens' && isMissingTokens(of);

/** The parts of a stacked bar: the largest groups, then the rest as one, then what was not recorded. */
export const rest = '\u0000rest';

/** The names of the largest groups in the order of a legend. `rest` stands for all smaller ones, and the empty text for what was not recorded. */
export function seriesOf(groups: ReadonlyMap<string, Sums>, measure: ShownMeasure, isTool: boolean, most = 5): readonly string[] {
  const named = [...groups]
    .filter(([key, sums]) => key !== '' && amountOf(sums, measure, isTool) > 0)
    .sort(([a, x], [b, y]) => amountOf(y, measure, isTool) - amountOf(x, measure, isTool) || (a < b ? -1 : 1))
    .map(([key]) => key);
  const unknown = groups.get('');
  return [
    ...named.slice(0, named.length > most + 1 ? most : most + 1),
    ...(named.length > most + 1 ? [rest] : []),
    ...(unknown && amountOf(unknown, measure, isTool) > 0 ? [''] : []),
  ];
}

/** The values of each bar by the names of `series`. */
export function stacksOf(
  slices: readonly Slice[],
  bars: readonly Range[],
  by: ShownGrouping,
  series: readonly string[],
  measure: ShownMeasure,
): readonly (readonly number[])[] {
  const isTool = by === 'tool';
  const places = new Map(series.map((name, at) => [name, at]));
  const stacks = bars.map(() => series.map(() => 0));
  for (const slice of slices) {
    const key = slice[by];
    const value = amountOf(slice, measure, isTool);
    if (key === undefined || value === 0) continue;
    const stack = stacks[barAt(bars, slice.day)];
    const place = places.get(key) ?? places.get(rest);
    if (stack && place !== undefined) stack[place] = (stack[place] ?? 0) + value;
  }
  return stacks;
}

/** The bar that contains a day, by halving; -1 if none does. */
export function barAt(bars: readonly Range[], day: string): number {
  let [low, high] = [0, bars.length - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const bar = bars[middle];
    if (!bar) return -1;
    if (day < bar.from) high = middle - 1;
    else if (day > bar.to) low = middle + 1;
    else return middle;
  }
  return -1;
}

/** Round values for the lines of a chart, from 0 to at least `most`. */
export function ticksOf(most: number): readonly number[] {
  if (!(most > 0)) return [0];
  const rough = most / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 2.5, 5, 10].find((one) => one * power >= rough) ?? 10) * power;
  return Array.from({ length: Math.ceil(most / step) + 1 }, (_, n) => n * step);
}

/** The facets in the address: `agent=codex&model=gpt-5`. Unknown names are ignored. */
export function chosenOf(text: string | undefined): ChosenFacets {
  const given = new URLSearchParams(text ?? '');
  return Object.fromEntries(facets.flatMap((facet) => (given.has(facet) ? [[facet, given.getAll(facet)]] : [])));
}

/** The text of facets for the address; undefined if nothing is chosen. */
export function chosenText(chosen: ChosenFacets): string | undefined {
  const params = new URLSearchParams();
  for (const facet of facets) for (const value of chosen[facet] ?? []) params.append(facet, value);
  return params.toString() || undefined;
}
