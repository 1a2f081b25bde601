import { isObject, type Json, type JsonObject, stringAt } from '../../base/index.js';
import { clip } from '../headline.js';
import { timeOf } from '../jsonl.js';
import type { Part } from '../strands.js';

/** The first line of a file, and one more for each process that opened it again. */
export const isHeader = (record: JsonObject): boolean =>
  typeof record.sessionId === 'string' && typeof record.projectHash === 'string' && !isMessage(record);
export const isMessage = (record: JsonObject): boolean => typeof record.id === 'string' && record.id !== '';

/** The history as it is from this line on, where the line puts one in place of what was before. */
export const historyIn = (record: JsonObject): readonly JsonObject[] | undefined => {
  if (isMessage(record) || !isObject(record.$set) || !Array.isArray(record.$set.messages)) return undefined;
  return record.$set.messages.filter((one: Json): one is JsonObject => isObject(one) && isMessage(one));
};
/** The message that is taken back here, with all behind it. */
export const rewindIn = (record: JsonObject): string | undefined => (isMessage(record) ? undefined : stringAt(record, '$rewindTo'));

export const idOf = (message: JsonObject): string => stringAt(message, 'id') ?? '';

/** A content is a text, a part, or a list of both. */
export function partsOf(content: Json | undefined): readonly JsonObject[] {
  if (Array.isArray(content) && content.every(isObject)) return content;
  const list = Array.isArray(content) ? content : content === undefined || content === null ? [] : [content];
  return list.flatMap((part: Json) => (typeof part === 'string' ? [{ text: part }] : isObject(part) ? [part] : []));
}

export const isThought = (part: JsonObject): boolean => part.thought === true;

export function textOf(message: JsonObject): string {
  if (typeof message.content === 'string') return message.content;
  let text = '';
  for (const part of partsOf(message.content)) if (!isThought(part)) text += stringAt(part, 'text') ?? '';
  return text;
}

export const callsOf = (message: JsonObject): readonly JsonObject[] =>
  Array.isArray(message.toolCalls) ? message.toolCalls.filter((call: Json): call is JsonObject => isObject(call)) : [];

/** The parts that a tool's result is: responses, and media beside them. */
export function resultOf({ id, name, result }: JsonObject): readonly JsonObject[] {
  if (typeof result !== 'string') return partsOf(result);
  return [{ functionResponse: { ...(id !== undefined && { id }), name: name ?? '', response: { output: result } } }];
}

export const responsesIn = (parts: readonly JsonObject[]): readonly JsonObject[] =>
  parts.flatMap(({ functionResponse }) => (isObject(functionResponse) ? [functionResponse] : []));

/** What the agent tells the model of the place and the time: it is told anew whenever a session is opened. */
export const isContext = (message: JsonObject): boolean => message.type === 'user' && /^\s*<(session|hook)_context>/.test(textOf(message));

const snapshot = /^\s*<state_snapshot>([\s\S]*)<\/state_snapshot>\s*$/;
/** The summary that a compression put in place of what it took away. */
export const summaryIn = (text: string): string | undefined => snapshot.exec(text)?.[1];
export const asSummary = (text: string): string => `<state_snapshot>${text}</state_snapshot>`;
export const isSummary = (message: JsonObject): boolean => message.type === 'user' && summaryIn(textOf(message)) !== undefined;

/**
 * What the project calls a message: its id. That of the agent's own context is a digest of its text and many sessions': with its time it
 * is told from theirs. A line that only adds calls to a message taken in before is a record of its own.
 */
export function nameOf(message: JsonObject): string {
  const id = idOf(message).slice(0, longestName);
  if (isContext(message)) {
    const at = timeOf(message);
    return at === undefined ? id : `${id}-${Date.parse(at).toString(36)}`;
  }
  return isAddition(message) ? additionName(id) : id;
}
const longestName = 200;
export const additionName = (id: string): string => `${id}#calls`;
export const isAddition = (message: JsonObject): boolean => message.type === 'gemini' && message.content === undefined && callsOf(message).length > 0;

export function partOf(message: JsonObject): Part {
  if (message.type === 'gemini') return 'answer';
  if (message.type !== 'user') return 'quiet';
  if (isContext(message)) return 'lead';
  return responsesIn(partsOf(message.content)).length > 0 ? 'result' : 'prompt';
}

/** One line for people: what was asked or said. */
export function headlineOf(message: JsonObject): string | undefined {
  const text = clip(textOf(message));
  if (text !== undefined) return text;
  return partsOf(message.content).some((part) => isObject(part.inlineData)) ? '[image]' : undefined;
}

/** The folder in which the agent works, as it tells the model. */
export function folderIn(record: JsonObject): string | undefined {
  const folders = record.directories ?? (isObject(record.$set) ? record.$set.directories : undefined);
  const [first] = Array.isArray(folders) ? folders.filter((one: Json) => typeof one === 'string' && one !== '') : [];
  if (typeof first === 'string') return first;
  const told = historyIn(record)?.find(isContext) ?? (isMessage(record) && isContext(record) ? record : undefined);
  return told && /^- \*\*Workspace Directories:\*\*\n {2}- (.+)$/m.exec(textOf(told))?.[1];
}

/** The name that the session was given. */
export const titleIn = (record: JsonObject): string | undefined =>
  isMessage(record) ? undefined : clip(stringAt(record.$set, 'summary') ?? stringAt(record, 'summary') ?? '');

/** The record and the place in it that an entry's key names. */
export const splitKey = (key: string | undefined): { readonly name: string; readonly number: number } | undefined => {
  const match = /^(.+)\.(\d{1,9})$/.exec(key ?? '');
  return match ? { name: match[1] as string, number: Number(match[2]) } : undefined;
};
