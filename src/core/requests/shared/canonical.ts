import { sha256Of } from '../../artifacts/index.js';
import { canonicalJson, decodeText, isObject, type Json, type JsonObject } from '../../base/index.js';
import { canonicalOrder } from './json-ranges.js';

/** Claude Code's hashes: SHA-256 of JSON with sorted keys, no spaces, strings as blocks. Only the digest of a request keeps cache marks. */
export const cacheMark = 'cache_control';

/** Maximum size of a record. The provider refuses larger bodies, so a larger record was never sent. */
export const maxRecordBytes = 32 * 1024 * 1024;

/** The form of a message that hashes cover. */
export function withBlocks(message: Json): Json {
  if (!isObject(message) || typeof message.content !== 'string') return message;
  return { ...message, content: [{ type: 'text', text: message.content }] };
}

/** The hash of a recorded message's text; undefined if the text is no JSON or is nested too deeply. */
export const messageHash = (text: Uint8Array): Buffer | undefined => hashOf(text, withBlocks);

/** The hash of a system prompt and tools, without cache marks. */
export const shapeHash = (text: Uint8Array): Buffer | undefined => hashOf(text, (value) => value);

function hashOf(text: Uint8Array, normal: (value: Json) => Json): Buffer | undefined {
  try {
    return sha256Of(canonicalJson(normal(withoutMarks(JSON.parse(decodeText(text)) as Json))));
  } catch (error) {
    // Not JSON, or nested too deeply for any runtime to have written it.
    if (error instanceof SyntaxError || error instanceof RangeError) return undefined;
    throw error;
  }
}

/** The ranges of a text that, joined, have this hash. The canonical form is often the same bytes in another order. */
export function orderWithHash(text: Uint8Array, hash: Uint8Array): readonly number[] | undefined {
  const order = canonicalOrder(text, cacheMark);
  return order && sha256Of(inOrder(text, order)).equals(hash) ? order : undefined;
}

/** Ranges up to this length are copied in a loop, which is faster than a call. Most ranges are a brace or a key. */
export const shortRange = 24;

/** Joins the bytes of the ranges (start, end, start, end, …). */
export function inOrder(text: Uint8Array, order: readonly number[]): Uint8Array {
  if (order.length === 2) return text.subarray(order[0], order[1]);
  const from = Buffer.from(text.buffer, text.byteOffset, text.byteLength);
  // Ranges that do not overlap are never longer than the text.
  const joined = Buffer.allocUnsafe(text.length);
  let end = 0;
  for (let index = 0; index < order.length; index += 2) {
    const [start, stop] = [order[index] as number, order[index + 1] as number];
    if (stop - start >= shortRange) from.copy(joined, end, start, stop);
    else for (let place = start, at = end; place < stop; place += 1, at += 1) joined[at] = from[place] as number;
    end += stop - start;
  }
  return joined.subarray(0, end);
}

/** The value without cache marks, at any depth. */
export function withoutMarks(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutMarks);
  if (!isObject(value)) return value;
  return ownObject(Object.keys(value).flatMap((key) => (key === cacheMark ? [] : [[key, withoutMarks(value[key] as Json)]])));
}

/** Builds an object of these members, in which `__proto__` is a key like any other. */
export const ownObject = (members: readonly (readonly [string, Json])[]): JsonObject => Object.fromEntries(members) as JsonObject;
