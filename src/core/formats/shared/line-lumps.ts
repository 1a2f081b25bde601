import type { FileBytes } from '../lines.js';

const newline = 0x0a;

/** A view of the bytes as a Buffer, without a copy. */
export const bufferOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

interface Lump {
  readonly buffer: Buffer;
  readonly base: number;
  /** Asks for the rest from a line on, together with more lines after it. False at the end of the file. */
  readonly again: (start: number) => boolean;
}

/** The file in parts of whole lines of about `part` bytes. A file in memory is one part. */
export function* wholeLines(file: FileBytes, part: number, begin: number): Generator<Lump> {
  if (file instanceof Uint8Array) return yield { buffer: bufferOf(file).subarray(begin), base: begin, again: () => false };
  let length = part;
  for (let base = begin; base < file.length; ) {
    const buffer = bufferOf(file.subarray(base, Math.min(base + length, file.length)));
    const isLast = base + buffer.length === file.length;
    const end = isLast ? buffer.length : buffer.lastIndexOf(newline) + 1;
    let from: number | undefined;
    const again = (start: number): boolean => {
      if (!isLast) from = start;
      return !isLast;
    };
    if (end > 0) yield { buffer: buffer.subarray(0, end), base, again };
    length = end > 0 && from === undefined ? part : length * 2;
    base += from ?? end;
  }
}
