import { decodeText } from '../base/index.js';
import type { OpenFile } from './files.js';
import { readHead } from './recognize.js';

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
  if (faultIn(first) === undefined) return undefined;
  return faultIn(text);
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
