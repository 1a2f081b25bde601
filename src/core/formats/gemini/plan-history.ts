import { canonicalJson, isObject, type JsonObject, once, parseJson, stringAt } from '../../base/index.js';
import type { PlanContext, Problem } from '../format.js';
import type { TreeRecord } from '../shared/branches.js';
import { bufferOf, type RecordPiece, readTime } from '../shared/jsonl.js';
import { startedWith } from '../shared/keys.js';
import {
  additionName,
  historyIn,
  idOf,
  isContext,
  isMessage,
  isThought,
  nameMessage,
  readCalls,
  readParts,
  readSpokenText,
  responsesIn,
  rewindIn,
  roleInTurn,
} from './schema.js';

/** The subagents that a message's calls started, by the names under which they look for their call. */
const startsIn = (message: JsonObject): readonly string[] =>
  readCalls(message).flatMap((call) => {
    const [id, agent] = [stringAt(call, 'id'), stringAt(call, 'agentId')];
    return id !== undefined && agent !== undefined ? [startedWith(agent, id)] : [];
  });

/** A message with the text by which histories are compared. */
interface SentMessage {
  readonly message: JsonObject;
  /** The text that the model gets, in a form that does not depend on the recording; empty if it gets nothing. Computed on demand. */
  readonly sentText: () => string;
}

interface Place {
  /** The project's name of the record that holds the message. */
  readonly name: string;
  /** That record, if this file contains it. */
  readonly node: Node | undefined;
  readonly before: TreeRecord['parent'];
}
type Link = SentMessage & Place & { readonly id: string };
type Node = TreeRecord & { readonly others: string[] };

/** The tree while it grows, with the history as the agent holds it at the current line. */
const newGrowth = (file: Uint8Array, context: PlanContext, startedBy: TreeRecord['startedBy'], given: readonly RecordPiece[]) => ({
  file,
  context,
  startedBy,
  /** Lines that another file of the project also contains. */
  copied: context.resumeAt > 0 ? new Set<RecordPiece>() : sharedPrefix(given, context),
  pieces: [] as RecordPiece[],
  records: [] as Node[],
  aside: new Set<RecordPiece>(),
  notes: [] as Problem[],
  path: [] as Link[],
  /** The position of each message in `path`, by its id. */
  placeOf: new Map<string, number>(),
  /** The calls whose results were imported together with them. */
  answered: new Set<string>(),
  /** The record after which the agent would continue, in this file or only in the project. */
  tip: null as TreeRecord['parent'],
  /** A compaction whose history was partly taken back. The next history replaces it. */
  broken: undefined as Link | undefined,
  /** True if a new process has sent its context, but none of the earlier messages yet. */
  isFresh: false,
});
type Growth = ReturnType<typeof newGrowth>;

/**
 * Places the lines of a session in a tree. The agent (0.61.0) writes no parents: it records what it does to its one history, and this
 * function replays that. Messages that are taken back become a branch that ends. A history that equals the known one, as each start of
 * the agent writes it, is ignored. A shorter one is a rewind, and any other is a compaction.
 */
export function growTree(file: Uint8Array, given: readonly RecordPiece[], context: PlanContext, startedBy?: TreeRecord['startedBy']): Growth {
  const growth = newGrowth(file, context, startedBy, given);
  for (const piece of given) {
    const { record } = piece;
    const history = record && historyIn(record);
    const back = record && rewindIn(record);
    if (!record || piece.sort !== 'record') growth.pieces.push(piece);
    else if (history) readHistory(growth, piece, history);
    else if (back !== undefined) goBack(growth, piece, back);
    else if (isMessage(record)) readMessage(growth, piece, record);
    else growth.pieces.push(piece);
  }
  return growth;
}

function ignore({ pieces, aside }: Growth, piece: RecordPiece): void {
  pieces.push(piece);
  aside.add(piece);
}

const isStored = ({ context }: Growth, { range }: RecordPiece): boolean => range.start < context.resumeAt;

function addLink({ path, placeOf }: Growth, { name, before, node }: Place, message: JsonObject): void {
  const id = idOf(message);
  placeOf.set(id, path.length);
  path.push({ name, before, node, id, ...sent(message) });
}

/** Adds a record to the tree. It has no node if the project has the record from another file. */
function place(growth: Growth, piece: RecordPiece, message: JsonObject, { name, ...more }: Pick<Node, 'name'> & Partial<Node>): Place {
  const { startedBy, pieces, records, tip: before } = growth;
  if (growth.copied.has(piece)) {
    ignore(growth, piece);
    growth.tip = isContext(message) ? before : { record: name };
    return { name, before, node: undefined };
  }
  const others = [...(hasCalls(message) && name === idOf(message) ? [additionName(name)] : []), ...startsIn(message)];
  const node = {
    name,
    others,
    piece,
    part: roleInTurn(message),
    parent: before,
    stored: isStored(growth, piece),
    at: readTime(message),
    ...(startedBy && { startedBy }),
    ...more,
  };
  if (pieces.at(-1) !== piece) pieces.push(piece);
  records.push(node);
  growth.tip = node;
  return { name, before, node };
}

function readMessage(growth: Growth, piece: RecordPiece, message: JsonObject): void {
  const { path, placeOf, answered, context } = growth;
  if (growth.isFresh && isSpoken(message)) {
    cutPath(growth, 0);
    growth.isFresh = false;
  }
  const stored = isStored(growth, piece);
  if (stored) for (const call of readCalls(message)) if (call.result) answered.add(stringAt(call, 'id') ?? '');
  const at = placeOf.get(idOf(message));
  if (at !== undefined) readAgain(growth, piece, message, at);
  else if (stored ? path.length > 0 && !context.known.has(nameMessage(message)) : isAnswered(growth, message)) {
    ignore(growth, piece);
    addLink(growth, path.at(-1) as Link, message);
  } else addLink(growth, place(growth, piece, message, { name: nameMessage(message) }), message);
}

/** Reads a message that an earlier line or an earlier import already contains. */
function readAgain(growth: Growth, piece: RecordPiece, message: JsonObject, at: number): void {
  const { path, pieces, copied, context, notes } = growth;
  const before = path[at] as Link;
  const isLast = path.slice(at + 1).every((one) => !isSpoken(one.message));
  path[at] = { ...before, ...sent(message) };
  if (isStored(growth, piece)) {
    if (isMore(before.message, message) && context.known.has(additionName(before.id))) addCalls(growth, piece, message, at);
    else pieces.push(piece);
  } else if (isLast && before.node && isLastNew(growth, before.node)) {
    pieces.push(piece);
    if (hasCalls(message)) before.node.others.push(additionName(before.name), ...startsIn(message));
  } else if (copied.has(piece)) ignore(growth, piece);
  else if (isLast && isMore(before.message, message)) addCalls(growth, piece, message, at);
  else {
    ignore(growth, piece);
    if (JSON.stringify(before.message) !== JSON.stringify(message))
      notes.push({ line: piece.line, reason: `the message ${before.id} was written again after later messages: the second version is ignored` });
  }
}

/** Whether the node is the last message of the tree, is not stored yet and is not a history. */
const isLastNew = ({ records }: Growth, node: Node): boolean =>
  !node.stored && records.findLast(({ part }) => part !== 'quiet') === node && !historyIn(node.piece.record as JsonObject);

/** Adds the calls of a message that was imported without them. */
function addCalls(growth: Growth, piece: RecordPiece, message: JsonObject, at: number): void {
  const { file, path, pieces, notes } = growth;
  const split = splitAddition(file, piece, message);
  if (split) {
    pieces.push(split.head);
    ignore(growth, split.said);
    const placed = place(growth, split.calls, message, { name: additionName(idOf(message)) });
    path[at] = { ...(path[at] as Link), ...placed };
    return;
  }
  notes.push({ line: piece.line, reason: `the message ${idOf(message)} was imported before without its calls, and is repeated with them` });
  place(growth, piece, message, { name: nameMessage(message) });
}

/**
 * A message is written when the model has answered, and again as a whole when its calls have results. If the first line was imported before the
 * second, only the calls of the second line are new. Then the line is split in three: without the middle part, it contains only the id of its
 * message and the calls. Undefined if the line cannot be split.
 */
function splitAddition(file: Uint8Array, { line: number, range: { start, end } }: RecordPiece, { id, timestamp, type, toolCalls }: JsonObject) {
  const line = bufferOf(file).toString('latin1', start, end);
  const from = line.indexOf('"content":');
  const wanted = canonicalJson({ id, timestamp, type, toolCalls } as JsonObject);
  for (let at = line.indexOf('"toolCalls":', from); from > 0 && at > from; at = line.indexOf('"toolCalls":', at + 1)) {
    const record = parseJson(Buffer.from(line.slice(0, from) + line.slice(at), 'latin1').toString('utf8'));
    if (!isObject(record) || canonicalJson(record) !== wanted) continue;
    const part = (begin: number, stop: number): RecordPiece => ({ line: number, range: { start: begin, end: stop }, sort: 'blank' });
    return {
      head: part(start, start + from),
      said: part(start + from, start + at),
      calls: { ...part(start + at, end), record, sort: 'record' } satisfies RecordPiece,
    };
  }
  return undefined;
}

/** Whether the results in the message were imported with their calls. */
function isAnswered({ path, answered }: Growth, message: JsonObject): boolean {
  const responses = message.type === 'user' && answered.size > 0 ? responsesIn(readParts(message.content)) : [];
  return path.length > 0 && responses.length > 0 && responses.every((response) => answered.has(stringAt(response, 'id') ?? ''));
}

function goBack(growth: Growth, piece: RecordPiece, id: string): void {
  const { path, placeOf, notes } = growth;
  ignore(growth, piece);
  const at = placeOf.get(id);
  if (at === undefined && path.length > 0)
    notes.push({ line: piece.line, reason: `the rewind to ${id} names no message of the history: the history starts again, as in the agent` });
  cutPath(growth, at ?? 0);
}

/** Takes back all messages but the first `length`. */
function cutPath(growth: Growth, length: number): void {
  const { path, placeOf } = growth;
  const first = path[length];
  if (!first) return;
  const last = path[length - 1];
  for (const { id } of path.splice(length)) placeOf.delete(id);
  if (last?.node && last.node === first.node) growth.broken = first;
  growth.tip = last ? (last.node ?? { record: last.name }) : first.before;
}

function readHistory(growth: Growth, piece: RecordPiece, history: readonly JsonObject[]): void {
  const { path, placeOf, answered } = growth;
  if (path.length > 0 && history.every(isContext)) {
    growth.isFresh = path.some(({ sentText }) => sentText() !== '');
    ignore(growth, piece);
    return;
  }
  growth.isFresh = false;
  const now = path.filter(({ sentText }) => sentText() !== '');
  const then = history.flatMap((message) => (isCopy(growth, message) ? [] : [sent(message)])).filter(({ sentText }) => sentText() !== '');
  const common = commonLength(now, then);
  if (history.length === 0 || (path.length > 0 && common === then.length && !growth.broken)) {
    const first = now[common];
    if (first) cutPath(growth, placeOf.get(first.id) ?? 0);
    ignore(growth, piece);
    return;
  }
  const named = history.find((message) => !isContext(message) && !placeOf.has(idOf(message))) ?? (history[0] as JsonObject);
  // A history of known messages changes some of them, and has no message that is its own.
  const name = placeOf.has(idOf(named)) ? `${nameMessage(named)}#history-${piece.line}` : nameMessage(named);
  if (growth.broken) growth.tip = growth.broken.before;
  growth.broken = undefined;
  const part = growth.tip !== null ? 'compaction' : then.length === 0 ? 'lead' : 'prompt';
  const placed = place(growth, piece, named, { name, part, others: history.map(nameMessage).filter((other) => other !== name) });
  path.length = 0;
  placeOf.clear();
  answered.clear();
  for (const message of history) addLink(growth, placed.node ? placed : { ...placed, name: nameMessage(message) }, message);
}

/** After a start of the agent, the results of tools are repeated next to their calls. */
function isCopy({ placeOf }: Growth, message: JsonObject): boolean {
  const id = idOf(message);
  return message.type === 'user' && id.endsWith(copyEnding) && placeOf.has(id.slice(0, -copyEnding.length));
}

const hasCalls = (message: JsonObject): boolean => readCalls(message).length > 0;

const copyEnding = '_response';

/** The first lines that another session's file also has, because a session started from it repeats its messages. */
function sharedPrefix(pieces: readonly RecordPiece[], { known }: PlanContext): ReadonlySet<RecordPiece> {
  let end = 0;
  for (const [at, { record }] of pieces.entries()) {
    if (!record || !isMessage(record) || isContext(record) || !isSpoken(record)) continue;
    const hasAll = known.has(nameMessage(record)) && (!hasCalls(record) || known.has(additionName(idOf(record))));
    if (!hasAll) break;
    end = at + 1;
  }
  return new Set(pieces.slice(0, end).filter(({ record, sort }) => sort === 'record' && record && (isMessage(record) || historyIn(record))));
}

/** Whether a person or the model wrote the message. */
const isSpoken = ({ type }: JsonObject): boolean => type === 'user' || type === 'gemini';

/** The message with its text for comparisons. */
const sent = (message: JsonObject): SentMessage => ({ message, sentText: once(() => sentTextOf(message)) });

function sentTextOf(message: JsonObject): string {
  if (!isSpoken(message) || isContext(message)) return '';
  const parts = readParts(message.content).filter((part) => !isThought(part));
  const calls = new Set(
    [...parts.flatMap(({ functionCall }) => (isObject(functionCall) ? [functionCall] : [])), ...readCalls(message)].map(
      (call) => stringAt(call, 'id') ?? '',
    ),
  );
  const others = parts.filter((part) => part.text === undefined && part.functionCall === undefined);
  const text = readSpokenText(message);
  if (text === '' && calls.size === 0 && others.length === 0) return '';
  return canonicalJson([idOf(message), text, [...calls], others]);
}

/** The number of first messages that both histories share. */
function commonLength(a: readonly Pick<SentMessage, 'sentText'>[], b: readonly Pick<SentMessage, 'sentText'>[]): number {
  let at = 0;
  while (at < a.length && at < b.length && a[at]?.sentText() === b[at]?.sentText()) at++;
  return at;
}

/** Whether the later line only adds calls to the earlier line. */
const isMore = (before: JsonObject, after: JsonObject): boolean =>
  after.type === 'gemini' && readCalls(before).length === 0 && readCalls(after).length > 0 && readSpokenText(before) === readSpokenText(after);
