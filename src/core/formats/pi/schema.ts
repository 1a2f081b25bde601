import { createHash } from 'node:crypto';
import { type ByteRange, decodeText, isObject, type JsonObject, stringAt } from '../../base/index.js';
import type { RecordRole } from '../shared/branches.js';
import { clip } from '../shared/headline.js';
import { type Dialect, readTime, type Scan, type ScanOptions, scanJsonl } from '../shared/jsonl.js';

/** The form of pi's records. */
export const dialect: Dialect = {
  beginning: /\{"(?:type|id|parentId|timestamp|message)":/g,
  isWhole: (record) => typeof record.type === 'string' && typeof record.timestamp === 'string',
};

/** Splits a session into records. Never throws for the content of the bytes. */
export const scanLines = (bytes: Uint8Array, options?: ScanOptions): Scan => scanJsonl(bytes, dialect, options);

/** Whether the record is the header, which describes the session. Every other record has a place in the tree. */
export const isHeader = (record: JsonObject): boolean => record.type === 'session';
/** Whether the record has a place in the tree: every typed record but the header. */
export const isChained = (record: JsonObject): boolean => typeof record.type === 'string' && !isHeader(record);

/** The record's id. Files of version 1 have no ids; their records follow each other. */
export const readId = (record: JsonObject): string | undefined => (typeof record.id === 'string' && record.id !== '' ? record.id : undefined);

const shortId = /^[0-9a-f]{8}$/;
const shortName = /^([0-9a-f]{8})-[0-9a-z]+$/;

/** A record's name: its id of 32 bits with its time, the same in a fork. A record without an id is named by its bytes. */
export function nameRecord(record: JsonObject, delta: Uint8Array, { start, end }: ByteRange): string {
  const id = readId(record);
  if (id === undefined)
    return `v1-${createHash('sha256')
      .update(decodeText(delta.subarray(start, end)).trim())
      .digest('hex')
      .slice(0, 16)}`;
  const at = readTime(record);
  return at === undefined || !shortId.test(id) ? id : `${id}-${Date.parse(at).toString(36)}`;
}

/** The id that a record of this name has in its file. */
export const idIn = (name: string): string => shortName.exec(name)?.[1] ?? name;

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

/** The frames in which pi sends summaries to the model (1.5.2, messages.ts). Records hold only the summary. */
const frames = {
  compaction: ['The conversation history before this point was compacted into the following summary:\n\n<summary>\n', '\n</summary>'],
  branch: ['The following is a summary of a branch that this conversation came back from:\n\n<summary>\n', '</summary>'],
} as const;
type Frame = keyof typeof frames;

/** The summary in the frame in which pi sends it to the model. */
export const framed = (frame: Frame, summary: string): string => frames[frame].join(summary);

/** The summary without its frame, or the text itself if it has no frame. */
export function unframed(frame: Frame, text: string): string {
  const [before, after] = frames[frame];
  return text.startsWith(before) && text.endsWith(after) ? text.slice(before.length, text.length - after.length) : text;
}

/** The text that the model gets for a shell line that the person ran. */
export function shellText(message: JsonObject): string {
  const output = stringAt(message, 'output');
  const { exitCode } = message;
  const path = stringAt(message, 'fullOutputPath');
  return [
    `Ran \`${stringAt(message, 'command') ?? ''}\`\n`,
    output ? `\`\`\`\n${output}\n\`\`\`` : '(no output)',
    message.cancelled ? '\n\n(command cancelled)' : typeof exitCode === 'number' && exitCode !== 0 ? `\n\nCommand exited with code ${exitCode}` : '',
    message.truncated && path ? `\n\n[Output truncated. Full output: ${path}]` : '',
  ].join('');
}

/** The text of a system message: its content, then its sections, separated by blank lines. */
export function systemText(message: JsonObject): string {
  const content = typeof message.content === 'string' ? [message.content] : textsOf(message.content);
  const sections = isObject(message.sections) ? Object.values(message.sections) : [];
  return [...content, ...sections].filter((text): text is string => typeof text === 'string' && text !== '').join('\n\n');
}

const textsOf = (content: unknown): readonly string[] => (Array.isArray(content) ? content.flatMap((block) => stringAt(block, 'text') ?? []) : []);
