import { decodeText, encodeText } from '../base/index.js';
import { type FileBytes, type ImportableFormat, importableFormats, scalarsFirst } from '../formats/index.js';
import type { OpenFile } from './files.js';

/** The number of bytes that are enough to detect a format. */
export const headLength = 64 * 1024;
/** The beginning of a file, for detecting its format. */
export const readHead = (bytes: FileBytes): Uint8Array => bytes.subarray(0, Math.min(headLength, bytes.length));

/** The format that is certain by the first few lines. Such a file is no document. */
export function certainFormat(head: Uint8Array, path: string): ImportableFormat | undefined {
  const few = head.subarray(0, head.subarray(0, fewBytes).lastIndexOf(newline) + 1);
  if (few.length === 0 || opening.test(decodeText(few.subarray(0, few.indexOf(newline))))) return undefined;
  return importableFormats.find((format) => format.recognize(few, path) === 1);
}

/** The format with this id, if it can be imported. */
export const formatNamed = (id: string | undefined): ImportableFormat | undefined => importableFormats.find((format) => format.id === id);

/** The format with the highest confidence, if any recognizes the file. The first few lines are enough for most files. */
export function recognized(head: Uint8Array, path: string) {
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
  // A JSON list is no log. Gemini CLI keeps one of a person's inputs beside its sessions.
  if (/^\ufeff?\s*\[/.test(decodeText(bytes.subarray(0, Math.min(64, bytes.length))))) return undefined;
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
/** The first line of a document with a member on each line. The lines of such a document are no records. */
const opening = /^\ufeff?\s*[[{]\s*$/;
const newline = 0x0a;

/** Of a larger file, only the beginning is looked at. */
const maxParsedBytes = 8 * 1024 ** 2;

/** Why a file is refused that is in no known format. It says what the file looks like, so that a person knows what to do. */
export function refusalOf({ bytes, whole }: Pick<OpenFile, 'bytes' | 'whole'>): string {
  if (bytes.length === 0) return 'it is empty';
  const head = decodeText(readHead(bytes));
  if (head.startsWith('PK\u0003\u0004')) return 'it is an archive that is damaged, or that is no log of Inspect';
  if (head.startsWith('SQLite format 3\0')) return 'it is a database without the tables of an agent that Stemma reads';
  const fault = /^\s*[{[]/.test(head) && bytes.length <= maxParsedBytes ? jsonFault(decodeText(whole())) : undefined;
  const version = /"schema_version"\s*:\s*("[^"\\]*"|[\d.]+)/.exec(head)?.[1];
  const unread = 'it is in no format that Stemma imports';
  if (fault !== undefined) return `${unread}: ${fault}`;
  const isOtherAtif = version !== undefined && /"steps"\s*:/.test(head);
  return isOtherAtif ? `${unread}: its schema_version is ${version}, and Stemma reads ATIF-v1.0 to ATIF-v1.8` : unread;
}

/** Where a JSON document is broken. Undefined if it is whole, and for JSON Lines, whose first line is whole. */
function jsonFault(text: string): string | undefined {
  const [first = ''] = text.split('\n', 1);
  return faultIn(first) === undefined ? undefined : faultIn(text);
}

function faultIn(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    const { message } = error as Error;
    if (/^Unexpected end/.test(message)) return 'its JSON ends too early';
    const [, line, column] = /\(line (\d+) column (\d+)\)/.exec(message) ?? [];
    return line === undefined ? 'its JSON is broken' : `its JSON is broken or cut off at line ${line}, column ${column}`;
  }
}
