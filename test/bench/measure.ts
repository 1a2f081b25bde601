/** One thing to time. `prepare` runs before each round and is not timed; what it returns goes to `run`, then to `clean`. */
export interface Case<Given> {
  readonly prepare: (round: number) => Given;
  readonly run: (given: Given) => unknown;
  readonly clean?: (given: Given) => void;
}

/** Does a round of the work and says how many milliseconds it took. */
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

/** Work that needs nothing prepared. */
export const plain = (run: () => unknown): Timed => timed({ prepare: () => undefined, run });

/** Median milliseconds of each case: cases interleaved, the order rotated from round to round, one round thrown away. */
export function medians<Name extends string>(cases: Readonly<Record<Name, Timed>>, rounds = 5): Record<Name, number> {
  const names = Object.keys(cases) as Name[];
  const times = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
  for (let round = -1; round < rounds; round++)
    for (const [place] of names.entries()) {
      const name = names[(place + round + 1) % names.length] as Name;
      const ms = cases[name](round);
      if (round >= 0) times[name].push(ms);
    }
  return Object.fromEntries(names.map((name) => [name, median(times[name])])) as Record<Name, number>;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}

/** A line of the table: a measured ratio, what it must and what it would like to be. */
export interface Row {
  readonly id: string;
  readonly what: string;
  /** Undefined where it was not measured here; `note` says why. */
  readonly ratio: number | undefined;
  readonly must: number;
  readonly stretch: number;
  readonly better: 'less' | 'more';
  readonly note?: string;
  /** What the ratio was made of, in the units of their names. */
  readonly figures?: Readonly<Record<string, number>>;
}

/** A part of the bench: what it is called by on the command line, and what it measures. */
export interface Part {
  readonly rows: readonly string[];
  readonly run: (folder: string, how: Run) => readonly Row[];
}

export interface Run {
  /** Less of everything, for a look: ratios to a peer that grows faster than we do are then worse than they are. */
  readonly quick: boolean;
}

export const holds = (row: Row, limit: number): boolean | undefined =>
  row.ratio === undefined ? undefined : row.better === 'less' ? row.ratio <= limit : row.ratio >= limit;
