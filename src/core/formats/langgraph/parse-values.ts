import { decode, ExtensionCodec } from '@msgpack/msgpack';
import { attempt, decodeText, isObject, type Json, type JsonObject, onceFor, parseJson } from '../../base/index.js';

/**
 * The value of a column that LangGraph wrote: JSON, or msgpack with Python objects as extensions. Fields of objects are read but no object is
 * created: each becomes `{lc, type: "constructor", id: [module, class], kwargs | args}`, as in the JSON form. Undefined for unreadable values.
 */
export function columnValue(type: unknown, value: unknown): Json | undefined {
  const bytes = value instanceof Uint8Array ? value : undefined;
  const text = typeof value === 'string' ? value : undefined;
  if (type === 'msgpack') return bytes && unpacked(bytes);
  if (type === 'json' || type === null || type === undefined) return parseJson(text ?? (bytes ? decodeText(bytes) : ''));
  if (type === 'bytes' || type === 'bytearray') return bytes && base64(bytes);
  if (type === 'null' || type === 'empty') return null;
  return undefined;
}

const base64 = (bytes: Uint8Array): JsonObject => ({ base64: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64') });

/** No conversation nests deeper than this. */
const deepest = 200;

const unpacked = (bytes: Uint8Array, depth = 0): Json | undefined =>
  depth > deepest ? undefined : attempt(() => toJson(decode(bytes, { extensionCodec: codecAt(depth), useBigInt64: true }), depth));

/**
 * A constructor with one argument, with positional or named arguments; a method with one argument; pydantic in two versions; an array of
 * numbers; and the whole value of a channel for which other checkpoints hold only writes.
 */
const extensions = [0, 1, 2, 3, 4, 5, 6, 7] as const;
const numbers = 6;
const wholeValue = 7;

const codecAt = onceFor((depth: number): ExtensionCodec => {
  const codec = new ExtensionCodec();
  for (const type of extensions)
    codec.register({
      type,
      encode: () => null,
      decode: (data: Uint8Array) => extended(unpacked(data, depth + 1), type),
    });
  return codec;
});

function extended(parts: Json | undefined, type: number): Json {
  if (type === wholeValue) return parts ?? null;
  if (type === numbers && Array.isArray(parts)) {
    const [dtype = null, shape = null, order = null, data = null] = parts;
    return { lc: 2, type: 'constructor', id: ['numpy', 'ndarray'], kwargs: { dtype, shape, order, data } };
  }
  return objectOf(parts, type);
}

function objectOf(parts: Json | undefined, type: number): Json {
  if (!Array.isArray(parts) || typeof parts[0] !== 'string' || typeof parts[1] !== 'string') return null;
  const given: Json = parts[2] ?? null;
  const id = [...parts[0].split('.'), parts[1]];
  if ((type === 2 || type >= 4) && isObject(given)) return { lc: 2, type: 'constructor', id, kwargs: given };
  return { lc: 2, type: 'constructor', id, args: type === 1 && Array.isArray(given) ? given : [given] };
}

function toJson(value: unknown, depth: number): Json {
  if (depth > deepest) return null;
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString();
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (value instanceof Uint8Array) return base64(value);
  if (Array.isArray(value)) return value.map((one) => toJson(one, depth + 1));
  if (typeof value !== 'object') return null;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, toJson(one, depth + 1)]));
}
