import type { ByteRange } from '../base/index.js';

/** Chunk sizes in bytes: only the last chunk may be shorter than `min`, and none is longer than `max`. */
export const chunkSizes = { min: 16 * 1024, average: 64 * 1024, max: 256 * 1024 };

/** One random number for each byte value. They decide where cuts fall, so changing them ends sharing with stored chunks. */
const gear = Uint32Array.from({ length: 256 }, (_, byte) => spread(byte + 1));

function spread(seed: number): number {
  let x = Math.imul(seed, 0x9e3779b1) >>> 0;
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b) >>> 0;
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35) >>> 0;
  return (x ^ (x >>> 16)) >>> 0;
}

/** The highest `bits` bits: they depend on the largest number of earlier bytes. */
const highBits = (bits: number): number => (0xffffffff << (32 - bits)) >>> 0;

/** Cuts bytes by content (FastCDC, normalized). An insertion moves only nearby cuts, so similar objects share most of their chunks. */
export function chunksOf(bytes: Uint8Array): ByteRange[] {
  const bits = Math.round(Math.log2(chunkSizes.average));
  const [strict, easy] = [highBits(bits + 2), highBits(bits - 2)];
  const ranges: ByteRange[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = cutAfter(bytes, start, strict, easy);
    ranges.push({ start, end });
    start = end;
  }
  return ranges;
}

function cutAfter(bytes: Uint8Array, start: number, strict: number, easy: number): number {
  const { min, average, max } = chunkSizes;
  const end = Math.min(start + max, bytes.length);
  const middle = Math.min(start + average, end);
  let at = Math.min(start + min, end);
  let hash = 0;
  for (; at < middle; at++) {
    hash = ((hash << 1) + (gear[bytes[at] as number] as number)) | 0;
    if ((hash & strict) === 0) return at + 1;
  }
  for (; at < end; at++) {
    hash = ((hash << 1) + (gear[bytes[at] as number] as number)) | 0;
    if ((hash & easy) === 0) return at + 1;
  }
  return end;
}
