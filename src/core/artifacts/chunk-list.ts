import type { ArtifactNo } from '../base/index.js';
import { blake3Of } from './hash.js';

/** A part of a larger object, which is an object itself. */
export interface Chunk {
  readonly no: ArtifactNo;
  readonly size: number;
}

const sumLength = 16;
const entryLength = 10;

/** The stored form of the list: six bytes of number and four of size for each chunk, then a checksum over list and hash. */
export function encodeChunks(chunks: readonly Chunk[], hash: Uint8Array): Buffer {
  const body = Buffer.alloc(chunks.length * entryLength);
  for (const [place, { no, size }] of chunks.entries()) {
    body.writeUIntBE(no, place * entryLength, 6);
    body.writeUInt32BE(size, place * entryLength + 6);
  }
  return Buffer.concat([body, checksum(body, hash)]);
}

/** The list; undefined if its checksum does not match the object with this hash. */
export function decodeChunks(stored: Uint8Array, hash: Uint8Array): Chunk[] | undefined {
  const whole = Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength);
  const body = whole.subarray(0, whole.length - sumLength);
  if (whole.length < sumLength || body.length % entryLength !== 0 || !checksum(body, hash).equals(whole.subarray(body.length))) return undefined;
  return Array.from({ length: body.length / entryLength }, (_, place) => ({
    no: body.readUIntBE(place * entryLength, 6) as ArtifactNo,
    size: body.readUInt32BE(place * entryLength + 6),
  }));
}

const checksum = (body: Uint8Array, hash: Uint8Array): Buffer => blake3Of(Buffer.concat([body, hash])).subarray(0, sumLength);
