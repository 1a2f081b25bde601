import { encodeText, isObject, type Json, type JsonObject, stringAt } from '../../base/index.js';
import type { SessionOptions } from '../format.js';
import { dataUrl, objectsIn } from '../shared/drafts.js';
import { firstIn } from '../shared/plans.js';
import { copied } from './parse-second.js';
import { createdAt, isSummary, type MessageLine, readParts, readRole, readType } from './schema.js';

/** What a document for OpenCode 2 needs beside its messages. */
export interface SecondSession extends Pick<SessionOptions, 'now'> {
  readonly id: string;
  readonly title: string;
  readonly directory: string;
  /** A new id for a message that was created at this time. */
  readonly newMessageId: (ms: number | undefined) => string;
}

/** A document for `opencode import` of version 2 (session-transfer.ts): messages are settled records without parts, under new ids. */
export function writeSecond(lines: readonly MessageLine[], { id, title, directory, now, newMessageId }: SecondSession): Uint8Array {
  const model = firstIn(lines, ({ info }) => readModel(info)) ?? { id: 'unknown', providerID: 'unknown' };
  let time = 0;
  const messages = lines.flatMap((line): JsonObject[] => {
    const made = writeMessage(line, model);
    if (!made) return [];
    time = Math.max(time, createdAt(line) ?? Date.parse(now));
    const settled: JsonObject = made.type === 'assistant' ? { created: time, completed: time } : { created: time };
    return [{ id: newMessageId(time), ...made, time: settled }];
  });
  const created = createdAt(lines[0] ?? { info: {}, parts: [] }) ?? Date.parse(now);
  const info = {
    id,
    projectID: 'global',
    title,
    location: { directory },
    model,
    cost: 0,
    tokens: { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 } },
    time: { created, updated: Math.max(created, time) },
  };
  return encodeText(`${JSON.stringify({ info, messages }, null, 2)}\n`);
}

const readModel = ({ modelID, providerID }: JsonObject): JsonObject | undefined =>
  typeof modelID === 'string' && typeof providerID === 'string' ? { id: modelID, providerID } : undefined;

/** A message without its id and time; undefined for one that the model never got. */
function writeMessage(line: MessageLine, model: JsonObject): JsonObject | undefined {
  const { info } = line;
  const parts = readParts(line);
  if (isSummary(line)) {
    const [part] = parts.filter((one) => readType(one) === 'text');
    const summary = stringAt(part, 'summary') ?? stringAt(part, 'text') ?? '';
    return { type: 'compaction', status: 'completed', reason: stringAt(info, 'reason') ?? 'manual', summary, recent: stringAt(part, 'recent') ?? '' };
  }
  if (readRole(line) === 'assistant') {
    const content = parts.flatMap(writeContent);
    if (content.length === 0) return undefined;
    const finish = stringAt(info, 'finish') ?? (content.some(({ type }) => type === 'tool') ? 'tool-calls' : 'stop');
    const error = isObject(info.error)
      ? { type: stringAt(info.error.data, 'type') ?? 'unknown', message: stringAt(info.error.data, 'message') ?? '' }
      : undefined;
    return {
      type: 'assistant',
      agent: stringAt(info, 'agent') ?? 'build',
      model: readModel(info) ?? model,
      content,
      finish,
      ...(isObject(info.tokens) && { tokens: info.tokens }),
      ...(typeof info.cost === 'number' && { cost: info.cost }),
      ...(error && { error }),
    };
  }
  if (readRole(line) !== 'user') return undefined;
  const texts = parts.filter((part) => readType(part) === 'text' && part.ignored !== true);
  const files = parts.filter((part) => readType(part) === 'file').flatMap(writeAttachment);
  const isTyped = texts.some((part) => part.synthetic !== true) || files.length > 0;
  const text = (some: readonly JsonObject[]): string => some.map((part) => stringAt(part, 'text') ?? '').join('\n');
  if (!isTyped) return text(texts).trim() === '' ? undefined : { type: 'synthetic', text: text(texts) };
  // The text of a file is made again from the file.
  const typed = texts.filter((part) => part.synthetic !== true || files.length === 0);
  return { type: 'user', text: text(typed), ...(files.length > 0 && { files }) };
}

function writeAttachment(part: JsonObject): JsonObject[] {
  const inline = dataUrl(stringAt(part, 'url') ?? '');
  if (!inline) return [];
  const name = stringAt(part, 'filename');
  return [{ data: inline.base64, mime: inline.mediaType, source: { type: 'inline' }, ...(name !== undefined && { name }) }];
}

function writeContent(part: JsonObject): JsonObject[] {
  const text = stringAt(part, 'text') ?? '';
  switch (readType(part)) {
    case 'text':
      return text === '' || part.ignored === true ? [] : [{ type: 'text', text, ...(isObject(part.state) && { state: part.state }) }];
    case 'reasoning': {
      const seal = isObject(part.state) ? part.state : isObject(part.metadata) ? part.metadata.anthropic : undefined;
      return text === '' && !isObject(seal) ? [] : [{ type: 'reasoning', text, ...(isObject(seal) && { state: seal }) }];
    }
    case 'tool':
      return [toolOf(part)];
    default:
      return [];
  }
}

/** A call with its result. One without a result says that it was not carried out, because a model's API refuses a call without a result. */
function toolOf(part: JsonObject): JsonObject {
  const state = isObject(part.state) ? part.state : {};
  const time = isObject(state.time) ? state.time : {};
  const at = (name: string): number => (typeof time[name] === 'number' ? (time[name] as number) : 0);
  const input = isObject(state.input) ? state.input : {};
  const metadata: JsonObject = isObject(state.metadata) && Object.keys(state.metadata).length > 0 ? { metadata: state.metadata } : {};
  const files = objectsIn(state.attachments).flatMap((file): JsonObject[] => {
    const [uri, mime, name] = [stringAt(file, 'url'), stringAt(file, 'mime'), stringAt(file, 'filename')];
    return uri === undefined || mime === undefined ? [] : [{ type: 'file', uri, mime, ...(name !== undefined && { name }) }];
  });
  const content = (text: string): Json[] => [...(text === '' && files.length > 0 ? [] : [{ type: 'text', text }]), ...files];
  const isDone = state.status === 'completed';
  const message = state.status === 'error' ? (stringAt(state, 'error') ?? '') : 'The tool was not carried out.';
  return {
    type: 'tool',
    id: stringAt(part, 'callID') ?? '',
    name: stringAt(part, 'tool') ?? '',
    ...copied(part, ['executed', 'providerState', 'providerResultState']),
    state: isDone
      ? { status: 'completed', input, content: content(stringAt(state, 'output') ?? ''), ...metadata }
      : { status: 'error', input, error: { type: 'unknown', message }, ...metadata },
    time: { created: at('start'), completed: at('end') || at('start') },
  };
}
