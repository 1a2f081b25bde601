// The sums of the calls of each session and day by agent and model, with the tool calls in each, in columns: a library of 5,000 sessions has 20,000 of
// them and 80,000 sums of tools.
import type { AnalysisSums } from '../../../core/contract/index.js';
import type { Range } from './ranges';

/** What calls and tool calls are filtered and grouped by. */
export const facets = ['agent', 'repository', 'model', 'person', 'branch'] as const;
export type UsageFacet = (typeof facets)[number];
export const groupings = ['day', 'model', 'repository', 'agent', 'person', 'branch', 'tool', 'session'] as const;
export type ShownGrouping = (typeof groupings)[number];
type Place = Exclude<ShownGrouping, 'tool'>;

/** The values of a chosen facet; a facet that is missing is not chosen. An empty text stands for what was not recorded. */
export type ChosenFacets = Readonly<Partial<Record<UsageFacet, readonly string[]>>>;

const ofCalls = [
  ...(['calls', 'input', 'cacheRead', 'cacheWrite', 'output', 'cost', 'unpriced', 'uncountedInputs', 'uncountedOutputs'] as const),
  ...(['misses', 'loss', 'waitMs'] as const),
] as const;
const ofTools = ['toolCalls', 'results', 'errors', 'toolMs'] as const;
/** What is added up. */
export type CountName = (typeof ofCalls)[number] | (typeof ofTools)[number];

type Columns<Name extends string, Column> = Readonly<Record<Name, Column>>;

interface Facts {
  /** The texts that the places name by number. What was not recorded is an empty text. */
  readonly names: readonly string[];
  /** The day, model, repository and so on of each row, by their numbers in `names`. */
  readonly places: Columns<Place, Uint32Array>;
  /** The sums of each row, those of its tool calls included. */
  readonly counts: Columns<CountName, Float64Array>;
  /** The sums of tool calls. Those of row n begin at `first[n]`. */
  readonly tools: {
    readonly first: Uint32Array;
    readonly row: Uint32Array;
    readonly tool: Uint32Array;
    readonly counts: Columns<(typeof ofTools)[number], Float64Array>;
  };
}

/** Some rows of the facts, and of them the calls of one tool only, if `tool` names one. */
export interface Slices {
  readonly facts: Facts;
  readonly rows: Uint32Array;
  readonly tool?: number;
}

/** The sums of an answer of `analysis.sums`. */
export function slicesIn(
  { names: given, calls, tools }: Pick<AnalysisSums, 'names' | 'calls' | 'tools'>,
  sessions: ReadonlyMap<string, Readonly<Record<'repository' | 'person' | 'branch', string>>>,
): Slices {
  const names = [...given];
  const numbers = new Map(names.map((name, at) => [name, at]));
  const numberOf = (name: string): number => {
    const known = numbers.get(name);
    if (known !== undefined) return known;
    numbers.set(name, names.length);
    return names.push(name) - 1;
  };
  const column = (columns: readonly (readonly number[])[], at: number): Float64Array => new Float64Array(columns[at] ?? []);
  const numbersIn = (columns: readonly (readonly number[])[], at: number): Uint32Array => new Uint32Array(columns[at] ?? []);
  const [day, session] = [numbersIn(calls, 0), numbersIn(calls, 1)];
  const ofSession = (place: 'repository' | 'person' | 'branch'): Uint32Array => {
    const found = new Uint32Array(given.map((name) => numberOf(sessions.get(name)?.[place] ?? '')));
    return session.map((one) => found[one] as number);
  };
  const places = {
    ...{ day, session, agent: numbersIn(calls, 2), model: numbersIn(calls, 3) },
    ...{ repository: ofSession('repository'), person: ofSession('person'), branch: ofSession('branch') },
  };
  const { first, order } = ordered(numbersIn(tools, 0), day.length);
  const inOrder = <Numbers extends Uint32Array | Float64Array>(values: Numbers): Numbers => {
    const found = values.slice() as Numbers;
    for (let at = 0; at < order.length; at++) found[at] = values[order[at] as number] as number;
    return found;
  };
  const row = inOrder(numbersIn(tools, 0));
  const toolCounts = Object.fromEntries(ofTools.map((name, at) => [name, inOrder(column(tools, at + 2))])) as Facts['tools']['counts'];
  const summed = (values: Float64Array): Float64Array => {
    const sums = new Float64Array(day.length);
    for (let at = 0; at < row.length; at++) sums[row[at] as number] = (sums[row[at] as number] as number) + (values[at] as number);
    return sums;
  };
  const counts = Object.fromEntries([
    ...ofCalls.map((name, at) => [name, column(calls, at + 4)]),
    ...ofTools.map((name) => [name, summed(toolCounts[name])]),
  ]) as Facts['counts'];
  return {
    facts: { names, places, counts, tools: { first, row, tool: inOrder(numbersIn(tools, 1)), counts: toolCounts } },
    rows: day.map((_, at) => at),
  };
}

/** The order in which the sums of the tools of each row of calls follow each other, and where those of each row begin. */
function ordered(rowOf: Uint32Array, rows: number): { readonly first: Uint32Array; readonly order: Uint32Array } {
  const first = new Uint32Array(rows + 1);
  for (let at = 0; at < rowOf.length; at++) first[(rowOf[at] as number) + 1] = (first[(rowOf[at] as number) + 1] as number) + 1;
  for (let row = 0; row < rows; row++) first[row + 1] = (first[row + 1] as number) + (first[row] as number);
  const next = first.slice();
  const order = new Uint32Array(rowOf.length);
  for (let at = 0; at < rowOf.length; at++) {
    const row = rowOf[at] as number;
    order[next[row] as number] = at;
    next[row] = (next[row] as number) + 1;
  }
  return { first, order };
}

/** The rows whose place has such a name. */
function where(slices: Slices, place: Place, isMeant: (name: string) => boolean): Slices {
  const { names, places } = slices.facts;
  const of = places[place];
  const meant = Uint8Array.from(names.map((name) => (isMeant(name) ? 1 : 0)));
  return { ...slices, rows: slices.rows.filter((row) => meant[of[row] as number] === 1) };
}

/** The sums of tool calls in the slices. */
export function toolRowsOf({ facts: { tools }, rows, tool }: Slices): Uint32Array {
  const found = new Uint32Array(tools.row.length);
  let count = 0;
  for (const row of rows)
    for (let at = tools.first[row] as number; at < (tools.first[row + 1] as number); at++)
      if (tool === undefined || tools.tool[at] === tool) found[count++] = at;
  return found.subarray(0, count);
}

/** Whether there is no row. */
export const isEmpty = ({ rows }: Slices): boolean => rows.length === 0;

/** The slices on the days of a range. */
export const inRange = (slices: Slices, { from, to }: Range): Slices => where(slices, 'day', (day) => day >= from && day <= to);

/** The slices of one group. */
export const ofGroup = (slices: Slices, by: ShownGrouping, group: string): Slices =>
  by === 'tool' ? { ...slices, tool: slices.facts.names.indexOf(group) } : where(slices, by, (name) => name === group);

/** The slices that match every chosen facet, or every one but `except`. */
export const matching = (slices: Slices, chosen: ChosenFacets, except?: UsageFacet): Slices =>
  facets.reduce((left, facet) => {
    const values = facet === except ? [] : (chosen[facet] ?? []);
    return values.length === 0 ? left : where(left, facet, (name) => values.includes(name));
  }, slices);

/** The days from the first to the last of the slices. */
export function daysOf(slices: Slices): Range | undefined {
  const days = [...namesOf(slices, 'day')].sort();
  const [from, to] = [days[0], days.at(-1)];
  return from === undefined || to === undefined ? undefined : { from, to };
}

/** The names of a place that the slices have. */
export function namesOf({ facts: { names, places }, rows }: Slices, place: Place): ReadonlySet<string> {
  const of = places[place];
  const found = new Uint8Array(names.length);
  for (const row of rows) found[of[row] as number] = 1;
  return new Set(names.filter((_, number) => found[number] === 1));
}
