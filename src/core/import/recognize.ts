import { decodeText, encodeText } from '../base/index.js';
import { type FileBytes, type ImportableFormat, importableFormats, scalarsFirst } from '../formats/index.js';

/** The number of bytes that are enough to detect a format. */
export const headLength = 64 * 1024;
/** The beginning of a file, for detecting its format. */
export const readHead = (bytes: FileBytes): Uint8Array => bytes.subarray(0, Math.min(headLength, bytes.length));

/** The format that is certain by the first few lines. Such a file is no document. */
export function certainFormat(head: Uint8Array, path: string): ImportableFormat | undefined {
  const few = head.subarray(0, head.subarray(0, fewBytes).lastIndexOf(newline) + 1);
  return few.length > 0 ? importableFormats.find((format) => format.recognize(few, path) === 1) : undefined;
}

/** The format with the highest confidence, if any recognizes the file. The first few lines are enough for most files. */
export function recognized(head: Uint8Array, path: string): Recognized | undefined {
  const certain = certainFormat(head, path);
  if (certain) return { format: certain, confidence: 1 };
  const [best] = importableFormats
    .map((format) => ({ format, confidence: format.recognize(head, path) }))
    .filter(({ confidence }) => confidence > 0)
    .sort((a, b) => b.confidence - a.confidence);
  return best;
}
/** The format of a file by its first bytes, or else by the members of its first record in another order. */
export function formatOfFile(bytes: FileBytes, path: string): ImportableFormat | undefined {
  const known = recognized(readHead(bytes), path);
  if (known) return known.format;
  const sorted = sortedHead(bytes);
  return sorted && recognized(sorted, path)?.format;
}

/**
 * The beginning of a JSON file that names what it is by its end, because a program wrote the members in an order of its own: its scalars come first.
 * Undefined for any other file, and for a large one.
 */
export function sortedHead(bytes: FileBytes): Uint8Array | undefined {
  if (bytes.length > maxSortedBytes || !/^\ufeff?\s*[[{]/.test(decodeText(bytes.subarray(0, Math.min(64, bytes.length))))) return undefined;
  const sorted = scalarsFirst(decodeText(bytes.subarray(0, bytes.length)));
  return sorted === undefined ? undefined : encodeText(`${sorted}\n`).subarray(0, headLength);
}
const maxSortedBytes = 32 * 1024 ** 2;

const fewBytes = 4 * 1024;
const newline = 0x0a;

interface Recognized {
  readonly format: ImportableFormat;
  readonly confidence: number;
}
