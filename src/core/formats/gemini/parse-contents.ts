import { type ByteRange, isObject, type Json, type JsonObject, parseJson, stringAt, decodeText as text } from '../../base/index.js';
import { readMessages } from './parse.js';
import { scanValues } from './parse-values.js';
import {
  historyIn,
  idOf,
  isAddition,
  isContext,
  isHeader,
  isMessage,
  isThought,
  nameMessage,
  readCalls,
  readParts,
  readResult,
  readSpokenText,
  responsesIn,
  rewindIn,
} from './schema.js';

/** A message as the agent holds it in memory. */
interface Turn {
  readonly id: string;
  readonly isModel: boolean;
  readonly parts: readonly JsonObject[];
  readonly calls: readonly JsonObject[];
  readonly isContext: boolean;
}

/**
 * The contents sent (0.61.0) up to the answer. `isReopened`: the session was opened again before. Its context was then sent again, but the file contains
 * only the first one, and results of tools come with their call and as messages of their own.
 */
export function contentsSent(deltas: Iterable<Uint8Array>, answer: string) {
  let turns: Turns = new Map();
  let isReopened = false;
  /** True if the file repeats its history from here, so that the notes of earlier calls are lost. */
  let isForgotten = false;
  let isFirst = true;
  const done = () => ({ contents: contentsOf(withResults([...turns.values()])), isReopened });
  for (const record of recordsIn(deltas)) {
    const history = historyIn(record);
    const back = rewindIn(record);
    if (history) {
      const at = history.findIndex((message) => nameMessage(message) === answer);
      turns = inOrder((at < 0 ? history : history.slice(0, at)).flatMap(turnOf));
      if (at >= 0) return done();
    } else if (back !== undefined) turns = takeBack(turns, back);
    else if (isMessage(record)) {
      if (nameMessage(record) === answer) return done();
      put(turns, record);
    } else if (isHeader(record)) isForgotten = !isFirst;
    else if (isReopening(record)) {
      turns = withCopies(reopened([...inOrder([...turns.values()]).values()], isForgotten));
      isReopened = true;
      isForgotten = false;
    }
    isFirst = false;
  }
  return done();
}

function* recordsIn(deltas: Iterable<Uint8Array>): Generator<JsonObject> {
  for (const delta of deltas) for (const { record } of scanValues(delta).pieces) if (record) yield record;
}

/** Whether the agent wrote the record when it opened the session again. */
const isReopening = ({ $set }: JsonObject): boolean => isObject($set) && typeof $set.sessionId === 'string';

const turnOf = (message: JsonObject): readonly Turn[] => {
  if (message.type !== 'user' && message.type !== 'gemini') return [];
  const [id, isModel] = [idOf(message), message.type === 'gemini'];
  return [{ id, isModel, parts: saidIn(message), calls: readCalls(message), isContext: isContext(message) }];
};

/** The parts of a message without thoughts. Calls follow the text unless the content contains them. */
function saidIn(message: JsonObject): readonly JsonObject[] {
  const parts = readParts(message.content).filter((part) => !isThought(part) && part.text !== '');
  if (message.type !== 'gemini' || parts.some(({ functionCall }) => functionCall !== undefined)) return parts;
  return [
    ...parts,
    ...readCalls(message).map(({ id, name, args }): JsonObject => ({ functionCall: { id: id ?? '', name: name ?? '', args: args ?? {} } })),
  ];
}

type Turns = Map<string, Turn>;
const inOrder = (turns: readonly Turn[]): Turns => new Map(turns.map((turn) => [turn.id, turn]));
/** The agent's list can contain two turns with the same id; the file contains only one of them. */
const withCopies = (turns: readonly Turn[]): Turns => {
  const all: Turns = new Map();
  for (const turn of turns) all.set(all.has(turn.id) ? `${turn.id}\0${all.size}` : turn.id, turn);
  return all;
};

function put(turns: Turns, message: JsonObject): void {
  const [turn] = turnOf(message);
  const before = turn && turns.get(turn.id);
  // A line that only adds calls has no other content.
  if (turn) turns.set(turn.id, before && message.content === undefined ? { ...turn, parts: [...before.parts, ...turn.parts] } : turn);
}

function takeBack(turns: Turns, id: string): Turns {
  const all = [...turns.values()];
  const at = all.findIndex((turn) => turn.id === id);
  return inOrder(all.slice(0, Math.max(0, at)));
}

/** The history as the agent reads it from its file and writes it again. */
function reopened(turns: readonly Turn[], isForgotten: boolean): Turn[] {
  const told = turns.filter((turn) => turn.isContext);
  const read = turns
    .filter((turn) => !turn.isContext && (turn.isModel || !isIgnored(turn)))
    .flatMap((turn): Turn[] => {
      const parts = turn.isModel ? turn.calls.flatMap(readResult) : [];
      const again: Turn = { id: `${turn.id}_response`, isModel: false, parts, calls: [], isContext: false };
      const own = { ...turn, calls: isForgotten ? [] : turn.calls };
      return parts.length > 0 ? [own, again] : [own];
    });
  const answers = new Map(
    read.flatMap(({ isModel, parts }) => (isModel ? [] : responsesIn(parts).map((response) => [stringAt(response, 'id') ?? '', parts] as const))),
  );
  return [...told, ...read.map((turn) => ({ ...turn, calls: turn.calls.map((call) => withAnswer(call, answers.get(stringAt(call, 'id') ?? ''))) }))];
}

/** If a message contains the results of several tools, each call records all of them. */
const withAnswer = (call: JsonObject, parts: readonly JsonObject[] | undefined): JsonObject =>
  parts === undefined ? call : { ...call, result: parts as readonly Json[] };

/** Whether the text was typed for the agent and not for the model. */
const isIgnored = ({ parts }: Turn): boolean => {
  const typed = readSpokenText({ content: parts as readonly Json[] }).trim();
  return responsesIn(parts).length === 0 && (typed === '' ? parts.every((part) => part.text !== undefined) : /^[/?]/.test(typed));
};

/** Older versions recorded results only with the calls. They are sent after the calls. */
function withResults(turns: readonly Turn[]): readonly Turn[] {
  const answered = new Set(turns.flatMap(({ isModel, parts }) => (isModel ? [] : responsesIn(parts).map(({ id }) => id))));
  return turns.flatMap((turn) => {
    const parts = turn.calls.filter(({ id }) => !answered.has(id ?? '')).flatMap(readResult);
    return parts.length > 0 ? [turn, { ...turn, isModel: false, parts, calls: [] }] : [turn];
  });
}

/** Consecutive turns of the same role form one content. Calls and results use the ids that the model assigned. */
function contentsOf(turns: readonly Turn[]): JsonObject[] {
  const contents: { readonly role: string; readonly parts: JsonObject[] }[] = [];
  for (const { isModel, parts } of turns) {
    if (parts.length === 0) continue;
    const role = isModel ? 'model' : 'user';
    const last = contents.at(-1);
    if (last?.role === role) last.parts.push(...parts.map(asSent));
    else contents.push({ role, parts: parts.map(asSent) });
  }
  return contents;
}

function asSent(part: JsonObject): JsonObject {
  const { functionCall, functionResponse } = part;
  if (isObject(functionCall)) return { ...part, functionCall: { ...functionCall, ...idSent(functionCall) } };
  return isObject(functionResponse) ? { ...part, functionResponse: { ...functionResponse, ...idSent(functionResponse) } } : part;
}

const idSent = (named: JsonObject): JsonObject => {
  const [id, name] = [stringAt(named, 'id'), stringAt(named, 'name')];
  return id !== undefined && name !== undefined && id.startsWith(`${name}__`) ? { id: id.slice(name.length + 2) } : {};
};

/** The tokens and model of an answer, as its message records them. */
export function answerNoted(delta: Uint8Array, { start, end }: ByteRange, name: string): JsonObject | undefined {
  const bytes = delta.subarray(start, end);
  const record = parseJson(text(bytes).replace(/^[\s,]+/, '')) ?? scanValues(bytes).pieces.find((piece) => piece.record)?.record;
  if (!isObject(record)) return undefined;
  const noted = historyIn(record)?.find((message) => nameMessage(message) === name) ?? record;
  // A line that adds calls to a message leaves the rest to the line before it.
  return isAddition(noted) ? (readMessages(scanValues(delta).pieces).find(({ message }) => idOf(message) === idOf(noted))?.message ?? noted) : noted;
}
