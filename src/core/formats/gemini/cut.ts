import { badRequest, bytesOf, type EntryKey, isObject, type JsonObject } from '../../base/index.js';
import { concatLines, type Piece } from '../jsonl.js';
import { messagesOf, parse, thoughtsOf } from './entries.js';
import { callsOf, historyIn, idOf, isMessage, isThought, nameOf, partsOf, resultOf, splitKey } from './record.js';
import { scanValues } from './values.js';

/**
 * The delta up to and including the entry. A message that says more than is kept is written again with the kept part, and so is a
 * history: all other bytes stay as they are.
 * @throws BAD_REQUEST when the delta has no such entry.
 */
export function cutLines(delta: Uint8Array, lastKept: EntryKey): Uint8Array {
  const { entries } = parse(delta);
  const at = entries.findIndex(({ key }) => key === lastKept);
  const { pieces } = scanValues(delta);
  const messages = messagesOf(pieces).map(({ message }) => message);
  const key = splitKey(lastKept);
  const place = messages.findIndex((message) => nameOf(message) === key?.name);
  const whole = messages[place];
  if (at < 0 || !key || !whole) throw badRequest('at', `at is ${lastKept}, which is no entry of this delta`);
  const isCut = splitKey(entries[at + 1]?.key)?.name === key.name;
  const last = isCut ? shorten(whole, key.number) : whole;
  const holder = pieces.findLast(({ record }) => record && historyIn(record)?.some((message) => idOf(message) === idOf(whole)));
  const isItsOwn = pieces.some(({ record }) => record && isMessage(record) && idOf(record) === idOf(whole));
  return holder && !isItsOwn ? cutHistory(delta, holder, last) : cutMessages(delta, pieces, { kept: messages.slice(0, place), last, isCut });
}

function cutHistory(delta: Uint8Array, { record, range }: Piece, last: JsonObject): Uint8Array {
  const history = historyIn(record as JsonObject) ?? [];
  const messages = [
    ...history.slice(
      0,
      history.findIndex((message) => idOf(message) === idOf(last)),
    ),
    last,
  ];
  const set = isObject(record?.$set) ? record.$set : {};
  return concatLines([delta.slice(0, range.start), lineOf({ ...record, $set: { ...set, messages } })]);
}

interface Cut {
  readonly kept: readonly JsonObject[];
  readonly last: JsonObject;
  readonly isCut: boolean;
}

function cutMessages(delta: Uint8Array, pieces: readonly Piece[], { kept, last, isCut }: Cut): Uint8Array {
  const ids = new Set([...kept, ...(isCut ? [] : [last])].map(idOf));
  const end = pieces.findLastIndex(({ record }) => record && idOf(record) === idOf(last));
  const before = pieces.slice(0, end + 1).filter(({ record }) => !record || !isMessage(record) || ids.has(idOf(record)));
  return concatLines([Buffer.concat(before.map(({ range }) => delta.subarray(range.start, range.end))), ...(isCut ? [lineOf(last)] : [])]);
}

const lineOf = (record: JsonObject): Uint8Array => bytesOf(`${JSON.stringify(record)}\n`);

/** The message up to the part that has this number in it: thoughts, what is said, calls, and what they brought. */
function shorten(message: JsonObject, number: number): JsonObject {
  const parts = partsOf(message.content);
  if (message.type !== 'gemini') return { ...message, content: parts.slice(0, number + 1) };
  const { toolCalls: _, thoughts, content: __, ...rest } = message;
  const called = new Set(parts.flatMap(({ functionCall }) => (isObject(functionCall) ? [functionCall.id] : [])));
  const calls = callsOf(message).filter(({ id }) => !called.has(id as string));
  const thought = parts.some(isThought) ? 0 : thoughtsOf(message).length;
  const said = thought + parts.length;
  const asked = said + calls.length;
  const withThoughts: JsonObject = Array.isArray(thoughts) ? { thoughts: number < thought ? thoughts.slice(0, number + 1) : thoughts } : {};
  const content = number < thought ? [] : number < said ? parts.slice(0, number - thought + 1) : message.content;
  let place = asked;
  const kept = callsOf(message)
    .filter(({ id }) => called.has(id as string) || calls.findIndex((call) => call.id === id) + said <= number)
    .map(({ result, ...call }): JsonObject => {
      const begin = place;
      place += resultOf({ ...call, result: result ?? null }).length;
      return begin <= number && result !== undefined ? { ...call, result } : call;
    });
  return { ...rest, ...(content === undefined ? {} : { content }), ...withThoughts, ...(kept.length > 0 && { toolCalls: kept }) };
}
