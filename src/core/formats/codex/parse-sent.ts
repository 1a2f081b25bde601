import type { ByteRange, JsonObject } from '../../base/index.js';
import { ownMembers, type RolloutLine, readLine, scanLines } from './schema.js';

export interface PlacedLine extends RolloutLine {
  readonly raw: ByteRange;
}

/** The readable lines of a delta, in order. */
export const readLines = (delta: Uint8Array): PlacedLine[] =>
  scanLines(delta).pieces.flatMap(({ record, range }) => (record ? [{ ...readLine(record), raw: range }] : []));

/** An item as the model gets it, without the agent's own notes. */
export const sentItem = (item: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(item).filter(([name]) => !ownMembers.has(name))) as JsonObject;
