/** A half-open range of byte offsets: `start` included, `end` not. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

const decoder = new TextDecoder('utf-8');
const encoder = new TextEncoder();

/** Bytes as text; what is not UTF-8 becomes U+FFFD, so only for reading, never for storing. */
export const textOf = (bytes: Uint8Array): string => decoder.decode(bytes);
export const bytesOf = (text: string): Uint8Array => encoder.encode(text);

export function concatBytes(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
