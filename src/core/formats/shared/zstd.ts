import { zstdDecompressSync } from 'node:zlib';
import { StemmaError } from '../../base/index.js';
import { bufferOf } from './line-lumps.js';

/** Files have one frame, or one for each of their parts. Many tiny ones would take long. */
const maxFrames = 5_000;
/** A frame needs at least this many bytes. */
const leastBytes = 9;

/** Whether a frame of Zstandard begins at these bytes, or a frame that readers skip. */
const isFrame = (bytes: Buffer): boolean =>
  bytes.length >= leastBytes && (bytes.readUInt32LE(0) === 0xfd2fb528 || (bytes.readUInt32LE(0) & 0xfffffff0) >>> 0 === 0x184d2a50);

/** The number of bytes of the first frame (RFC 8878, 3.1); more than there are if it was cut off. */
function frameLength(bytes: Buffer): number {
  if (bytes.length < leastBytes) return leastBytes;
  if (bytes.readUInt32LE(0) !== 0xfd2fb528) return 8 + bytes.readUInt32LE(4);
  const descriptor = bytes.readUInt8(4);
  const isSingle = (descriptor & 0x20) !== 0;
  const sizeBytes = [isSingle ? 1 : 0, 2, 4, 8][descriptor >> 6] as number;
  let at = 5 + (isSingle ? 0 : 1) + ([0, 1, 2, 4][descriptor & 3] as number) + sizeBytes;
  for (let isLast = false; !isLast; ) {
    if (at + 3 > bytes.length) return at + 3;
    const block = bytes.readUIntLE(at, 3);
    isLast = (block & 1) === 1;
    const isRepeat = ((block >> 1) & 3) === 1;
    at += 3 + (isRepeat ? 1 : block >> 3);
  }
  return at + ((descriptor & 4) !== 0 ? 4 : 0);
}

/**
 * The frames of Zstandard at the beginning of bytes, at least one. Node's own function stops after the first one and says nothing (its issue
 * 64741); in Node 22, it says nothing of a frame that was cut off either. `isCut`: the last bytes of the frame are missing.
 * @throws CORRUPT for too many frames
 */
export function* zstdFrames(packed: Uint8Array): Generator<{ readonly bytes: Buffer; readonly isCut: boolean }> {
  let rest = bufferOf(packed);
  for (let count = 0; count === 0 || isFrame(rest); count++) {
    if (count >= maxFrames) throw new StemmaError('CORRUPT', `it is compressed in more than ${maxFrames} frames, and is not read`);
    const length = frameLength(rest);
    yield { bytes: rest.subarray(0, length), isCut: length > rest.length };
    rest = rest.subarray(length);
  }
}

/** Decompresses all frames, up to `maxOutputLength`. @throws Node's errors, also for a cut frame without `finishFlush`; CORRUPT for too many */
export function unzstd(packed: Uint8Array, options: { readonly maxOutputLength: number; readonly finishFlush?: number }): Buffer {
  const parts: Buffer[] = [];
  let room = options.maxOutputLength;
  for (const { bytes, isCut } of zstdFrames(packed)) {
    const part = zstdDecompressSync(bytes, { ...options, maxOutputLength: Math.max(1, room) });
    if (isCut && options.finishFlush === undefined) throw new Error('unexpected end of file');
    parts.push(part);
    room -= part.length;
  }
  return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
}
