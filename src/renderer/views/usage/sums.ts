import { firstWhere } from '../../../core/contract/index.js';
import type { Range } from './ranges';
import { type ChosenFacets, type CountName, facets, matching, type ShownGrouping, type Slices, type UsageFacet } from './slices';

export const measures = ['cost', 'tokens', 'loss', 'errors', 'time'] as const;
export type ShownMeasure = (typeof measures)[number];

export type Sums = Record<CountName | 'sessions', number>;

/** Sums of nothing. A project has thousands of them, so they are written out. */
export const noSums = (): Sums => ({
  calls: 0,
  input: 0,
  cacheRead: 0,
  cacheWrite: 0,
  output: 0,
  cost: 0,
  unpriced: 0,
  uncountedInputs: 0,
  uncountedOutputs: 0,
  misses: 0,
  loss: 0,
  waitMs: 0,
  toolCalls: 0,
  results: 0,
  errors: 0,
  toolMs: 0,
  sessions: 0,
});

const known = new WeakMap<Slices, Map<string, unknown>>();

/** Parts of the place ask for the same sums of the same slices. */
function once<T>(slices: Slices, name: string, make: () => T): T {
  const found = known.get(slices) ?? new Map<string, unknown>();
  known.set(slices, found);
  if (!found.has(name)) found.set(name, make());
  return found.get(name) as T;
}

/** Adds the values of each row to the sums of its group. */
function addAll({ facts: { counts, places }, rows }: Slices, groups: readonly Sums[], groupOf: Uint32Array): void {
  for (const [name, values] of Object.entries(counts) as [CountName, Float64Array][]) {
    const sums = new Float64Array(groups.length);
    for (let at = 0; at < rows.length; at++) {
      const group = groupOf[at] as number;
      sums[group] = (sums[group] as number) + (values[rows[at] as number] as number);
    }
    for (const [at, group] of groups.entries()) group[name] += sums[at] as number;
  }
  const counted = countSessions(rows, places.session, groups.length, groupOf);
  for (const [at, group] of groups.entries()) group.sessions += counted[at] as number;
}

/** The number of sessions in each group. The rows of a session follow each other, so each begins once in a group. */
function countSessions(rows: Uint32Array, sessions: Uint32Array, groups: number, groupOf: Uint32Array): Uint32Array {
  const counted = new Uint32Array(groups);
  const last = new Int32Array(groups).fill(-1);
  for (let at = 0; at < rows.length; at++) {
    const session = sessions[rows[at] as number] as number;
    const group = groupOf[at] as number;
    if (last[group] === session) continue;
    last[group] = session;
    counted[group] = (counted[group] as number) + 1;
  }
  return counted;
}

/** The group of each row, in the order in which the groups occur. */
function grouped(
  rows: Uint32Array,
  places: Uint32Array,
  names: readonly string[],
): { readonly keys: readonly string[]; readonly groupOf: Uint32Array } {
  const numbers = new Int32Array(names.length).fill(-1);
  const keys: string[] = [];
  const groupOf = new Uint32Array(rows.length);
  for (let at = 0; at < rows.length; at++) {
    const place = places[rows[at] as number] as number;
    if (numbers[place] === -1) numbers[place] = keys.push(names[place] ?? '') - 1;
    groupOf[at] = numbers[place] as number;
  }
  return { keys, groupOf };
}

/** The sums of slices. */
export const addSlices = (slices: Slices): Sums =>
  once(slices, 'all', () => {
    const sums = noSums();
    addAll(slices, [sums], new Uint32Array(slices.rows.length));
    return sums;
  });

/** The sums of each group. */
export const sumGroups = (slices: Slices, by: ShownGrouping): ReadonlyMap<string, Sums> =>
  once(slices, by, () => {
    const { facts, rows } = slices;
    const { keys, groupOf } = grouped(rows, facts.places[by], facts.names);
    const groups = keys.map(noSums);
    addAll(slices, groups, groupOf);
    return new Map(keys.map((key, at) => [key, groups[at] as Sums]));
  });

/** The sessions, those with the largest part of the measure first. A session of tool calls may have no counted calls, and the other way round. */
export const largestSessions = (slices: Slices, measure: ShownMeasure, by?: ShownGrouping): readonly (readonly [id: string, sums: Sums])[] =>
  once(slices, `largest ${measure} ${by === 'tool'}`, () =>
    [...sumGroups(slices, 'session')].sort(([, x], [, y]) => barHeight(y, measure, by) - barHeight(x, measure, by) || y.calls - x.calls),
  );

/** The values of a facet with the number of sessions that have each, the most frequent first. The other facets are applied. */
export function countValues(slices: Slices, chosen: ChosenFacets, facet: UsageFacet): readonly (readonly [value: string, sessions: number])[] {
  const { facts, rows } = matching(slices, chosen, facet);
  const { keys, groupOf } = grouped(rows, facts.places[facet], facts.names);
  const counted = countSessions(rows, facts.places.session, keys.length, groupOf);
  return keys.map((key, at) => [key, counted[at] as number] as const).sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1));
}

/** All tokens that were counted. */
export const sumTokens = ({ input, cacheRead, cacheWrite, output }: Sums): number => input + cacheRead + cacheWrite + output;

/** The share of the input that was read from the cache; undefined without a counted input. */
export function hitShare({ input, cacheRead, cacheWrite }: Sums): number | undefined {
  const whole = input + cacheRead + cacheWrite;
  return whole === 0 ? undefined : cacheRead / whole;
}

/** The counts that make the height of a bar. Grouped by tool, the time is that of the tools. */
const countsOf = (measure: ShownMeasure, by: ShownGrouping | undefined): readonly CountName[] => {
  if (measure === 'tokens') return ['input', 'cacheRead', 'cacheWrite', 'output'];
  return [measure !== 'time' ? measure : by === 'tool' ? 'toolMs' : 'waitMs'];
};

/** The height of a bar. */
export const barHeight = (of: Sums, measure: ShownMeasure, by?: ShownGrouping): number =>
  countsOf(measure, by).reduce((sum, name) => sum + of[name], 0);

/** Whether a sum of tokens is a lower bound, because a count is missing in it. A missing price changes no tokens. */
export const isMissingTokens = ({ uncountedOutputs, uncountedInputs }: Sums): boolean => uncountedOutputs + uncountedInputs > 0;

/** Whether a value of a measure is a lower bound, because counts or prices are missing in it. */
export const isBound = (of: Sums, measure: ShownMeasure): boolean =>
  measure === 'cost' ? of.unpriced > 0 || isMissingTokens(of) : measure === 'tokens' && isMissingTokens(of);

/** The parts of a stacked bar: the largest groups, then the rest as one, then what was not recorded. */
export const rest = '\u0000rest';

/** The names of the largest groups in the order of a legend. `rest` stands for all smaller ones, and the empty text for what was not recorded. */
export function seriesOf(groups: ReadonlyMap<string, Sums>, measure: ShownMeasure, by: ShownGrouping, most = 5): readonly string[] {
  const named = [...groups]
    .filter(([key, sums]) => key !== '' && barHeight(sums, measure, by) > 0)
    .sort(([a, x], [b, y]) => barHeight(y, measure, by) - barHeight(x, measure, by) || (a < b ? -1 : 1))
    .map(([key]) => key);
  const unknown = groups.get('');
  return [
    ...named.slice(0, named.length > most + 1 ? most : most + 1),
    ...(named.length > most + 1 ? [rest] : []),
    ...(unknown && barHeight(unknown, measure, by) > 0 ? [''] : []),
  ];
}

/** The values of each bar by the names of `series`. */
export function stacksOf(
  slices: Slices,
  bars: readonly Range[],
  by: ShownGrouping,
  series: readonly string[],
  measure: ShownMeasure,
): readonly (readonly number[])[] {
  const { names, places, counts } = slices.facts;
  const [groups, days] = [places[by], places.day];
  const seriesAt = new Map(series.map((name, at) => [name, at]));
  const placeOf = names.map((name) => seriesAt.get(name) ?? seriesAt.get(rest));
  const stacks = bars.map(() => series.map(() => 0));
  const stackOf = names.map((name) => stacks[barAt(bars, name)]);
  for (const name of countsOf(measure, by)) {
    const values = counts[name];
    if (!values) continue;
    for (const row of slices.rows) {
      const stack = stackOf[days[row] as number];
      const place = placeOf[groups[row] as number];
      if (stack && place !== undefined) stack[place] = (stack[place] ?? 0) + (values[row] as number);
    }
  }
  return stacks;
}

/** The bar that contains a day; -1 if none does. */
export function barAt(bars: readonly Range[], day: string): number {
  const at = firstWhere(0, bars.length, (place) => (bars[place] as Range).to >= day);
  const bar = bars[at];
  return bar && day >= bar.from ? at : -1;
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
