// What the entries of stored deltas measure. Deltas never change, so a delta is measured once and a window adds up the sums of its deltas.
import type { EntryKey } from '../base/index.js';
import type { DeltaFacts } from '../chain/index.js';
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
const measureVersion = (): number => measureRules * 2 + (hasTokenizer() ? 1 : 0);

/** Measures a delta. Every message of the assistant in it has its framing; that of the first may belong to the delta before. */
function measureDelta({ entries, elisions }: Pick<ParsedDelta, 'entries' | 'elisions'>): DeltaMeasure {
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

/** The measures of deltas. */
export const measureFacts: DeltaFacts<DeltaMeasure> = { name: 'measure', version: measureVersion, make: measureDelta };
