import { StemmaError } from '../../base/index.js';

/** The largest expansion of compressed bytes of a history. No large session is more repetitive; small sessions may be. */
const maxExpansion = 200;
const mebibyte = 1024 ** 2;

/** The number of bytes that this many compressed ones may expand to. */
export const maxExpanded = (bytes: number, alwaysAllowed = 64 * mebibyte): number => Math.max(alwaysAllowed, bytes * maxExpansion);

/** The error for content that expands beyond a limit. `what` begins the sentence. */
export const expandsTooMuch = (what: string, bytes: number, most: number): StemmaError =>
  new StemmaError('CORRUPT', `${what} expands from ${bytes} bytes to more than ${most}, and is not read`);

/** A limit for many small compressed values of one file. */
export interface ExpansionLimit {
  /** How much a value of this many bytes may expand to now. */
  roomFor(bytes: number): number;
  /** Notes that a value expanded. */
  expanded(bytes: number, to: number): void;
}

/** All values of one file together may expand as much as a compressed file of their size. */
export function expansionLimit(): ExpansionLimit {
  let [packed, unpacked] = [0, 0];
  return {
    roomFor: (bytes) => Math.max(0, maxExpanded(packed + bytes) - unpacked),
    expanded: (bytes, to) => {
      packed += bytes;
      unpacked += to;
    },
  };
}

/** No sample or session has more values than this. Each value takes far more memory than its bytes. */
const maxValues = 8_000_000;
const [comma, list, object] = [0x2c, 0x5b, 0x7b];

/** Whether a JSON text may have too many values for the memory. Counts separators, including those within strings. */
export function hasTooManyValues(json: Uint8Array): boolean {
  if (json.length < maxValues) return false;
  let values = 0;
  for (let at = 0; at < json.length; at++) if (json[at] === comma || json[at] === list || json[at] === object) values++;
  return values > maxValues;
}
