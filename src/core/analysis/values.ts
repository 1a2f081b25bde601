// The values of one column of a group of rows, as the pages of a Parquet file hold them. Values are encoded as they arrive, so that a group
// of 16,384 rows needs few objects.
import type { ViewColumnKind } from './views.js';

export type ParquetValue = string | number | null;

/** A column whose values turned out to be of another kind after some of them had been written. */
export class KindChanged extends Error {}

/** The values of a column in the encodings of Parquet. */
export interface TakenValues {
  /** One bit for each row: whether it has a value. */
  readonly levels: Uint8Array;
  /** The values, or if texts repeat, their numbers in the dictionary. */
  readonly values: Uint8Array;
  readonly dictionary?: { readonly words: Uint8Array; readonly count: number };
}

/** Collects the values of a column. Without a kind, the values decide: SQLite has types of values and none of columns. */
export function columnValues(given?: ViewColumnKind) {
  let kind = given;
  let store = kind === undefined ? undefined : storeOf(kind);
  let isTaken = false;
  const levels = levelBits();
  const widen = (value: string | number): Store => {
    const needed = typeof value === 'string' ? 'text' : Number.isInteger(value) ? 'count' : 'number';
    if (store && (kind === needed || kind === 'text' || needed === 'count')) return store;
    if (isTaken) throw new KindChanged();
    const before = store;
    kind = needed;
    store = storeOf(kind);
    for (const one of before?.all() ?? []) store.add(one);
    return store;
  };
  return {
    /** @throws KindChanged, only for a column whose kind was not given */
    add: (value: ParquetValue): void => {
      levels.add(value !== null);
      if (value !== null) (given !== undefined && store ? store : widen(value)).add(value);
    },
    /** Bytes of memory, about. */
    bytes: (): number => store?.bytes() ?? 0,
    /** The values since the last call. They are valid until the next value is added. */
    take: (): TakenValues => {
      isTaken ||= store !== undefined;
      return { levels: levels.take(), ...(store?.take() ?? { values: new Uint8Array() }) };
    },
    /** The given kind, else the kind of the values so far. */
    kind: (): ViewColumnKind => kind ?? 'text',
  };
}

/** The values of a column that are not null. */
interface Store {
  add(value: string | number): void;
  all(): Iterable<number>;
  bytes(): number;
  take(): Pick<TakenValues, 'values' | 'dictionary'>;
}

const storeOf = (kind: ViewColumnKind): Store => (kind === 'text' ? textStore() : numberStore(kind));

function levelBits() {
  let bits = new Uint8Array(64);
  let count = 0;
  let present = 0;
  return {
    add: (isPresent: boolean): void => {
      const place = count >> 3;
      if (place === bits.length) bits = longer(bits);
      if (isPresent) {
        bits[place] = (bits[place] as number) | (1 << (count & 7));
        present += 1;
      }
      count += 1;
    },
    take: (): Uint8Array => {
      const groups = Math.ceil(count / 8);
      // All alike are one run; else each row has its bit.
      const isAlike = present === 0 || present === count;
      const content = isAlike ? [...varint(count << 1), present > 0 ? 1 : 0] : [...varint((groups << 1) | 1)];
      const bytes = Buffer.alloc(4 + content.length + (isAlike ? 0 : groups));
      bytes.writeUInt32LE(bytes.length - 4);
      bytes.set(content, 4);
      if (!isAlike) bytes.set(bits.subarray(0, groups), 4 + content.length);
      bits.fill(0);
      count = 0;
      present = 0;
      return bytes;
    },
  };
}

const wide = 2 ** 32;

function numberStore(kind: ViewColumnKind): Store {
  let numbers = new Float64Array(64);
  let count = 0;
  return {
    add: (value) => {
      if (count === numbers.length) numbers = longer(numbers);
      numbers[count++] = value as number;
    },
    all: () => numbers.subarray(0, count),
    bytes: () => count * 8,
    take: () => {
      const all = numbers.subarray(0, count);
      count = 0;
      return { values: kind === 'yes-no' ? bitsOf(all) : kind === 'number' ? new Uint8Array(all.slice().buffer) : integersOf(all) };
    },
  };
}

function bitsOf(all: Float64Array): Uint8Array {
  const bytes = new Uint8Array(Math.ceil(all.length / 8));
  for (let at = 0; at < all.length; at++) if (all[at] !== 0) bytes[at >> 3] = (bytes[at >> 3] as number) | (1 << (at & 7));
  return bytes;
}

/** Integers of 64 bits, the low half first. Every system that Node runs on orders bytes so. */
function integersOf(all: Float64Array): Uint8Array {
  const halves = new Int32Array(all.length * 2);
  for (let at = 0; at < all.length; at++) {
    const value = all[at] as number;
    const high = Math.floor(value / wide);
    halves[at * 2] = value - high * wide;
    halves[at * 2 + 1] = high;
  }
  return new Uint8Array(halves.buffer);
}

/** Values after which texts that rarely repeat are no longer looked up. */
const enoughToTell = 8_192;

/** Texts, each once with numbers in a dictionary, until most turn out to be different. Then the column has no dictionary in later groups either. */
function textStore(): Store {
  let known: Map<string, number> | undefined = new Map();
  let numbers = new Int32Array(64);
  let count = 0;
  let size = 0;
  let last = { value: '', number: 0 };
  const plain = plainTexts();
  const rarelyRepeats = (words: ReadonlyMap<string, number>): boolean => words.size * 2 > count;
  const write = (words: ReadonlyMap<string, number>): void => {
    const all = [...words.keys()];
    for (let at = 0; at < count; at++) plain.add(all[numbers[at] as number] as string);
  };
  return {
    add: (given) => {
      const value = typeof given === 'string' ? given : String(given);
      if (!known) {
        plain.add(value);
        return;
      }
      // Neighboring rows often have the same text, and comparing two takes less than finding one.
      if (count === 0 || value !== last.value) {
        let number = known.get(value);
        if (number === undefined) {
          number = known.size;
          known.set(value, number);
          size += value.length;
        }
        last = { value, number };
      }
      if (count === numbers.length) numbers = longer(numbers);
      numbers[count++] = last.number;
      if (count !== enoughToTell || !rarelyRepeats(known)) return;
      write(known);
      known = undefined;
    },
    all: () => [],
    bytes: () => (known ? size + count * 4 : plain.size()),
    take: () => {
      const words = known;
      if (words && (count === 0 || rarelyRepeats(words))) write(words);
      const taken =
        words && count > 0 && !rarelyRepeats(words)
          ? { values: packed(numbers.subarray(0, count), words.size), dictionary: { words: encodeWords(words), count: words.size } }
          : { values: plain.take() };
      known = words && new Map();
      [count, size] = [0, 0];
      return taken;
    },
  };
}

function encodeWords(words: ReadonlyMap<string, number>): Uint8Array {
  const plain = plainTexts();
  for (const word of words.keys()) plain.add(word);
  return plain.take();
}

/** Texts in UTF-8, each after its length. What is taken is valid until the next text is added. */
function plainTexts() {
  let bytes = Buffer.allocUnsafeSlow(256);
  let at = 0;
  return {
    add: (value: string): void => {
      const most = at + 4 + value.length * 3;
      if (most > bytes.length) {
        const longer = Buffer.allocUnsafeSlow(Math.max(bytes.length * 2, most));
        bytes.copy(longer, 0, 0, at);
        bytes = longer;
      }
      const written = bytes.write(value, at + 4);
      bytes.writeUInt32LE(written, at);
      at += 4 + written;
    },
    size: () => at,
    take: (): Uint8Array => {
      const taken = bytes.subarray(0, at);
      at = 0;
      return taken;
    },
  };
}

/** Numbers below `count`, each in as few bits as the largest needs; of a single word, one run. */
function packed(numbers: Int32Array, count: number): Uint8Array {
  const width = Math.max(1, 32 - Math.clz32(count - 1));
  if (count === 1) return Uint8Array.from([width, ...varint(numbers.length << 1), 0]);
  const groups = Math.ceil(numbers.length / 8);
  const head = varint((groups << 1) | 1);
  const bytes = new Uint8Array(1 + head.length + groups * width);
  bytes[0] = width;
  bytes.set(head, 1);
  // A group has at most 16,384 rows, so at most 7 + 14 bits wait here.
  let [place, waiting, bits] = [1 + head.length, 0, 0];
  for (let at = 0; at < numbers.length; at++) {
    waiting |= (numbers[at] as number) << bits;
    for (bits += width; bits >= 8; bits -= 8) {
      bytes[place++] = waiting;
      waiting >>>= 8;
    }
  }
  if (bits > 0) bytes[place] = waiting;
  return bytes;
}

function varint(value: number): readonly number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest >>>= 7) bytes.push((rest & 127) | 128);
  return [...bytes, rest];
}

function longer<Numbers extends Uint8Array | Int32Array | Float64Array>(numbers: Numbers): Numbers {
  const all = new (numbers.constructor as new (length: number) => Numbers)(numbers.length * 2);
  all.set(numbers);
  return all;
}
