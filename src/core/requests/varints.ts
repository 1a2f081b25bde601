/** Whole numbers, small ones in few bytes: how lists of messages and places in pages are stored. */
export interface VarintWriter {
  /** A number from 0 to 2^53. */
  natural(value: number): void;
  /** Any safe integer; small ones of either sign are short. */
  integer(value: number): void;
  bytes(): Buffer;
}

export function varintWriter(): VarintWriter {
  const out: number[] = [];
  const natural = (value: number): void => {
    let rest = value;
    while (rest >= 0x80) {
      out.push((rest % 0x80) | 0x80);
      rest = Math.floor(rest / 0x80);
    }
    out.push(rest);
  };
  return { natural, integer: (value) => natural(value < 0 ? -2 * value - 1 : 2 * value), bytes: () => Buffer.from(out) };
}

export interface VarintReader {
  natural(): number;
  integer(): number;
  atEnd(): boolean;
}

export function varintReader(bytes: Uint8Array, from = 0, to = bytes.length): VarintReader {
  let at = from;
  const natural = (): number => {
    let value = 0;
    let scale = 1;
    for (;;) {
      const byte = bytes[at++];
      if (byte === undefined || at > to) throw new RangeError('a stored number has no end');
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 0x80;
    }
  };
  return {
    natural,
    integer: () => {
      const value = natural();
      return value % 2 ? -(value + 1) / 2 : value / 2;
    },
    atEnd: () => at >= to,
  };
}

/** Numbers that mostly go up by one, each as its distance from the one before. */
export function packNumbers(numbers: readonly number[]): Buffer {
  const out = varintWriter();
  let before = 0;
  for (const number of numbers) {
    out.integer(number - before);
    before = number;
  }
  return out.bytes();
}

export function unpackNumbers(bytes: Uint8Array): number[] {
  const reader = varintReader(bytes);
  const numbers: number[] = [];
  let before = 0;
  while (!reader.atEnd()) {
    before += reader.integer();
    numbers.push(before);
  }
  return numbers;
}
