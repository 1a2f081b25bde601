import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { asWritten, sumOfValues, type Value } from '../../../src/core/store/written.js';

const values = fc.array(
  fc.oneof(
    fc.constant(null),
    fc.integer({ min: 0, max: 2 ** 46 }),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }),
    fc.uint8Array({ minLength: 1, maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
  ),
  { minLength: 1, maxLength: 8 },
);

/** The row as it is found, text as its bytes, with one byte of one value another. */
function changed(row: readonly Value[], place: number, at: number, bits: number) {
  const found = row.map((value) =>
    typeof value === 'string' ? { utf8: Buffer.from(value) } : value instanceof Uint8Array ? Buffer.from(value) : value,
  );
  const value = found[place % row.length];
  if (value === null || value === undefined) return undefined;
  if (typeof value === 'number') return found.with(place % row.length, Number(BigInt(value) ^ (BigInt(bits) << BigInt((at % 5) * 8))));
  const bytes = value instanceof Buffer ? value : (value as { utf8: Buffer }).utf8;
  bytes[at % bytes.length] = (bytes[at % bytes.length] as number) ^ bits;
  return found;
}

describe('a row', () => {
  test('[S15] of which any one byte has changed is what was written again', () => {
    fc.assert(
      fc.property(values, fc.nat(), fc.nat(), fc.integer({ min: 1, max: 255 }), (row, place, at, bits) => {
        const found = changed(row, place, at, bits);
        if (found) expect(asWritten(found, sumOfValues(row))).toEqual(row);
      }),
      { numRuns: 60 },
    );
  });

  test('[S15] is as it is where the byte was of its sum', () => {
    const row = ['a title', 17, null];
    expect(asWritten(row, sumOfValues(row) ^ 0x00_40_00_00)).toEqual(row);
  });

  test('[S15] of which more has changed is not made up', () => {
    const row = ['a title', 17, null];
    expect(asWritten(['b tithe', 17, null], sumOfValues(row))).toBeUndefined();
    expect(asWritten(['a title', 17, null], 'no sum')).toBeUndefined();
  });
});
