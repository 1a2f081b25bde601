import { badRequest, type EntryKey, isObject, type JsonObject } from '../../base/index.js';
import { concatLines, encodeLines, type RecordPiece } from '../shared/jsonl.js';
import { splitKey } from '../shared/keys.js';
import { parse, readMessages, thoughtsOf } from './parse.js';
import { scanValues } from './parse-values.js';
import { historyIn, idOf, isMessage, isThought, nameMessage, readCalls, readParts, readResult, responsesIn } from './schema.js';

/** The delta up to the entry. A message or history with more is written again with the kept part. @throws BAD_REQUEST if no such entry exists. */
export function cutLines(delta: Uint8Array, lastKept: EntryKey): Uint8Array {
  const { entries } = parse(delta);
  const at = entries.findIndex(({ key }) => key === lastKept);
  const { pieces } = scanValues(delta);
  const messages = readMessages(pieces).map(({ message }) => message);
  const key = splitKey(lastKept);
  const place = messages.findIndex((message) => nameMessage(message) === key?.name);
  const last = messages[place];
  if (at < 0 || !key || !last) throw badRequest('at', `at is ${lastKept}, but this delta has no such entry`);
  const isCut = splitKey(entries[at + 1]?.key)?.name === key.name;
  const kept = [...messages.slice(0, place), isCut ? shorten(last, key.number) : last];
  const answered = answersIn(kept);
  // The call repeats the result that is cut off here, so it would come back.
  const gone = new Set([...answersIn(messages)].filter((id) => !answered.has(id)));
  return writeAgain(delta, pieces, new Map(kept.map((message, n) => [idOf(message), unlessSame(messages[n], withoutResults(message, gone))])));
}

const answersIn = (messages: readonly JsonObject[]): Set<unknown> =>
  new Set(messages.flatMap((message) => (message.type === 'user' ? responsesIn(readParts(message.content)).map(({ id }) => id) : [])));

const unlessSame = (before: JsonObject | undefined, after: JsonObject): JsonObject | null => (before === after ? null : after);

function withoutResults(message: JsonObject, gone: ReadonlySet<unknown>): JsonObject {
  const calls = readCalls(message);
  if (!calls.some(({ id, result }) => result !== undefined && gone.has(id))) return message;
  return {
    ...message,
    toolCalls: calls.map(({ result, ...call }): JsonObject => (result === undefined || gone.has(call.id) ? call : { ...call, result })),
  };
}

/** The lines of these messages, by id, up to the last one: unchanged or shortened. */
function writeAgain(delta: Uint8Array, pieces: readonly RecordPiece[], kept: ReadonlyMap<string, JsonObject | null>): Uint8Array {
  const isKept = (message: JsonObject): boolean => kept.has(idOf(message));
  const messagesAt = ({ record }: RecordPiece): readonly JsonObject[] => (record ? (historyIn(record) ?? (isMessage(record) ? [record] : [])) : []);
  const end = pieces.findLastIndex((piece) => messagesAt(piece).some(isKept));
  const parts = pieces.slice(0, end + 1).flatMap((piece, at): Uint8Array[] => {
    const { record, range } = piece;
    const bytes = delta.subarray(range.start, range.end);
    const messages = messagesAt(piece);
    if (!record || messages.length === 0) return [bytes];
    const history = historyIn(record);
    if (history && isObject(record.$set)) {
      const left = history.filter(isKept).map((message) => kept.get(idOf(message)) ?? message);
      return left.every((message, n) => message === history[n]) && left.length === history.length
        ? [bytes]
        : [encodeLines([{ ...record, $set: { ...record.$set, messages: left } }])];
    }
    const [message = record] = messages;
    const changed = kept.get(idOf(message));
    if (changed === undefined) return [];
    if (changed === null) return [bytes];
    const isLast = pieces.findLastIndex((other) => other.record && isMessage(other.record) && idOf(other.record) === idOf(message)) === at;
    return isLast ? [encodeLines([changed])] : [];
  });
  return concatLines(parts);
}

/** The message up to the part with this number: thoughts, text, calls and their results. */
function shorten(message: JsonObject, number: number): JsonObject {
  const parts = readParts(message.content);
  if (message.type !== 'gemini') return { ...message, content: parts.slice(0, number + 1) };
  const { toolCalls: _, thoughts, content: __, ...rest } = message;
  const called = new Set(parts.flatMap(({ functionCall }) => (isObject(functionCall) ? [functionCall.id] : [])));
  const calls = readCalls(message).filter(({ id }) => !called.has(id as string));
  const thought = parts.some(isThought) ? 0 : thoughtsOf(message).length;
  const said = thought + parts.length;
  const asked = said + calls.length;
  const withThoughts: JsonObject = Array.isArray(thoughts) ? { thoughts: number < thought ? thoughts.slice(0, number + 1) : thoughts } : {};
  const content = number < thought ? [] : number < said ? parts.slice(0, number - thought + 1) : message.content;
  let place = asked;
  const kept = readCalls(message)
    .filter(({ id }) => called.has(id as string) || calls.findIndex((call) => call.id === id) + said <= number)
    .map(({ result, ...call }): JsonObject => {
      const begin = place;
      place += readResult({ ...call, result: result ?? null }).length;
      return begin <= number && result !== undefined ? { ...call, result } : call;
    });
  return { ...rest, ...(content === undefined ? {} : { content }), ...withThoughts, ...(kept.length > 0 && { toolCalls: kept }) };
}
