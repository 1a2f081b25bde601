import { encodeText, type JsonObject, stringAt } from '../../base/index.js';
import type { SessionOptions, WritableEntry, WriteOptions } from '../format.js';
import { inRecords } from '../shared/entry-lines.js';
import { base64Of, type EntryGroup, groupMessages, namer } from '../shared/groups.js';
import { readRecords } from '../shared/records.js';
import { dialect, readType, subtypeOf } from './schema.js';

const version = '0.24.4';

/** Writes entries as records, each the child of the previous one. Facts that Qwen Code has no field for are omitted. */
export function writeEntries(entries: readonly WritableEntry[], options: WriteOptions): Uint8Array {
  const { newId, now, sessionId = '', cwd = '/', parentRecord = null } = options;
  const nameOf = namer(newId);
  let parentUuid: string | null = parentRecord;
  const lines = groupMessages(entries.filter(isHeld), fits).map((group) => {
    const uuid = nameOf(group.name);
    const envelope = { uuid, parentUuid, sessionId, timestamp: group.entries[0].at ?? now };
    parentUuid = uuid;
    return `${JSON.stringify({ ...envelope, ...writeRecord(group), cwd, version })}\n`;
  });
  return encodeText(lines.join(''));
}

const isHeld = ({ kind, marks, role, media }: WritableEntry): boolean =>
  kind !== 'event' && !marks?.includes('hidden') && !(kind === 'image' && (role === 'tool' || !media)) && !marks?.includes('redacted');

const fits = (entry: WritableEntry, [first]: readonly WritableEntry[]): boolean =>
  entry.role !== 'tool' && entry.kind !== 'summary' && first?.kind !== 'summary' && isMeta(entry) === isMeta(first as WritableEntry);

const isMeta = ({ marks }: WritableEntry): boolean => marks?.includes('meta') === true;

function writeRecord({ entries }: EntryGroup): object {
  const [first] = entries;
  const text = first.text ?? '';
  if (first.kind === 'summary')
    return {
      type: 'system',
      subtype: 'chat_compression',
      systemPayload: { info: { compressionStatus: 1 }, compressedHistory: [{ role: 'user', parts: [{ text }] }] },
    };
  switch (first.role) {
    case 'assistant':
      return { type: 'assistant', model: first.author ?? 'unknown', message: { role: 'model', parts: entries.map(answerPart) } };
    case 'tool': {
      const { toolCallId = '', toolName = '', isError } = first;
      const response = { id: toolCallId, name: toolName, response: isError ? { error: text } : { output: text } };
      const status = isError ? 'error' : 'success';
      return {
        type: 'tool_result',
        message: { role: 'user', parts: [{ functionResponse: response }] },
        toolCallResult: { callId: toolCallId, status, ...(first.result !== undefined && { resultDisplay: first.result }) },
      };
    }
    default:
      return { type: 'user', ...(isMeta(first) && { subtype: 'notification' }), message: { role: 'user', parts: entries.map(userPart) } };
  }
}

const userPart = ({ media, text }: WritableEntry): object =>
  media ? { inlineData: { mimeType: media.mediaType, data: base64Of(media) } } : { text: text ?? '' };

function answerPart(entry: WritableEntry): object {
  const { kind, text = '', toolCallId, toolName, arguments: input, result } = entry;
  const signature = stringAt(result, 'signature');
  if (kind === 'tool_call') return { functionCall: { id: toolCallId ?? '', name: toolName ?? '', args: input ?? {} } };
  return kind === 'thinking' ? { text, thought: true, ...(signature !== undefined && { thoughtSignature: signature }) } : userPart(entry);
}

/** A session that `qwen --resume` continues: the records of one context that have an effect, in a row, under a new session. */
export function writeSession(delta: Uint8Array, { sessionId, newId, now, cwd, isUnchanged }: SessionOptions): Uint8Array {
  if (isUnchanged) return delta;
  const records = readRecords({ dialect }, delta);
  const folder = cwd ?? records.map((record) => stringAt(record, 'cwd')).find((one) => one !== undefined) ?? '/';
  const options: WriteOptions = { newId, now, sessionId, cwd: folder };
  let parentUuid: string | null = null;
  const lines = inRecords(records, (entries) => readRecords({ dialect }, writeEntries(entries, options))).flatMap((record): object[] => {
    if (hasNoEffect(record)) return [];
    const line = { timestamp: now, version, ...record, parentUuid, sessionId, cwd: folder };
    parentUuid = stringAt(record, 'uuid') ?? parentUuid;
    return [line];
  });
  return encodeText(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
}

/** Telemetry, snapshots and rewinds, which have no effect on the model's input. */
const hasNoEffect = (record: JsonObject): boolean =>
  typeof record.uuid !== 'string' ||
  (readType(record) === 'system' && subtypeOf(record) !== 'chat_compression' && subtypeOf(record) !== 'custom_title');
