import { concatBytes } from '../base/index.js';
import { blake3Of, refOfHash } from './hash.js';
import { insertRow, known, type Put, type PutOptions } from './put.js';
import { addBlock, packLimits, pressed, shareOf, worthIt } from './repack.js';
import type { Shelf } from './shelf.js';

/** An import compresses faster than a repack, by a third, into 7 % more bytes. */
const importLevel = 2;

/** Neighbors that were hashed and compressed together before they are stored, by a thread that has no project. */
export interface PressedBlock {
  /** The compressed bytes of all of them, one after the other. */
  readonly stored: Uint8Array;
  readonly objects: readonly { readonly hash: Uint8Array; readonly size: number }[];
}

/** Compresses neighbors into blocks, each with the number of its first content. Contents that are too large or incompressible are in none. */
export function* pressBlocks(contents: Iterable<Uint8Array>): Generator<PressedBlock & { readonly first: number }> {
  let open: { readonly first: number; readonly parts: Uint8Array[]; size: number } | undefined;
  const close = function* () {
    if (!open) return;
    const { first, parts, size } = open;
    const stored = pressed(concatBytes(parts), importLevel);
    if (stored.length <= size * worthIt) yield { first, stored, objects: parts.map((part) => ({ hash: blake3Of(part), size: part.length })) };
    open = undefined;
  };
  let number = 0;
  for (const content of contents) {
    const isFull = open && (open.parts.length >= packLimits.perBlock || open.size + content.length > packLimits.blockBytes);
    if (isFull || content.length > packLimits.wholeBytes) yield* close();
    if (content.length <= packLimits.wholeBytes) {
      open ??= { first: number, parts: [], size: 0 };
      // The caller may use the memory of a content again.
      open.parts.push(Uint8Array.from(content));
      open.size += content.length;
    }
    number += 1;
  }
  yield* close();
}

/** Stores a compressed block inside a transaction. Undefined if an object is known or repeated: the caller then puts them one by one. */
export function putBlock(shelf: Shelf, { stored, objects }: PressedBlock, options: PutOptions): Put[] | undefined {
  const hashes = objects.map(({ hash }) => Buffer.from(hash));
  if (new Set(hashes.map(refOfHash)).size < hashes.length || hashes.some((hash) => known(shelf, hash))) return undefined;
  const size = objects.reduce((sum, object) => sum + object.size, 0);
  const block = addBlock(shelf, stored, size);
  let start = 0;
  return objects.map((object, at) => {
    const storedSize = shareOf(stored.length, { start, end: start + object.size, of: size });
    const put = insertRow(shelf, hashes[at] as Buffer, object.size, options, { block, blockStart: start, storedSize }, null);
    start += object.size;
    return put;
  });
}
