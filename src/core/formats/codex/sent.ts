import type { ByteRange, JsonObject } from '../../base/index.js';
import { type Line, lineOf, ownMembers, scanLines } from './record.js';

/** A line of a delta with its place there. */
export interface PlacedLine extends Line {
  readonly raw: ByteRange;
}

/** The lines of a delta that can be read, in order. */
export const readLines = (delta: Uint8Array): PlacedLine[] =>
  scanLines(delta).pieces.flatMap(({ record, range }) => (record ? [{ ...lineOf(record), raw: range }] : []));

/** An item as it goes to the model: without what the runtime notes in it for itself. */
export const sentItem = (item: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(item).filter(([name]) => !ownMembers.has(name))) as JsonObject;
