// The parts of a window: what its entries measure, by kind. A call has the same parts from whichever branch it is seen.
import { type ArtifactNo, textOf } from '../base/index.js';
import type { ReadChain } from '../chain/index.js';
import { type PartKind, partKinds, type UsageContext, type UsagePart } from '../contract/index.js';
import type { ParsedEntry } from '../formats/index.js';
import type { DeltaMeasure } from './delta-measures.js';
import { type Factors, sizeBy } from './fit.js';
import { hasTokenizer, type Measures, measuresOf } from './tokenizer.js';
import { partKindOf } from './window.js';

/** The tokens of one kind of content. */
export interface Size {
  readonly kind: PartKind;
  readonly tokens: number;
}

/** The measures of one kind of content. */
export interface Measured {
  readonly kind: PartKind;
  readonly measures: Measures;
}

/** The measures of the entries in a window, to which entries are added in order. */
export interface MeasuredWindow {
  add(entry: ParsedEntry): void;
  /** Adds the entries of a whole delta. */
  addDelta(delta: DeltaMeasure): void;
  /** Replaces the results of calls by a shorter text. */
  elide(toolCallIds: readonly string[], text: string): void;
  /** Empties the window, as a compaction does. */
  clear(): void;
  /** The tokens of each kind, in the order in which bars draw them; without factors, by the tokenizer's count. */
  sizes(factors: Factors | undefined, others?: readonly Measured[]): readonly Size[];
}

/** A window without entries. */
export function emptyWindow(): MeasuredWindow {
  const sums = new Map<PartKind, Measures>();
  const results = new Map<string, ParsedEntry[]>();
  let message: string | undefined;
  const count = (entry: ParsedEntry, sign: 1 | -1): void => addTo(sums, partKindOf(entry), measured(entry), sign);
  return {
    add(entry) {
      // The framing of a reply belongs to the assistant.
      if (entry.role === 'assistant' && entry.messageId !== message) {
        message = entry.messageId;
        addTo(sums, partKindOf(entry), { replies: 1 }, 1);
      }
      count(entry, 1);
      const { toolCallId, kind } = entry;
      if (toolCallId !== undefined && kind === 'tool_result') results.set(toolCallId, [...(results.get(toolCallId) ?? []), entry]);
    },
    addDelta({ kinds, said }) {
      for (const [kind, measures] of Object.entries(kinds) as [PartKind, Measures][]) addTo(sums, kind, measures, 1);
      if (!said) return;
      // The framing of a reply counts once, also if several deltas hold its parts.
      if (said.first === (message ?? null)) addTo(sums, said.kind, { replies: 1 }, -1);
      message = said.last ?? undefined;
    },
    elide(toolCallIds, text) {
      for (const id of toolCallIds) {
        const shortened = (results.get(id) ?? []).map((entry): ParsedEntry => {
          const short = { ...entry, text };
          count(entry, -1);
          count(short, 1);
          return short;
        });
        if (shortened.length > 0) results.set(id, shortened);
      }
    },
    clear() {
      sums.clear();
      results.clear();
      message = undefined;
    },
    sizes(factors, others = []) {
      const all = new Map([...sums].map(([kind, measures]) => [kind, { ...measures }] as const));
      for (const { kind, measures } of others) addTo(all, kind, measures, 1);
      return partKinds.flatMap((kind): Size | [] => {
        const measures = all.get(kind);
        const tokens = measures ? (factors ? sizeBy(factors, measures) : plainSize(measures)) : 0;
        return tokens > 0 ? { kind, tokens } : [];
      });
    },
  };
}

function addTo(sums: Map<PartKind, Measures>, kind: PartKind, measures: Measures, sign: 1 | -1): void {
  const sum = sums.get(kind) ?? {};
  for (const [name, size] of Object.entries(measures) as [keyof Measures, number][]) sum[name] = (sum[name] ?? 0) + sign * size;
  sums.set(kind, sum);
}

/** Measures of entries that were read before, because a history is measured again for each of its views. */
const known = new WeakMap<ParsedEntry, { readonly isExact: boolean; readonly measures: Measures }>();

function measured(entry: ParsedEntry): Measures {
  const isExact = hasTokenizer();
  const before = known.get(entry);
  if (before?.isExact === isExact) return before.measures;
  const measures = measuresOf(entry);
  known.set(entry, { isExact, measures });
  return measures;
}

/** Without calibration, every measure counts with the factor of the tokenizer. */
const plainSize = (sizes: Measures): number =>
  Object.entries(sizes).reduce((sum, [name, size]) => sum + (name === 'calls' || name === 'results' || name === 'replies' ? 0 : size), 0);

/** The measures of texts that recorded requests share. A text never changes. */
const stated = new WeakMap<ReadChain, Map<string, Measures>>();

/** The system prompt and tools that a recorded request contains. */
export function statedMeasures(chain: ReadChain, requestId: string | undefined): Measured[] {
  if (requestId === undefined) return [];
  const row = chain.db.one<{ system: ArtifactNo | null; tools: ArtifactNo | null }>(
    'SELECT s.system, s.tools FROM request r JOIN requestShape s ON s.no = r.shape WHERE r.project = ? AND r.requestId = ?',
    chain.project,
    requestId,
  );
  const texts = stated.get(chain) ?? new Map<string, Measures>();
  stated.set(chain, texts);
  return (['system', 'tools'] as const).flatMap((kind): Measured | [] => {
    const artifact = row?.[kind];
    if (artifact == null) return [];
    const name = `${artifact} ${hasTokenizer()}`;
    const measures = texts.get(name) ?? measuresOf({ role: 'system', kind: 'text', text: textOf(chain.artifacts.read(artifact)) } as ParsedEntry);
    texts.set(name, measures);
    return { kind, measures };
  });
}

/** Divides a counted total into parts. Estimates above the total are scaled down; below it, the rest counts as not recorded. */
export function partsOf(sizes: readonly Size[], counted: number | null, basis: UsagePart['basis']): Pick<UsageContext, 'parts' | 'notRecorded'> {
  const estimated = sizes.reduce((sum, { tokens }) => sum + tokens, 0);
  const scale = counted !== null && estimated > counted ? counted / estimated : 1;
  let before = 0;
  let exact = 0;
  // Rounding the running sums keeps the total exact.
  const parts = sizes.map(({ kind, tokens }): UsagePart => {
    exact += tokens * scale;
    const upTo = Math.round(exact);
    const part = { kind, tokens: upTo - before, basis };
    before = upTo;
    return part;
  });
  return { parts, notRecorded: counted === null ? null : counted - before };
}
