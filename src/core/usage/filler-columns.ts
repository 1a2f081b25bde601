// The facts of fillers as numbers, which the list of a long context adds up and sorts without reading the facts themselves.
import { numberOf } from '../base/index.js';
import type { DeltaFacts } from '../chain/index.js';
import { describe, type FillerFact, fillerFacts, rowName } from './filler-facts.js';

/** The visible entries of a delta: one number for each in every column. */
export interface FillerColumns {
  /** The number of its key. */
  readonly keys: readonly number[];
  readonly tokens: readonly number[];
  /** The number of the file or the group with which it counts; 0 if it counts alone. */
  readonly rows: readonly number[];
  /** The number of the digest of a long text; otherwise 0. */
  readonly digests: readonly number[];
  /** The beginnings of system prompts, and their places. */
  readonly prompts: readonly (readonly [place: number, beginning: string])[];
  /** The tools that were called. */
  readonly used: readonly string[];
  /** The numbers of calls and of messages with an attached file that are here, and of those that entries name and that are not. */
  readonly given: readonly number[];
  readonly missed: readonly number[];
}

/** The facts of entries as columns. */
export function columnsOf(facts: readonly FillerFact[]): FillerColumns {
  const given = new Set<number>();
  const missed = new Set<number>();
  for (const { call, does, message, attached } of facts) {
    const [ofCall, ofMessage] = [call && numberOf(`call ${call}`), message && numberOf(`message ${message}`)];
    if (ofCall) (does || given.has(ofCall) ? given : missed).add(ofCall);
    if (ofMessage) (attached !== undefined || given.has(ofMessage) ? given : missed).add(ofMessage);
  }
  return {
    keys: facts.map(({ key }) => numberOf(key)),
    tokens: facts.map(({ tokens }) => tokens),
    rows: describe(facts).map((filler) => {
      const name = rowName(filler);
      return name === undefined ? 0 : numberOf(name);
    }),
    digests: facts.map(({ digest }) => (digest === undefined ? 0 : numberOf(digest))),
    prompts: facts.flatMap(({ prompt }, place) => (prompt === undefined ? [] : [[place, prompt] as const])),
    used: [...new Set(facts.flatMap(({ does, tool }) => (does && tool !== undefined ? [tool] : [])))],
    given: [...given],
    missed: [...missed],
  };
}

/** The columns of deltas. Null for a delta that replaces earlier results. */
export const fillerColumns: DeltaFacts<FillerColumns | null> = {
  name: 'filler columns',
  version: fillerFacts.version,
  make: (parsed, format) => (parsed.elisions.length > 0 ? null : columnsOf(fillerFacts.make(parsed, format))),
};
