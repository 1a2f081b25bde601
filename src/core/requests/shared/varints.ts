/** Packs numbers that mostly grow by one, such as message lists: distances in seven bits a byte, sign lowest, about a byte a number. */
export function packNumbers(numbers: readonly number[]): Buffer {
  const bytes: number[] = [];
  let before = 0;
  for (const number of numbers) {
    const step = number - before;
    before = number;
    let rest = step < 0 ? -2 * step - 1 : 2 * step;
    while (rest >= 0x80) {
      bytes.push((rest % 0x80) | 0x80);
      rest = Math.floor(rest / 0x80);
    }
    bytes.push(rest);
  }
  return Buffer.from(bytes);
}

/** Reads numbers that `packNumbers` wrote. */
export function unpackNumbers(bytes: Uint8Array): number[] {
  const numbers: number[] = [];
  let before = 0;
  let value = 0;
  let scale = 1;
  for (const byte of bytes) {
    value += (byte & 0x7f) * scale;
    scale *= 0x80;
    if (byte >= 0x80) continue;
    before += value % 2 ? -(value + 1) / 2 : value / 2;
    numbers.push(before);
    value = 0;
    scale = 1;
  }
  return numbers;
}
