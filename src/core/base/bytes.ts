/** A half-open range of byte offsets: `start` included, `end` not. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

const decoder = new TextDecoder('utf-8');
const encoder = new TextEncoder();

/** Decodes UTF-8. Invalid bytes become U+FFFD, so use it only for reading, never for storing. */
export const decodeText = (bytes: Uint8Array): string => decoder.decode(bytes);
/** Encodes text as UTF-8. */
export const encodeText = (text: string): Uint8Array => encoder.encode(text);

/** Joins byte arrays in order. */
export function concatBytes(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
