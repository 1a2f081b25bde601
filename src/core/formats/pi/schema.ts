import { createHash } from 'node:crypto';
import { decodeText, isObject, type JsonObject, stringAt } from '../../base/index.js';
import type { FileBytes } from '../format.js';
import type { RecordRole } from '../shared/branches.js';
import { clip } from '../shared/headline.js';
import { type Dialect, eachPiece, type RecordPiece, readTime, type Scan, type ScanOptions, type Seen, scanJsonl } from '../shared/jsonl.js';

const dialect: Dialect = {
  beginning: /\{"(?:type|id|parentId|timestamp|message)":/g,
  isWhole: (record) => typeof record.type === 'string' && typeof record.timestamp === 'string',
};

/** Splits a session into records. Never throws for the content of the bytes. */
export const scanLines = (bytes: Uint8Array, options?: ScanOptions): Scan => scanJsonl(bytes, dialect, options);

/** Reads one record after the other, so that a large session need not be held in memory. */
export const eachLine = (file: FileBytes, options: ScanOptions, tell: (piece: RecordPiece) => void): Seen => eachPiece(file, dialect, options, tell);

/** Whether the record is the header, which describes the session. Every other record has a place in the tree. */
export const isHeader = (record: JsonObject): boolean => record.type === 'session';
/** Whether the record has a place in the tree: every typed record but the header. */
export const isChained = (record: JsonObject): boolean => typeof record.type === 'string' && !isHeader(record);

/** The record's id. Files of version 1 have no ids; their records follow each other. */
export const readId = (record: JsonObject): string | undefined => (typeof record.id === 'string' && record.id !== '' ? record.id : undefined);

const shortId = /^[0-9a-f]{8}$/;
const shortName = /^([0-9a-f]{8})-[0-9a-z]+$/;

/** A record's name: its id of 32 bits with its time, the same in a fork. A record without an id is named by its bytes. */
export function nameRecord(record: JsonObject, bytes: Uint8Array): string {
  const id = readId(record);
  if (id === undefined) return `v1-${createHash('sha256').update(decodeText(bytes).trim()).digest('hex').slice(0, 16)}`;
  const at = readTime(record);
  return at === undefined || !shortId.test(id) ? id : `${id}-${Date.parse(at).toString(36)}`;
}

/** The id that a record of this name has in its file. */
export const idIn = (name: string): string => shortName.exec(name)?.[1] ?? name;

/** The bytes of the record in its file. */
export const bytesIn = (delta: Uint8Array, { range }: RecordPiece): Uint8Array => delta.subarray(range.start, range.end);

/** The message of a record. */
export const readMessage = (record: JsonObject): JsonObject => (isObject(record.message) ? record.message : {});
/** The role of the record's message. */
export const readRole = (record: JsonObject): string | undefined => (record.type === 'message' ? stringAt(record.message, 'role') : undefined);

const ofTypes: ReadonlyMap<unknown, RecordRole> = new Map([
  ['compaction', 'compaction'],
  ...['model_change', 'thinking_level_change', 'branch_summary'].map((type) => [type, 'lead'] as const),
]);
const ofRoles: ReadonlyMap<unknown, RecordRole> = new Map([
  ['user', 'prompt'],
  ['assistant', 'answer'],
  ['toolResult', 'result'],
  ['system', 'lead'],
]);

/** The role of a record in its turn. */
export const roleInTurn = (record: JsonObject): RecordRole =>
  (record.type === 'message' ? ofRoles.get(readRole(record)) : ofTypes.get(record.type)) ?? 'quiet';

/** Whether a compaction can keep the record: records that the model gets, and edits of them. */
export function isSent(record: JsonObject): boolean {
  if (record.type === 'message') return readRole(record) !== 'system';
  return record.type === 'custom_message' || record.type === 'branch_summary' || record.type === 'context_edit';
}

/** The texts of a content, which is a text or a list of blocks. */
export function textsIn(content: unknown): readonly string[] {
  if (typeof content === 'string') return [content];
  if (!Array.isArray(content)) return [];
  return content.flatMap((block) => (isObject(block) && block.type === 'text' && typeof block.text === 'string' ? [block.text] : []));
}

/** One line that says what a person or the model wrote. */
export function writeHeadline(record: JsonObject): string | undefined {
  const { content } = readMessage(record);
  const [text] = textsIn(content).filter((one) => one.trim() !== '');
  if (text !== undefined) return clip(text);
  return Array.isArray(content) && content.some((block) => isObject(block) && block.type === 'image') ? '[image]' : undefined;
}
