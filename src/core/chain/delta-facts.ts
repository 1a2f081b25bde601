// What is known of each delta by some rules, as stored values. Deltas never change, so a value is made once, and a question about a context reads
// no content.
import { type ArtifactNo, attempt, parseJson } from '../base/index.js';
import type { ParsedDelta } from '../formats/index.js';
import { type Offer, offer, type ReadChain, type Step, type WriteChain } from './chain.js';
import { parsedAlong } from './entries.js';
import { deltaKey, packed, type StoredDelta, unpacked } from './outline.js';

/** How a value is made of a delta. It must be JSON. */
export interface DeltaFacts<Value> {
  readonly name: string;
  /** The rules by which values are made. Increase it when they change, so that stored values are made again. */
  readonly version: () => number;
  readonly make: (parsed: ParsedDelta, format: string) => Value;
  /** Long values are compressed: only pages and details are read of them. */
  readonly isPacked?: true;
}

const deltasAtOnce = 500;

/** The stored values of deltas, by the names of the deltas. Damaged ones count as missing. */
export function storedFacts<Value>({ db }: ReadChain, { name, version }: DeltaFacts<Value>, deltas: readonly StoredDelta[]): Map<string, Value> {
  const known = new Map<string, Value>();
  for (let from = 0; from < deltas.length; from += deltasAtOnce)
    for (const { data, ...delta } of db.all<{ artifact: ArtifactNo; format: string; data: string | Uint8Array }>(
      'SELECT artifact, format, data FROM deltaFact WHERE artifact IN (SELECT value FROM json_each(?)) AND name = ? AND version = ?',
      [JSON.stringify(deltas.slice(from, from + deltasAtOnce).map(({ artifact }) => artifact)), name, version()],
    )) {
      const value = attempt(() => parseJson(unpacked(data)));
      if (value !== undefined) known.set(deltaKey(delta), value as Value);
    }
  return known;
}

/** The values of deltas. Those that are not stored are made from the contents and offered to the writer. */
export function factsAlong<Value>(chain: ReadChain, facts: DeltaFacts<Value>, steps: readonly Step[]): (delta: StoredDelta) => Value {
  const known = storedFacts(chain, facts, steps);
  const missing = steps.filter((step) => !known.has(deltaKey(step)));
  for (const { step, parsed } of parsedAlong(chain, missing)) {
    const value = facts.make(parsed, step.format);
    known.set(deltaKey(step), value);
    offer(chain, encodedFact(facts, step, value));
  }
  return (delta) => known.get(deltaKey(delta)) as Value;
}

type EncodedFact = Extract<Offer, { kind: 'fact' }>;

/** What `saveFact` stores of a delta. */
export const encodedFact = <Value>({ name, version, isPacked }: DeltaFacts<Value>, { artifact, format }: StoredDelta, value: Value): EncodedFact => {
  const text = JSON.stringify(value);
  return { kind: 'fact', name, artifact, format, version: version(), data: isPacked ? packed(text) : text };
};

/** Stores a value of a delta. Call it inside a transaction. */
export function saveFact({ db }: WriteChain, { artifact, format, name, version, data }: Omit<EncodedFact, 'kind'>): void {
  db.run('INSERT OR REPLACE INTO deltaFact (artifact, format, name, version, data) VALUES (?, ?, ?, ?, ?)', artifact, format, name, version, data);
}
