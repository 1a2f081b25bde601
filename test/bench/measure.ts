/** A case to time. `prepare` runs before each round, untimed; its result goes to `run` and then to `clean`. */
export interface Case<Given> {
  readonly prepare: (round: number) => Given;
  readonly run: (given: Given) => unknown;
  readonly clean?: (given: Given) => void;
}

/** Runs one round and returns its milliseconds. */
export type Timed = (round: number) => number;

export const timed =
  <Given>({ prepare, run, clean }: Case<Given>): Timed =>
  (round) => {
    const given = prepare(round);
    globalThis.gc?.();
    const from = performance.now();
    run(given);
    const ms = performance.now() - from;
    clean?.(given);
    return ms;
  };

/** A case without preparation. */
export const plain = (run: () => unknown): Timed => timed({ prepare: () => undefined, run });

let mostRounds = Number.POSITIVE_INFINITY;
/** Measures each case once, for a quick look: after a first round, unless that took long. */
export const measureOnce = (): void => {
  mostRounds = 1;
};
const longMs = 1_000;

/** Median milliseconds of each case. Cases are interleaved in rotating order, and the first round is discarded. */
export function medians<Name extends string>(cases: Readonly<Record<Name, Timed>>, rounds = 5): Record<Name, number> {
  const names = Object.keys(cases) as Name[];
  const times = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
  for (let round = -1; round < Math.min(rounds, mostRounds); round++) {
    const began = performance.now();
    for (const place of names.keys()) {
      const name = names[(place + round + 1) % names.length] as Name;
      times[name].push(cases[name](round));
    }
    if (round < 0 && mostRounds === 1 && performance.now() - began > longMs) break;
    if (round < 0) for (const name of names) times[name] = [];
  }
  return Object.fromEntries(names.map((name) => [name, median(times[name])])) as Record<Name, number>;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}

/** A line of the table: a measured ratio, its limit and its goal. */
export interface Row {
  readonly id: string;
  readonly what: string;
  /** Undefined if it could not be measured here; `note` says why. */
  readonly ratio: number | undefined;
  readonly must: number;
  readonly stretch: number;
  readonly better: 'less' | 'more';
  readonly note?: string;
  /** The same ratio for a bare program that does the least that is needed, in the same run: nothing of this kind comes nearer to the limit. */
  readonly floor?: { readonly of: string; readonly ratio: number };
  /** The measured values of the ratio. Their names have the units. */
  readonly figures?: Readonly<Record<string, number>>;
}

/** A part of the bench: its name on the command line, and its measurement. */
export interface Part {
  readonly rows: readonly string[];
  readonly run: (folder: string, how: Run) => readonly Row[] | Promise<readonly Row[]>;
}

export interface Run {
  /** Smaller material for a quick look. Ratios to peers that scale worse than Stemma look worse than they are. */
  readonly quick: boolean;
}

export const holds = (row: Row, limit: number): boolean | undefined =>
  row.ratio === undefined ? undefined : row.better === 'less' ? row.ratio <= limit : row.ratio >= limit;

/** What a row says beside its ratio. */
export const asideOf = ({ floor, note, figures }: Row): string =>
  [
    floor && `the floor, ${floor.of}: ${shown(floor.ratio)}`,
    note,
    ...Object.entries(figures ?? {}).map(([name, value]) => `${name} ${Math.round(value * 100) / 100}`),
  ]
    .filter(Boolean)
    .join('; ');

/** A ratio as texts show it: small ones as a part of one. */
export const shown = (value: number): string =>
  value > 0 && value < 0.3 ? `1/${Math.round((1 / value) * 10) / 10}` : value.toFixed(value < 100 ? 2 : 0);
