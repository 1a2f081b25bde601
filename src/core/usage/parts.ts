// The parts of a window: what its entries measure, by kind. A call has the same parts from whichever branch it is seen.
import { decodeText, type EntryKey } from '../base/index.js';
import { kept, type ReadChain } from '../chain/index.js';
import { type PartKind, partKinds, type UsageContext, type UsagePart } from '../contract/index.js';
import type { ParsedEntry } from '../formats/index.js';
import { addKinds, addTo, type DeltaMeasure, type Kinds } from './delta-measures.js';
import { type Factors, plainFactors, sizeBy } from './fit.js';
import { statedIn } from './rows.js';
import { hasTokenizer, measuresOf } from './tokenizer.js';
import { partKindOf } from './window.js';

/** The tokens of one kind of content. */
export type Size = Pick<UsagePart, 'kind' | 'tokens'>;

/** The measures of a window by kind, and the message of its last reply, from which a later window starts. */
export interface WindowState {
  readonly kinds: Kinds;
  readonly message: string | null;
}

/** The measures of the entries in a window, to which entries are added in order. */
export type MeasuredWindow = ReturnType<typeof openWindow>;

/** A window without entries, or one that starts from a state. The results in that state cannot be replaced. */
export function openWindow(before: WindowState = { kinds: {}, message: null }) {
  let sums = addKinds({}, before.kinds);
  let { message } = before;
  const results = new Map<string, ParsedEntry[]>();
  const count = (entry: ParsedEntry, sign: 1 | -1): void => addTo(sums, partKindOf(entry), measuresOf(entry), sign);
  return {
    add(entry: ParsedEntry): void {
      const { role, messageId = null, toolCallId, kind } = entry;
      // The framing of a reply belongs to the assistant.
      if (role === 'assistant' && messageId !== message) {
        message = messageId;
        addTo(sums, partKindOf(entry), { replies: 1 });
      }
      count(entry, 1);
      if (toolCallId !== undefined && kind === 'tool_result') results.set(toolCallId, [...(results.get(toolCallId) ?? []), entry]);
    },
    /** Adds the entries of a whole delta. */
    addDelta({ kinds, said }: DeltaMeasure): void {
      addKinds(sums, kinds);
      if (!said) return;
      // The framing of a reply counts once, also if several deltas hold its parts.
      if (said.first === message) addTo(sums, said.kind, { replies: -1 });
      message = said.last;
    },
    /** What the entries of a delta before a reply add. Undefined if no reply with this key was measured. */
    measuredBefore({ before = [], said }: DeltaMeasure, reply: EntryKey): Kinds | undefined {
      const number = before.findIndex(({ key }) => key === reply);
      const found = before[number]?.kinds;
      // The framing of the first reply counts once, also if it began in the delta before.
      return found && number > 0 && said?.first === message ? addKinds({}, found, { [said.kind]: { replies: -1 } }) : found;
    },
    addMeasured: (measured: Kinds): void => void addKinds(sums, measured),
    /** Replaces the results of calls by a shorter text. */
    elide(toolCallIds: readonly string[], text: string): void {
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
    /** Empties the window, as a compaction does. */
    clear(): void {
      sums = {};
      results.clear();
      message = null;
    },
    /** What another window can go on from. */
    state: (): WindowState => ({ kinds: addKinds({}, sums), message }),
    /** The tokens of each kind, in the order in which bars draw them, with what else was sent; without factors, by the tokenizer's count. */
    sizes(factors: Factors = plainFactors, ...others: readonly Kinds[]): readonly Size[] {
      const all = others.length > 0 ? addKinds({}, sums, ...others) : sums;
      return partKinds.flatMap((kind): Size | [] => {
        const measures = all[kind];
        const tokens = measures ? sizeBy(factors, measures) : 0;
        return tokens > 0 ? { kind, tokens } : [];
      });
    },
  };
}

const bytesPerMeasures = 200;

/** The system prompt and tools that a recorded request contains. Many requests share them, and a text never changes. */
export function statedMeasures(chain: ReadChain, requestId: string | undefined): Kinds {
  const measures: Kinds = {};
  for (const [kind, artifact] of Object.entries(statedIn(chain, requestId)) as [PartKind, ReturnType<typeof statedIn>['system']][]) {
    if (artifact === null) continue;
    const measure = () => measuresOf({ role: 'system', kind: 'text', text: decodeText(chain.artifacts.read(artifact)) } as ParsedEntry);
    measures[kind] = kept(chain, 'stated', `${artifact} ${hasTokenizer()}`, '', measure, bytesPerMeasures);
  }
  return measures;
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
