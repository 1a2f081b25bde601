// What the entries of stored deltas measure. Deltas never change, so a delta is measured once and a window adds up the sums of its deltas.
import type { EntryKey } from '../base/index.js';
import type { DeltaFacts } from '../chain/index.js';
import type { PartKind } from '../contract/index.js';
import { isHidden, type ParsedDelta } from '../formats/index.js';
import { addMeasures, hasTokenizer, type Measures, measuresOf } from './tokenizer.js';
import { partKindOf } from './window.js';

/** Measures by kind of content. */
export type Kinds = Partial<Record<PartKind, Measures>>;

/** Adds measures of one kind to a sum. */
export function addTo(sums: Kinds, kind: PartKind, measures: Measures, sign?: 1 | -1): void {
  sums[kind] = addMeasures(sums[kind] ?? {}, measures, sign);
}

/** Adds measures to a sum, and returns it. */
export function addKinds(sums: Kinds, ...added: readonly Kinds[]): Kinds {
  for (const kinds of added) for (const [kind, measures] of Object.entries(kinds) as [PartKind, Measures][]) addTo(sums, kind, measures);
  return sums;
}

/** The visible entries of a delta, added up by kind. */
export interface DeltaMeasure {
  readonly kinds: Kinds;
  /** The message of the first and of the last entry of the assistant, and the kind of the first. Null is no message id. */
  readonly said?: { readonly first: string | null; readonly kind: PartKind; readonly last: string | null };
  /** Whether the delta replaces earlier results. */
  readonly elides?: true;
  /** What comes before the first entry of each message of the assistant. A call was sent that. */
  readonly before?: readonly { readonly key: EntryKey; readonly kinds: Kinds }[];
}

/** Increase this number when measures change, so that stored ones are measured again. */
export const measureRules = 2;

/** Measures a delta. Every message of the assistant in it has its framing; that of the first may belong to the delta before. */
function measureDelta({ entries, elisions }: Pick<ParsedDelta, 'entries' | 'elisions'>): DeltaMeasure {
  const kinds: Kinds = {};
  const before: { key: EntryKey; kinds: Kinds }[] = [];
  let said: DeltaMeasure['said'];
  for (const entry of entries) {
    if (isHidden(entry)) continue;
    const kind = partKindOf(entry);
    if (entry.role === 'assistant') {
      const message = entry.messageId ?? null;
      // Undefined, before the first message, differs from every message.
      if (said?.last !== message) {
        before.push({ key: entry.key, kinds: structuredClone(kinds) });
        addTo(kinds, kind, { replies: 1 });
      }
      said = said ? { ...said, last: message } : { first: message, kind, last: message };
    }
    addTo(kinds, kind, measuresOf(entry));
  }
  return { kinds, ...(said && { said, before }), ...(elisions.length > 0 && { elides: true }) };
}

/** The measures of deltas, with or without the tokenizer. */
export const measureFacts: DeltaFacts<DeltaMeasure> = {
  name: 'measure',
  version: () => measureRules * 2 + (hasTokenizer() ? 1 : 0),
  make: measureDelta,
};
