import { crc32 } from 'node:zlib';

/** A value as the database has it; text may be given as its bytes, where these may not be text any more. */
export type Value = null | number | bigint | string | Uint8Array;
export interface Text {
  readonly utf8: Uint8Array;
}

/** What is summed of a row: its values as one JSON text. */
export const sumOfValues = (values: readonly Value[]): number => crc32(JSON.stringify(values.map(asText)));

/** Of bytes the letters that they are in Latin-1. */
export const asText = (value: Value): null | number | string => {
  if (typeof value === 'bigint') return String(value);
  return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('latin1') : value;
};

/** So many bytes of a row are tried as every other byte; of a longer one only single bits are turned. */
const shortRow = 1_024;

/**
 * The values as they were written, where one byte of one of them, or of the sum, has changed since. Undefined where more has. Of each value
 * what it may have been is tried: the sum says which it was.
 */
export function asWritten(found: readonly (Value | Text)[], sum: unknown): Value[] | undefined {
  const values = found.map((value) => (isText(value) ? textOf(value) : value));
  const now = sumOfValues(values);
  if (typeof sum !== 'number') return undefined;
  if (now === sum || isByteAway(now, sum)) return values;
  const parts = values.map((value) => JSON.stringify(asText(value)));
  const changes = changesFor(parts.reduce((length, part) => length + part.length, 0));
  for (const [place, value] of found.entries()) {
    const before = crc32(
      `[${parts
        .slice(0, place)
        .map((part) => `${part},`)
        .join('')}`,
    );
    const after = `${parts
      .slice(place + 1)
      .map((part) => `,${part}`)
      .join('')}]`;
    for (const other of byteAway(value, changes))
      if (crc32(after, crc32(JSON.stringify(asText(other)), before)) === sum) return values.with(place, other);
  }
  return undefined;
}

export const textOf = ({ utf8 }: Text): string => Buffer.from(utf8).toString();
export const isText = (value: Value | Text): value is Text => value !== null && typeof value === 'object' && 'utf8' in value;

const changesFor = (length: number): number[] =>
  length <= shortRow ? [...Array(255).keys()].map((bits) => bits + 1) : [1, 2, 4, 8, 16, 32, 64, 128];

/** Whether two numbers differ in no more than one byte. */
export const isByteAway = (a: number, b: number): boolean => [0, 8, 16, 24].some((shift) => ((a ^ b) & ~(0xff << shift)) === 0);

function* byteAway(value: Value | Text, changes: readonly number[]): Generator<Value> {
  if (value === null) return;
  if (typeof value === 'number' || typeof value === 'bigint') yield* numbersAway(value, changes);
  else if (isText(value) || typeof value === 'string') {
    const bytes = Buffer.from(isText(value) ? value.utf8 : value);
    for (const other of bytesAway(bytes, changes)) yield other.toString();
  } else yield* bytesAway(Buffer.from(value), changes);
}

/** The same bytes each time, with another one changed: take what is needed of them before the next. */
function* bytesAway(bytes: Buffer, changes: readonly number[]): Generator<Buffer> {
  for (const [at, byte] of bytes.entries()) {
    for (const change of changes) {
      bytes[at] = byte ^ change;
      yield bytes;
    }
    bytes[at] = byte;
  }
}

/** Widths of whole numbers in a row, in bits. */
const widths = [8, 16, 24, 32, 48, 64];

function* numbersAway(value: number | bigint, changes: readonly number[]): Generator<number> {
  if (!Number.isInteger(Number(value))) return;
  const whole = BigInt(value);
  for (const width of widths.filter((each) => BigInt.asIntN(each, whole) === whole))
    for (let shift = 0; shift < width; shift += 8)
      for (const change of changes) yield Number(BigInt.asIntN(width, BigInt.asUintN(width, whole) ^ (BigInt(change) << BigInt(shift))));
}
