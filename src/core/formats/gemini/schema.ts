import { isObject, type Json, type JsonObject, stringAt } from '../../base/index.js';
import type { RecordRole } from '../shared/branches.js';
import { clip } from '../shared/headline.js';
import { readTime } from '../shared/jsonl.js';

/** Whether the record is a header: the first line of a file, or the line of a process that opened it again. */
export const isHeader = (record: JsonObject): boolean =>
  typeof record.sessionId === 'string' && typeof record.projectHash === 'string' && !isMessage(record);
/** Whether the record is a message. */
export const isMessage = (record: JsonObject): boolean => typeof record.id === 'string' && record.id !== '';

/** The history that is valid from this line on, if the line replaces the history. */
export const historyIn = (record: JsonObject): readonly JsonObject[] | undefined => {
  if (isMessage(record) || !isObject(record.$set) || !Array.isArray(record.$set.messages)) return undefined;
  return record.$set.messages.filter((one: Json): one is JsonObject => isObject(one) && isMessage(one));
};
/** The id of the message that is taken back here together with all later messages. */
export const rewindIn = (record: JsonObject): string | undefined => (isMessage(record) ? undefined : stringAt(record, '$rewindTo'));

/** The id of a message. */
export const idOf = (message: JsonObject): string => stringAt(message, 'id') ?? '';

/** The parts of a content, which is a text, a part, or a list of both. */
export function readParts(content: Json | undefined): readonly JsonObject[] {
  if (Array.isArray(content) && content.every(isObject)) return content;
  const list = Array.isArray(content) ? content : content === undefined || content === null ? [] : [content];
  return list.flatMap((part: Json) => (typeof part === 'string' ? [{ text: part }] : isObject(part) ? [part] : []));
}

/** Whether the part is a thought. */
export const isThought = (part: JsonObject): boolean => part.thought === true;

/** The text of a message without its thoughts. */
export function readSpokenText(message: JsonObject): string {
  if (typeof message.content === 'string') return message.content;
  let text = '';
  for (const part of readParts(message.content)) if (!isThought(part)) text += stringAt(part, 'text') ?? '';
  return text;
}

/** The tool calls that a message records in addition to its content. */
export const readCalls = (message: JsonObject): readonly JsonObject[] =>
  Array.isArray(message.toolCalls) ? message.toolCalls.filter((call: Json): call is JsonObject => isObject(call)) : [];

/** The parts of a tool's result: responses, and media beside them. */
export function readResult({ id, name, result }: JsonObject): readonly JsonObject[] {
  if (typeof result !== 'string') return readParts(result);
  return [{ functionResponse: { ...(id !== undefined && { id }), name: name ?? '', response: { output: result } } }];
}

/** The tool responses among the parts. */
export const responsesIn = (parts: readonly JsonObject[]): readonly JsonObject[] =>
  parts.flatMap(({ functionResponse }) => (isObject(functionResponse) ? [functionResponse] : []));

/** Whether the message tells the model the place and time. The agent sends it again whenever a session is opened. */
export const isContext = (message: JsonObject): boolean => message.type === 'user' && /^\s*<(session|hook)_context>/.test(readSpokenText(message));

const snapshot = /^\s*<state_snapshot>([\s\S]*)<\/state_snapshot>\s*$/;
/** The summary that a compression put in place of messages. */
export const summaryIn = (text: string): string | undefined => snapshot.exec(text)?.[1];
/** A text in the form in which a compression writes its summary. */
export const asSummary = (text: string): string => `<state_snapshot>${text}</state_snapshot>`;
/** Whether the message is the summary of a compression. */
export const isSummary = (message: JsonObject): boolean => message.type === 'user' && summaryIn(readSpokenText(message)) !== undefined;

/** A message's id. That of the agent's own context recurs in many sessions, so its time is added. A line that only adds calls is separate. */
export function nameMessage(message: JsonObject): string {
  const id = idOf(message).slice(0, maxNameLength);
  if (isContext(message)) {
    const at = readTime(message);
    return at === undefined ? id : `${id}-${Date.parse(at).toString(36)}`;
  }
  return isAddition(message) ? additionName(id) : id;
}
const maxNameLength = 200;
/** The name of a line that only adds calls to the message of this name. */
export const additionName = (id: string): string => `${id}#calls`;
/** Whether the line only adds calls to an imported message. */
export const isAddition = (message: JsonObject): boolean =>
  message.type === 'gemini' && message.content === undefined && readCalls(message).length > 0;

/** The role of a message in its turn. */
export function roleInTurn(message: JsonObject): RecordRole {
  if (message.type === 'gemini') return 'answer';
  if (message.type !== 'user') return 'quiet';
  if (isContext(message)) return 'lead';
  return responsesIn(readParts(message.content)).length > 0 ? 'result' : 'prompt';
}

/** One line that says what a person or the model wrote. */
export function writeHeadline(message: JsonObject): string | undefined {
  const text = clip(readSpokenText(message));
  if (text !== undefined) return text;
  return readParts(message.content).some((part) => isObject(part.inlineData)) ? '[image]' : undefined;
}

/** The folder in which the agent works, as it tells the model. */
export function folderIn(record: JsonObject): string | undefined {
  const folders = record.directories ?? (isObject(record.$set) ? record.$set.directories : undefined);
  const [first] = Array.isArray(folders) ? folders.filter((one: Json) => typeof one === 'string' && one !== '') : [];
  if (typeof first === 'string') return first;
  const told = historyIn(record)?.find(isContext) ?? (isMessage(record) && isContext(record) ? record : undefined);
  return told && /^- \*\*Workspace Directories:\*\*\n {2}- (.+)$/m.exec(readSpokenText(told))?.[1];
}

/** The name that the session was given. */
export const titleIn = (record: JsonObject): string | undefined =>
  isMessage(record) ? undefined : clip(stringAt(record.$set, 'summary') ?? stringAt(record, 'summary') ?? '');
