import type { ByteRange, JsonObject } from '../../base/index.js';
import type { FileBytes } from '../format.js';
import { type Dialect, eachPiece, type RecordPiece, recordInFile, type Scan, type ScanOptions, type Seen, scanJsonl } from '../shared/jsonl.js';

export { bufferOf, type RecordPiece, type Scan } from '../shared/jsonl.js';

const dialect: Dialect = {
  requestPrefix: Buffer.from('{"type":"api-request'),
  isRequest: ({ type }) => typeof type === 'string' && type.startsWith('api-request'),
  beginning: /\{"(?:parentUuid|type|uuid|sessionId|timestamp|isSidechain|logicalParentUuid|message|agentId)":/g,
  isWhole: (record: JsonObject) => ['sessionId', 'parentUuid', 'leafUuid', 'messageId'].some((key) => Object.hasOwn(record, key)),
  ghostIn,
};

/** Splits a file into records. Never throws for the content of the bytes. */
export const scanLines = (file: FileBytes, options?: ScanOptions): Scan => scanJsonl(file, dialect, options);

/** Reads one record after the other, so that a large file need not be held in memory. */
export const eachRecord = (file: FileBytes, options: ScanOptions, tell: (piece: RecordPiece) => void): Seen =>
  eachPiece(file, dialect, options, tell);

/** The record at a range that an earlier scan of the same file found. @throws Error if the file has changed since. */
export const recordAt = (file: FileBytes, range: ByteRange): JsonObject => recordInFile(file, range, dialect);

/** The id and parent of a torn line, as far as they are readable. */
function ghostIn(fragment: string): RecordPiece['ghost'] {
  const uuid = /"uuid":"([^"\\]{1,100})"/.exec(fragment)?.[1];
  const parent = /"parentUuid":(?:"([^"\\]{1,100})"|null)/.exec(fragment);
  return uuid !== undefined && parent ? { uuid, parentUuid: parent[1] ?? null } : undefined;
}
