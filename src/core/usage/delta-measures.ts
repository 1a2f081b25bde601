// What the entries of stored deltas measure. Deltas never change, so a delta is measured once and a window adds up the sums of its deltas.
import { type ArtifactNo, type EntryKey, isObject, parseJson } from '../base/index.js';
import { type Offer, offer, parsedAlong, type ReadChain, type Step, type WriteChain } from '../chain/index.js';
import type { PartKind } from '../contract/index.js';
import { isHidden, type ParsedDelta } from '../formats/index.js';
import { hasTokenizer, type Measures, measuresOf } from './tokenizer.js';
import { partKindOf } from './window.js';

/** The visible entries of a delta, added up by kind. */
export interface DeltaMeasure {
  readonly kinds: Partial<Record<PartKind, Measures>>;
  /** The message of the first and of the last entry of the assistant, and the kind of the first. Null is no message id. */
  readonly said?: { readonly first: string | null; readonly kind: PartKind; readonly last: string | null };
  /** Whether the delta replaces earlier results. */
  readonly elides?: true;
  /** What comes before the first entry of each message of the assistant. A call was sent that. */
  readonly before?: readonly { readonly key: EntryKey; readonly kinds: Kinds }[];
}

type Kinds = Partial<Record<PartKind, Measures>>;

/** Increase this number when measures change, so that stored ones are measured again. */
export const measureRules = 2;
/** The version of measures: with or without the tokenizer. */
export const measureVersion = (): number => measureRules * 2 + (hasTokenizer() ? 1 : 0);

/** Measures a delta. Every message of the assistant in it has its framing; that of the first may belong to the delta before. */
export function measureDelta({ entries, elisions }: Pick<ParsedDelta, 'entries' | 'elisions'>): DeltaMeasure {
  const kinds: Partial<Record<PartKind, Record<string, number>>> = {};
  const before: { key: EntryKey; kinds: Kinds }[] = [];
  let said: { first: string | null; kind: PartKind; last: string | null } | undefined;
  const add = (kind: PartKind, measures: Measures): void => {
    const sum = kinds[kind] ?? {};
    for (const [name, size] of Object.entries(measures)) sum[name] = (sum[name] ?? 0) + size;
    kinds[kind] = sum;
  };
  for (const entry of entries) {
    if (isHidden(entry)) continue;
    const kind = partKindOf(entry);
    // Undefined, before the first message, differs from every message.
    if (entry.role === 'assistant') {
      const message = entry.messageId ?? null;
      if (said?.last !== message) before.push({ key: entry.key, kinds: structuredClone(kinds) });
      if (said?.last !== message) add(kind, { replies: 1 });
      said = said ? { ...said, last: message } : { first: message, kind, last: message };
    }
    add(kind, measuresOf(entry));
  }
  return { kinds, ...(said && { said, before }), ...(elisions.length > 0 && { elides: true }) };
}

/** Deltas whose measures one query reads. */
const deltasAtOnce = 500;

/** A name of a delta. */
export const deltaKey = ({ artifact, format }: Pick<Step, 'artifact' | 'format'>): string => `${artifact}:${format}`;

/** The stored measures of commits, by the names of their deltas. */
export function storedMeasures(chain: ReadChain, steps: readonly Step[]): Map<string, DeltaMeasure> {
  const known = new Map<string, DeltaMeasure>();
  for (let from = 0; from < steps.length; from += deltasAtOnce) {
    const rows = chain.db.all<{ artifact: ArtifactNo; format: string; data: string }>(
      'SELECT artifact, format, data FROM usageMeasure WHERE artifact IN (SELECT value FROM json_each(?)) AND version = ?',
      JSON.stringify(steps.slice(from, from + deltasAtOnce).map(({ artifact }) => artifact)),
      measureVersion(),
    );
    for (const { data, ...at } of rows) {
      const measure = parseJson(data);
      if (isObject(measure) && isObject(measure.kinds)) known.set(deltaKey(at), measure as unknown as DeltaMeasure);
    }
  }
  return known;
}

/** The measures of commits, by artifact and format. Those that are not stored are measured and offered to the writer. */
export function measuresAlong(chain: ReadChain, steps: readonly Step[]): (step: Step) => DeltaMeasure {
  const known = storedMeasures(chain, steps);
  const missing = steps.filter((step) => !known.has(deltaKey(step)));
  for (const { step, parsed } of parsedAlong(chain, missing)) {
    const measure = measureDelta(parsed);
    known.set(deltaKey(step), measure);
    offer(chain, { kind: 'measure', artifact: step.artifact, format: step.format, version: measureVersion(), data: JSON.stringify(measure) });
  }
  return (step) => known.get(deltaKey(step)) as DeltaMeasure;
}

/** Stores a measured delta. Call it inside a transaction. */
export function saveMeasure({ db }: WriteChain, { artifact, format, version, data }: Omit<Extract<Offer, { kind: 'measure' }>, 'kind'>): void {
  db.run('INSERT OR REPLACE INTO usageMeasure (artifact, format, version, data) VALUES (?, ?, ?, ?)', artifact, format, version, data);
}
