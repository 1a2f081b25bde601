import { zstdDecompressSync } from 'node:zlib';
import { StemmaError } from '../../base/index.js';

/** Files have one frame, or one for each of their parts. Many tiny ones would take long. */
const maxFrames = 5_000;
/** A frame needs at least this many bytes. */
const leastBytes = 9;

/** Whether a frame of Zstandard begins at these bytes, or a frame that readers skip. */
const isFrame = (bytes: Buffer): boolean =>
  bytes.length >= leastBytes && (bytes.readUInt32LE(0) === 0xfd2fb528 || (bytes.readUInt32LE(0) & 0xfffffff0) >>> 0 === 0x184d2a50);

/**
 * Decompresses every frame of Zstandard, up to `maxOutputLength` bytes in all. Node's own function stops after the first one and says nothing
 * (its issue 64741).
 * @throws the errors of Node; CORRUPT for too many frames
 */
export function unzstd(packed: Uint8Array, options: { readonly maxOutputLength: number; readonly finishFlush?: number }): Buffer {
  const parts: Buffer[] = [];
  let room = options.maxOutputLength;
  let rest = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength);
  do {
    if (parts.length >= maxFrames) throw new StemmaError('CORRUPT', `it is compressed in more than ${maxFrames} frames, and is not read`);
    const made = zstdDecompressSync(rest, { ...options, maxOutputLength: Math.max(1, room), info: true });
    const { buffer, engine } = made as unknown as { readonly buffer: Buffer; readonly engine: { readonly bytesWritten: number } };
    parts.push(buffer);
    room -= buffer.length;
    rest = rest.subarray(engine.bytesWritten);
  } while (isFrame(rest));
  return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
}
