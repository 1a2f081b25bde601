// The facts of fillers as numbers, which the list of a long context adds up and sorts without reading the facts themselves.
import { numberOf } from '../base/index.js';
import { describe, type FillerFact, rowName } from './filler-facts.js';
import { numberList } from './number-list.js';

/**
 * For each visible entry: the number of its key; its tokens; the number of the file or the group with which it counts, or 0 if it counts alone; and the
 * number of the digest of a long text, otherwise 0. `given`: the numbers of calls and of messages with an attached file that are here; `missed`: those
 * that entries name and that are not here.
 */
const columnNames = ['keys', 'tokens', 'rows', 'digests', 'given', 'missed'] as const;
type Columns = Readonly<Record<(typeof columnNames)[number], Float64Array>>;
const makeColumns = (make: (name: (typeof columnNames)[number], at: number) => Float64Array): Columns =>
  Object.fromEntries(columnNames.map((name, at) => [name, make(name, at)])) as Columns;

/** The visible entries of commits in a row. */
export interface FillerColumns extends Columns {
  /** The beginnings of system prompts, and their places. */
  readonly prompts: readonly (readonly [place: number, beginning: string])[];
  /** The tools that were called. */
  readonly used: readonly string[];
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
    keys: Float64Array.from(facts, ({ key }) => numberOf(key)),
    tokens: Float64Array.from(facts, ({ tokens }) => tokens),
    rows: Float64Array.from(describe(facts), (filler) => {
      const name = rowName(filler);
      return name === undefined ? 0 : numberOf(name);
    }),
    digests: Float64Array.from(facts, ({ digest }) => (digest === undefined ? 0 : numberOf(digest))),
    prompts: facts.flatMap(({ prompt }, place) => (prompt === undefined ? [] : [[place, prompt] as const])),
    used: [...new Set(facts.flatMap(({ does, tool }) => (does && tool !== undefined ? [tool] : [])))],
    given: Float64Array.from(given),
    missed: Float64Array.from(missed),
  };
}

/** Whether no entry of one of these lists needs another list to be described. */
export function areApart(lists: readonly FillerColumns[]): boolean {
  const given = numberList(lists.reduce((sum, columns) => sum + columns.given.length, 0));
  return lists.every((columns) => {
    const isApart = [columns.given, columns.missed].every((names) => names.every((name) => given.find(name) < 0));
    for (const name of columns.given) given.add(name);
    return isApart;
  });
}

/** The columns of lists that are apart as those of one, and the place of the first entry of each. */
export function joinColumns(lists: readonly FillerColumns[]): [FillerColumns, number[]] {
  let entries = 0;
  const starts = lists.map(({ keys }) => {
    entries += keys.length;
    return entries - keys.length;
  });
  return [
    {
      ...makeColumns((name) => Float64Array.from(lists.flatMap((columns) => [...columns[name]]))),
      prompts: lists.flatMap(({ prompts }, at) => prompts.map(([place, text]) => [place + (starts[at] as number), text] as const)),
      used: [...new Set(lists.flatMap(({ used }) => used))],
    },
    starts,
  ];
}

const bytesPerNumber = 8;

/** Columns and what is known beside them, as bytes: all numbers, what is left as JSON, and its length. */
export function packColumns(columns: FillerColumns, beside: object): Uint8Array {
  const { prompts, used } = columns;
  const numbers = columnNames.map((name) => new Uint8Array(columns[name].buffer, columns[name].byteOffset, columns[name].byteLength));
  const rest = Buffer.from(JSON.stringify({ prompts, used, lengths: columnNames.map((name) => columns[name].length), ...beside }));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(rest.length);
  return Buffer.concat([...numbers, rest, length]);
}

/** The columns that `packColumns` made bytes of, and what was beside them. @throws for other bytes. */
export function unpackColumns<Beside extends object>(bytes: Uint8Array): FillerColumns & Beside {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = view.length - 4;
  const { lengths, ...rest } = JSON.parse(view.toString('utf8', end - view.readUInt32LE(end), end)) as Beside &
    Pick<FillerColumns, 'prompts' | 'used'> & { readonly lengths: readonly number[] };
  // The numbers of a list in memory begin at a multiple of 8.
  const numbers = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + lengths.reduce((sum, length) => sum + length, 0) * bytesPerNumber);
  let from = 0;
  const columns = makeColumns((_, at) => {
    const part = new Float64Array(numbers, from * bytesPerNumber, lengths[at]);
    from += part.length;
    return part;
  });
  return { ...rest, ...columns } as FillerColumns & Beside;
}
