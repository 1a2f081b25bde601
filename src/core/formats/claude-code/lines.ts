import type { ByteRange, JsonObject } from '../../base/index.js';
import type { FileBytes } from '../format.js';
import { type Dialect, eachPiece, type Piece, recordOf, type Scan, type ScanOptions, type Seen, scanJsonl } from '../jsonl.js';

export { bufferOf, type Piece, type Scan } from '../jsonl.js';

const dialect: Dialect = {
  requestPrefix: Buffer.from('{"type":"api-request'),
  isRequest: ({ type }) => typeof type === 'string' && type.startsWith('api-request'),
  beginning: /\{"(?:parentUuid|type|uuid|sessionId|timestamp|isSidechain|logicalParentUuid|message|agentId)":/g,
  isWhole: (record: JsonObject) => ['sessionId', 'parentUuid', 'leafUuid', 'messageId'].some((key) => Object.hasOwn(record, key)),
  ghostIn,
};

/** Splits a file into records; never throws for what the bytes hold. */
export const scanLines = (file: FileBytes, options?: ScanOptions): Scan => scanJsonl(file, dialect, options);

/** Tells of each record in turn: who reads a large file keeps of it what he needs. */
export const eachRecord = (file: FileBytes, options: ScanOptions, tell: (piece: Piece) => void): Seen => eachPiece(file, dialect, options, tell);

/** The record of a piece that was found in a scan of the same file. @throws where the file is not what it was. */
export const recordAt = (file: FileBytes, range: ByteRange): JsonObject => recordOf(file, range, dialect);

/** What a torn line still tells of its place in the tree. */
function ghostIn(fragment: string): Piece['ghost'] {
  const uuid = /"uuid":"([^"\\]{1,100})"/.exec(fragment)?.[1];
  const parent = /"parentUuid":(?:"([^"\\]{1,100})"|null)/.exec(fragment);
  return uuid !== undefined && parent ? { uuid, parentUuid: parent[1] ?? null } : undefined;
}
