import { canonicalJson, isObject, type JsonObject, stringAt } from '../../base/index.js';
import type { PlanContext, Problem } from '../format.js';
import { type Piece, timeOf } from '../jsonl.js';
import { startedWith } from '../started.js';
import type { Grown, TreeRecord } from '../strands.js';
import { splitAddition } from './addition.js';
import {
  additionName,
  callsOf,
  historyIn,
  idOf,
  isContext,
  isMessage,
  isThought,
  nameOf,
  partOf,
  partsOf,
  responsesIn,
  rewindIn,
  textOf,
} from './record.js';

/** The subagents that a message's calls started, by the names under which they look for their call. */
const startsIn = (message: JsonObject): readonly string[] =>
  callsOf(message).flatMap((call) => {
    const [id, agent] = [stringAt(call, 'id'), stringAt(call, 'agentId')];
    return id !== undefined && agent !== undefined ? [startedWith(agent, id)] : [];
  });

/** A message of the history as it stands. */
interface Link extends Sent {
  readonly id: string;
  /** What the project calls the record that brought it, and that record, where this file has it. */
  readonly name: string;
  readonly node?: Node;
  /** What the record hangs on. */
  readonly before: TreeRecord['parent'];
}
type Node = TreeRecord & { readonly others: string[] };

interface Growing extends Grown {
  readonly notes: readonly Problem[];
  /** Where the agent would go on, be it in this file or in what the project has already. */
  readonly tip: TreeRecord['parent'];
}

/**
 * Puts a session's lines into a tree. The agent (0.61.0) writes no parents: it writes down what it does to its one history, and this
 * goes through that with the history in hand. What is taken back becomes a branch that ends; a history that is no more than what is
 * known already, as each start of the agent writes one, is kept aside; one that is shorter goes back; any other is a compaction.
 */
export function growTree(file: Uint8Array, given: readonly Piece[], context: PlanContext, startedBy?: TreeRecord['startedBy']): Growing {
  const notes: Problem[] = [];
  const aside = new Set<Piece>();
  const records: Node[] = [];
  const pieces: Piece[] = [];
  const path: Link[] = [];
  const placeOf = new Map<string, number>();
  let tip: TreeRecord['parent'] = null;
  /** A compaction of whose history some was taken back: the history that follows stands in its place. */
  let broken: Link | undefined;
  /** A new process told the place and the time, and nothing of what was before yet. */
  let isFresh = false;
  /** What tools answered, as far as it was taken in with their calls. */
  const answered = new Set<string>();
  const copied = context.resumeAt > 0 ? new Set<Piece>() : sharedPrefix(given, context);

  for (const piece of given) {
    const { record } = piece;
    const history = record && historyIn(record);
    const back = record && rewindIn(record);
    if (!record || piece.sort !== 'record') pieces.push(piece);
    else if (history) readHistory(piece, history);
    else if (back !== undefined) goBack(piece, back);
    else if (isMessage(record)) readMessage(piece, record);
    else pieces.push(piece);
  }
  return { pieces, records, aside, notes, tip };

  function keepAside(piece: Piece): void {
    pieces.push(piece);
    aside.add(piece);
  }

  function link(one: Omit<Link, keyof Sent | 'id'>, message: JsonObject): void {
    const id = idOf(message);
    placeOf.set(id, path.length);
    path.push({ ...one, id, ...sent(message) });
  }

  /** A record of the tree; undefined where the project has it from another file. */
  function place(piece: Piece, message: JsonObject, { name, ...more }: Pick<Node, 'name'> & Partial<Node>): Node | undefined {
    if (copied.has(piece)) {
      keepAside(piece);
      tip = isContext(message) ? tip : { record: name };
      return undefined;
    }
    const at = timeOf(message);
    const others = [...(hasCalls(message) && name === idOf(message) ? [additionName(name)] : []), ...startsIn(message)];
    const node = {
      ...{ name, others, piece, part: partOf(message), parent: tip, stored: isStored(piece) },
      ...(at !== undefined && { at }),
      ...(startedBy && { startedBy }),
      ...more,
    };
    if (pieces.at(-1) !== piece) pieces.push(piece);
    records.push(node);
    tip = node;
    return node;
  }

  function readMessage(piece: Piece, message: JsonObject): void {
    if (isFresh && isSpoken(message)) {
      cutPath(0);
      isFresh = false;
    }
    if (isStored(piece)) for (const call of callsOf(message)) if (call.result) answered.add(stringAt(call, 'id') ?? '');
    const at = placeOf.get(idOf(message));
    if (at !== undefined) readAgain(piece, message, at);
    else if (isStored(piece) ? path.length > 0 && !context.known.has(nameOf(message)) : isAnswered(message)) {
      keepAside(piece);
      const { name, before, node } = path.at(-1) as Link;
      link({ name, before, ...(node && { node }) }, message);
    } else {
      const name = nameOf(message);
      const before = tip;
      const node = place(piece, message, { name });
      link({ name, before, ...(node && { node }) }, message);
    }
  }

  /** A message that is there already, from its first line or an earlier import. */
  function readAgain(piece: Piece, message: JsonObject, at: number): void {
    const before = path[at] as Link;
    const isLast = path.slice(at + 1).every((one) => !isSpoken(one.message));
    path[at] = { ...before, ...sent(message) };
    if (isStored(piece)) {
      if (isMore(before.message, message) && context.known.has(additionName(before.id))) addCalls(piece, message, at);
      else pieces.push(piece);
    } else if (
      isLast &&
      before.node &&
      !before.node.stored &&
      records.findLast(({ part }) => part !== 'quiet') === before.node &&
      !historyIn(before.node.piece.record as JsonObject)
    ) {
      pieces.push(piece);
      if (hasCalls(message)) before.node.others.push(additionName(before.name), ...startsIn(message));
    } else if (copied.has(piece)) keepAside(piece);
    else if (isLast && isMore(before.message, message)) addCalls(piece, message, at);
    else {
      keepAside(piece);
      if (JSON.stringify(before.message) !== JSON.stringify(message))
        notes.push({ line: piece.line, reason: `the message ${before.id} was written again after others had followed it: this is kept aside` });
    }
  }

  /** A message that was taken in without its calls has them now: they are all that is new. */
  function addCalls(piece: Piece, message: JsonObject, at: number): void {
    const split = splitAddition(file, piece, message);
    if (split) {
      pieces.push(split.head);
      keepAside(split.said);
      const name = additionName(idOf(message));
      const before = tip;
      const node = place(split.calls, message, { name });
      path[at] = { ...(path[at] as Link), name, before, ...(node && { node }) };
      return;
    }
    notes.push({
      line: piece.line,
      reason: `the message ${idOf(message)} was taken in before without its calls, and is there a second time with them`,
    });
    place(piece, message, { name: nameOf(message) });
  }

  /** Its tools' answers were taken in with their calls. */
  function isAnswered(message: JsonObject): boolean {
    const responses = message.type === 'user' && answered.size > 0 ? responsesIn(partsOf(message.content)) : [];
    return path.length > 0 && responses.length > 0 && responses.every((response) => answered.has(stringAt(response, 'id') ?? ''));
  }

  function isStored({ range }: Piece): boolean {
    return range.start < context.resumeAt;
  }

  function goBack(piece: Piece, id: string): void {
    keepAside(piece);
    const at = placeOf.get(id);
    if (at === undefined && path.length > 0)
      notes.push({ line: piece.line, reason: `what it goes back to, ${id}, is not in the history: it begins anew, as the agent has it` });
    cutPath(at ?? 0);
  }

  /** Takes all but the first so many messages back. */
  function cutPath(length: number): void {
    const first = path[length];
    if (!first) return;
    const last = path[length - 1];
    for (const { id } of path.splice(length)) placeOf.delete(id);
    if (last?.node && last.node === first.node) broken = first;
    tip = last ? (last.node ?? { record: last.name }) : first.before;
  }

  function readHistory(piece: Piece, history: readonly JsonObject[]): void {
    if (path.length > 0 && history.every(isContext)) {
      isFresh = path.some(({ said }) => said() !== '');
      keepAside(piece);
      return;
    }
    isFresh = false;
    const now = path.filter(({ said }) => said() !== '');
    const then = sentOf(history.filter((message) => !isCopy(message)));
    const common = commonLength(now, then);
    if (history.length === 0 || (path.length > 0 && common === then.length && !broken)) {
      const first = now[common];
      if (first) cutPath(placeOf.get(first.id) ?? 0);
      keepAside(piece);
      return;
    }
    const named = history.find((message) => !isContext(message) && !placeOf.has(idOf(message))) ?? (history[0] as JsonObject);
    const name = nameOf(named);
    if (broken) tip = broken.before;
    broken = undefined;
    const before = tip;
    const part = before !== null ? 'compaction' : then.length === 0 ? 'lead' : 'prompt';
    const node = place(piece, named, { name, part, others: history.map(nameOf).filter((other) => other !== name) });
    path.length = 0;
    placeOf.clear();
    answered.clear();
    for (const message of history) link({ name: node ? name : nameOf(message), before, ...(node && { node }) }, message);
  }

  /** After a start of the agent, what its tools answered stands a second time beside the calls. */
  function isCopy(message: JsonObject): boolean {
    const id = idOf(message);
    return message.type === 'user' && id.endsWith(copyEnding) && placeOf.has(id.slice(0, -copyEnding.length));
  }
}

const isSpoken = ({ type }: JsonObject): boolean => type === 'user' || type === 'gemini';
const hasCalls = (message: JsonObject): boolean => callsOf(message).length > 0;

const copyEnding = '_response';

/**
 * The lines at the beginning of a file that another session's file has too: a session that was started from a file of another one repeats
 * all of its messages.
 */
function sharedPrefix(pieces: readonly Piece[], { known }: PlanContext): ReadonlySet<Piece> {
  let end = 0;
  for (const [at, { record }] of pieces.entries()) {
    if (!record || !isMessage(record)) continue;
    if (isContext(record) || !isSpoken(record)) continue;
    const hasAll = known.has(nameOf(record)) && (!hasCalls(record) || known.has(additionName(idOf(record))));
    if (!hasAll) break;
    end = at + 1;
  }
  return new Set(pieces.slice(0, end).filter(({ record, sort }) => sort === 'record' && record && (isMessage(record) || historyIn(record))));
}

interface Sent {
  readonly message: JsonObject;
  /** In a form that is the same whichever way it was recorded; nothing, where it is not sent. Most files never ask for it. */
  readonly said: () => string;
}

function sent(message: JsonObject): Sent {
  let text: string | undefined;
  return {
    message,
    said: () => {
      text ??= saidIn(message);
      return text;
    },
  };
}

/** What of a history the model is sent. */
const sentOf = (messages: readonly JsonObject[]): readonly Sent[] => messages.map(sent).filter(({ said }) => said() !== '');

function saidIn(message: JsonObject): string {
  if (!isSpoken(message) || isContext(message)) return '';
  const parts = partsOf(message.content).filter((part) => !isThought(part));
  const calls = new Set(
    [...parts.flatMap(({ functionCall }) => (isObject(functionCall) ? [functionCall] : [])), ...callsOf(message)].map(
      (call) => stringAt(call, 'id') ?? '',
    ),
  );
  const others = parts.filter((part) => part.text === undefined && part.functionCall === undefined);
  const text = textOf(message);
  if (text === '' && calls.size === 0 && others.length === 0) return '';
  return canonicalJson([idOf(message), text, [...calls], others]);
}

function commonLength(a: readonly Pick<Sent, 'said'>[], b: readonly Pick<Sent, 'said'>[]): number {
  let at = 0;
  while (at < a.length && at < b.length && a[at]?.said() === b[at]?.said()) at++;
  return at;
}

/** The later line has calls that the earlier one had not, and is the same otherwise. */
const isMore = (before: JsonObject, after: JsonObject): boolean =>
  after.type === 'gemini' && callsOf(before).length === 0 && callsOf(after).length > 0 && textOf(before) === textOf(after);
