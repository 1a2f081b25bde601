// The sums of the calls of each session and day by agent and model, and those of tool calls by tool, in columns: a library of 5,000 sessions has 20,000
// and 80,000 of them.
import type { AnalysisSums, AnalysisTools } from '../../../core/contract/index.js';
import type { Range } from './ranges';

export const facets = ['agent', 'repository', 'model', 'person', 'branch'] as const;
export type UsageFacet = (typeof facets)[number];
export const groupings = ['day', 'model', 'repository', 'agent', 'person', 'branch', 'tool', 'session'] as const;
export type ShownGrouping = (typeof groupings)[number];

/** The values of a chosen facet; a facet that is missing is not chosen. An empty text stands for what was not recorded. */
export type ChosenFacets = Readonly<Partial<Record<UsageFacet, readonly string[]>>>;

const ofTools = ['toolCalls', 'results', 'errors', 'toolMs'] as const;
const ofCalls = [
  ...(['calls', 'input', 'cacheRead', 'cacheWrite', 'output', 'cost', 'unpriced', 'uncountedInputs', 'uncountedOutputs'] as const),
  ...(['misses', 'loss', 'waitMs'] as const),
  ...ofTools,
] as const;
export type CountName = (typeof ofCalls)[number];

export interface Slices {
  readonly facts: {
    /** The texts that the places name by number. What was not recorded is an empty text. */
    readonly names: readonly string[];
    /** The day, model, repository and so on of each row, by their numbers in `names`. */
    readonly places: Readonly<Record<ShownGrouping, Uint32Array>>;
    /** The sums of each row. Those of a tool have only the counts of tool calls. */
    readonly counts: Readonly<Partial<Record<CountName, Float64Array>>>;
  };
  /** The numbers of the rows. Those of a session follow each other. */
  readonly rows: Uint32Array;
}

type SessionPlaces = ReadonlyMap<string, Readonly<Record<'repository' | 'person' | 'branch', string>>>;

/** The sums of calls, with those of the tool calls in them. */
export const callSlices = ({ names, calls }: Pick<AnalysisSums, 'names' | 'calls'>, sessions: SessionPlaces): Slices =>
  slicesIn(names, calls, ['day', 'session', 'agent', 'model'], ofCalls, sessions);

/** The sums of tool calls by tool. */
export const toolSlices = ({ names, tools }: AnalysisTools, sessions: SessionPlaces): Slices =>
  slicesIn(names, tools, ['day', 'session', 'agent', 'model', 'tool'], ofTools, sessions);

export const noSlices = toolSlices({ names: [], tools: [] }, new Map());

function slicesIn(
  given: readonly string[],
  columns: readonly (readonly number[])[],
  placed: readonly ShownGrouping[],
  counted: readonly CountName[],
  sessions: SessionPlaces,
): Slices {
  const names = [...given];
  const numbers = new Map(names.map((name, at) => [name, at]));
  const numberOf = (name: string): number => {
    const known = numbers.get(name);
    if (known !== undefined) return known;
    numbers.set(name, names.length);
    return names.push(name) - 1;
  };
  const none = new Uint32Array(columns[0]?.length ?? 0).fill(numberOf(''));
  const own = Object.fromEntries(placed.map((place, at) => [place, new Uint32Array(columns[at] ?? [])]));
  const { day = none, session = none, agent = none, model = none, tool = none } = own;
  const ofSession = (place: 'repository' | 'person' | 'branch'): Uint32Array => {
    const found = new Uint32Array(given.map((name) => numberOf(sessions.get(name)?.[place] ?? '')));
    return session.map((one) => found[one] as number);
  };
  const places = { day, session, agent, model, tool, repository: ofSession('repository'), person: ofSession('person'), branch: ofSession('branch') };
  const counts = Object.fromEntries(counted.map((name, at) => [name, new Float64Array(columns[placed.length + at] ?? [])]));
  return { facts: { names, places, counts }, rows: day.map((_, at) => at) };
}

function where(slices: Slices, place: ShownGrouping, isMeant: (name: string) => boolean): Slices {
  const { names, places } = slices.facts;
  const of = places[place];
  const meant = Uint8Array.from(names, (name) => (isMeant(name) ? 1 : 0));
  return { ...slices, rows: slices.rows.filter((row) => meant[of[row] as number] === 1) };
}

/** Whether there is no row. */
export const isEmpty = ({ rows }: Slices): boolean => rows.length === 0;

/** The slices on the days of a range. */
export const inRange = (slices: Slices, { from, to }: Range): Slices => where(slices, 'day', (day) => day >= from && day <= to);

/** The slices of one group. */
export const ofGroup = (slices: Slices, by: ShownGrouping, group: string): Slices => where(slices, by, (name) => name === group);

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
export function namesOf({ facts: { names, places }, rows }: Slices, place: ShownGrouping): ReadonlySet<string> {
  const of = places[place];
  const found = new Uint8Array(names.length);
  for (const row of rows) found[of[row] as number] = 1;
  return new Set(names.filter((_, number) => found[number] === 1));
}
