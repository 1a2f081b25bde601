import type { ArtifactNo, ByteRange } from '../base/index.js';
import type { WriteChain } from '../chain/index.js';
import type { FileBytes, PlannedCommit } from '../formats/index.js';
import type { StoredRange } from '../requests/index.js';
import type { SourcePiece } from './sources.js';

/** A piece of the file and its offset in the file. */
export interface PlacedPiece extends SourcePiece {
  readonly at: number;
}

/** Stores the side data of a file as one object, or as several if it is too large for memory. */
export function storeSide(chain: WriteChain, bytes: FileBytes, side: readonly ByteRange[]): PlacedPiece[] {
  return sideObjects(side).flatMap((ranges) => {
    const { no } = chain.artifacts.put(joined(bytes, ranges), { contentType: 'application/octet-stream', bulk: true });
    return piecesIn(no, ranges);
  });
}

const maxSideBytes = 16 * 1024 * 1024;

/** The ranges that go into one object each. */
export function sideObjects(side: readonly ByteRange[]): ByteRange[][] {
  const objects: ByteRange[][] = [];
  let size = maxSideBytes;
  for (const range of side)
    for (let { start } = range; start < range.end; ) {
      if (size >= maxSideBytes) {
        objects.push([]);
        size = 0;
      }
      const end = Math.min(range.end, start + maxSideBytes - size);
      objects.at(-1)?.push({ start, end });
      size += end - start;
      start = end;
    }
  return objects;
}

/** Divides side data into the pieces that stored model calls contain already, and the other ranges. */
export function splitSide(side: readonly ByteRange[], stored: readonly StoredRange[]): { own: PlacedPiece[]; others: ByteRange[] } {
  const own: PlacedPiece[] = [];
  const others: ByteRange[] = [];
  let next = 0;
  for (const range of side) {
    let at = range.start;
    for (; next < stored.length && (stored[next] as StoredRange).at < range.end; next += 1) {
      const piece = stored[next] as StoredRange;
      if (piece.at < at || piece.at + piece.length > range.end) continue;
      if (piece.at > at) others.push({ start: at, end: piece.at });
      own.push(piece);
      at = piece.at + piece.length;
    }
    if (at < range.end) others.push({ start: at, end: range.end });
  }
  return { own, others };
}

/** Merges ranges that follow each other without a gap. */
export function contiguous(ranges: readonly ByteRange[]): ByteRange[] {
  const result: { start: number; end: number }[] = [];
  for (const { start, end } of ranges) {
    const last = result.at(-1);
    if (last?.end === start) last.end = end;
    else result.push({ start, end });
  }
  return result;
}

/** Joins the bytes of the ranges. The result may be valid only until the file's next bytes are read. */
export function joined(bytes: FileBytes, ranges: readonly ByteRange[]): Uint8Array {
  const [first, ...others] = ranges;
  if (!first) return new Uint8Array();
  if (!others.length) return bytes.subarray(first.start, first.end);
  const whole = Buffer.allocUnsafe(ranges.reduce((size, { start, end }) => size + end - start, 0));
  let at = 0;
  for (const { start, end } of ranges) {
    whole.set(bytes.subarray(start, end), at);
    at += end - start;
  }
  return whole;
}

/** The content of a commit in the bytes of its file. It may be valid only until the file's next bytes are read. */
export function readDelta(bytes: FileBytes, { ranges, kept }: Pick<PlannedCommit, 'ranges' | 'kept'>): Uint8Array {
  const own = contiguous(ranges);
  return joined(bytes, kept ? contiguous([...own, ...kept]) : own);
}

/** Where the ranges of a file lie in the object that joins them. */
export function piecesIn(artifact: ArtifactNo, ranges: readonly ByteRange[]): PlacedPiece[] {
  let start = 0;
  return ranges.map((range) => {
    const piece = { at: range.start, artifact, start, length: range.end - range.start };
    start += piece.length;
    return piece;
  });
}

/**
 * The pieces in file order, with each byte once. Bytes that the plan left out are stored as side data and reported, because omitting them is
 * a bug of the planner.
 */
export function layOut(
  chain: WriteChain,
  bytes: FileBytes,
  pieces: readonly PlacedPiece[],
  from: number,
): { pieces: SourcePiece[]; notes: { line: number; reason: string }[] } {
  const result: SourcePiece[] = [];
  const notes: { line: number; reason: string }[] = [];
  let at = from;
  const fill = (end: number): void => {
    if (end <= at) return;
    const { no } = chain.artifacts.put(bytes.subarray(at, end), { contentType: 'application/octet-stream', bulk: true });
    result.push({ artifact: no, start: 0, length: end - at });
    notes.push({ line: 0, reason: `bytes ${at} to ${end} were in no commit and no side data; they are kept with the file` });
    at = end;
  };
  for (const piece of [...pieces].sort((a, b) => a.at - b.at)) {
    // Overlapping pieces are a bug of the planner. Each byte is kept once.
    const repeated = Math.max(0, at - piece.at);
    if (repeated >= piece.length) continue;
    fill(piece.at);
    result.push({ artifact: piece.artifact, start: piece.start + repeated, length: piece.length - repeated });
    at += piece.length - repeated;
  }
  fill(bytes.length);
  return { pieces: result, notes };
}

/** The pieces of the first `size` bytes. */
export function piecesUpTo(pieces: readonly SourcePiece[], size: number): SourcePiece[] {
  const result: SourcePiece[] = [];
  let at = 0;
  for (const piece of pieces) {
    if (at >= size) break;
    result.push({ ...piece, length: Math.min(piece.length, size - at) });
    at += piece.length;
  }
  return result;
}
