// The parts of a window: what its entries measure, by kind. A call has the same parts from whichever branch it is seen.
import { type ArtifactNo, decodeText, type EntryKey } from '../base/index.js';
import { kept, type ReadChain } from '../chain/index.js';
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

/** The measures of a window by kind, and the message of its last reply: what a window goes on from. */
export interface WindowState {
  readonly kinds: Partial<Record<PartKind, Measures>>;
  readonly message: string | null;
}

/** The measures of the entries in a window, to which entries are added in order. */
export interface MeasuredWindow {
  add(entry: ParsedEntry): void;
  /** Adds the entries of a whole delta. */
  addDelta(delta: DeltaMeasure): void;
  /** What the entries of a delta before a reply add. Undefined if no reply with this key was measured. */
  measuredBefore(delta: DeltaMeasure, reply: EntryKey): readonly Measured[] | undefined;
  /** Adds measures. */
  addMeasured(measured: readonly Measured[]): void;
  /** Replaces the results of calls by a shorter text. */
  elide(toolCallIds: readonly string[], text: string): void;
  /** Empties the window, as a compaction does. */
  clear(): void;
  /** The tokens of each kind, in the order in which bars draw them; without factors, by the tokenizer's count. */
  sizes(factors: Factors | undefined, others?: readonly Measured[]): readonly Size[];
  /** What another window can go on from. */
  state(): WindowState;
}

/** A window without entries, or one that goes on from a state. The results in that state cannot be replaced. */
export function openWindow({ kinds, message: said }: WindowState = { kinds: {}, message: null }): MeasuredWindow {
  const sums = new Map((Object.entries(kinds) as [PartKind, Measures][]).map(([kind, measures]) => [kind, { ...measures }] as const));
  const results = new Map<string, ParsedEntry[]>();
  let message = said ?? undefined;
  const count = (entry: ParsedEntry, sign: 1 | -1): void => addTo(sums, partKindOf(entry), measuresOf(entry), sign);
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
    measuredBefore({ before = [], said }, reply) {
      const number = before.findIndex(({ key }) => key === reply);
      const found = before[number];
      if (!found) return undefined;
      const measured = (Object.entries(found.kinds) as [PartKind, Measures][]).map(([kind, measures]): Measured => ({ kind, measures }));
      // The framing of the first reply counts once, also if it began in the delta before.
      const goesOn = number > 0 && said?.first === (message ?? null);
      return goesOn ? [...measured, { kind: said.kind, measures: { replies: -1 } }] : measured;
    },
    addMeasured(measured) {
      for (const { kind, measures } of measured) addTo(sums, kind, measures, 1);
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
    state: () => ({ kinds: Object.fromEntries([...sums].map(([kind, measures]) => [kind, { ...measures }])), message: message ?? null }),
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

/** Without calibration, every measure counts with the factor of the tokenizer. */
const plainSize = (sizes: Measures): number =>
  Object.entries(sizes).reduce((sum, [name, size]) => sum + (name === 'calls' || name === 'results' || name === 'replies' ? 0 : size), 0);

/** The number of bytes that measures take in memory, about. */
const bytesPerMeasures = 200;

/** The system prompt and tools that a recorded request contains. Many requests share them, and a text never changes. */
export function statedMeasures(chain: ReadChain, requestId: string | undefined): Measured[] {
  if (requestId === undefined) return [];
  const row = chain.db.one<{ system: ArtifactNo | null; tools: ArtifactNo | null }>(
    'SELECT s.system, s.tools FROM request r JOIN requestShape s ON s.no = r.shape WHERE r.project = ? AND r.requestId = ?',
    chain.project,
    requestId,
  );
  return (['system', 'tools'] as const).flatMap((kind): Measured | [] => {
    const artifact = row?.[kind];
    if (artifact == null) return [];
    const measures = kept(
      chain,
      'stated',
      `${artifact} ${hasTokenizer()}`,
      '',
      () => measuresOf({ role: 'system', kind: 'text', text: decodeText(chain.artifacts.read(artifact)) } as ParsedEntry),
      () => bytesPerMeasures,
    );
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
