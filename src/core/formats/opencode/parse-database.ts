import { defined, isObject, type Json, type JsonObject, onceFor, parseJson, stringAt } from '../../base/index.js';
import type { ColumnValue, DatabaseReader, DatabaseRows, Lines, Member, PlanContext } from '../format.js';
import { has } from '../mapped/rows.js';
import { parseShallow, writeLines } from '../shared/jsonl.js';
import { hasMessages, hasSecond, secondMessages, secondStamps } from './parse-second.js';
import { type Together, together } from './parse-together.js';
import { type MessageLine, readParts, startIn } from './schema.js';

const needed: Readonly<Record<string, readonly string[]>> = {
  session: ['id', 'directory', 'title'],
  message: ['id', 'session_id', 'time_created', 'data'],
  part: ['id', 'message_id', 'session_id', 'data'],
};

/** The columns of a session row. The columns about sharing (a link and its secret) are not read. */
const sessionColumns = [
  'id project_id parent_id slug directory path title version metadata cost',
  'tokens_input tokens_output tokens_reasoning tokens_cache_read tokens_cache_write',
  'revert permission agent model time_created time_updated time_archived',
].flatMap((columns) => columns.split(' '));

const ownName = /^opencode[\w.-]*\.db$/;

/** OpenCode's own database. Each session is a source. The file is not stored, because it also contains the tokens of the sign-in. */
export const database: DatabaseReader = {
  mayBe: (name) => ownName.test(name),
  isFollowed: (name) => ownName.test(name),
  keeps: { not: 'The database also holds the tokens with which its owner is signed in. Stemma keeps each session instead.' },
  recognize: (tables) => hasFirst(tables) || hasSecond(tables),
  aside: ['todo', 'permission', 'session_share', 'session_entry', 'session_input', 'session_pending', 'session_inbox', 'instruction_entry', 'event'],
  *members(rows) {
    const stamps = hasMessages(rows.tables) ? secondStamps(rows) : new Map<string, string>();
    const first = hasFirst(rows.tables) ? sessionsIn(rows, 'session') : [];
    const firstIds = new Set(first.map(({ id }) => id));
    const second = hasSecond(rows.tables) ? sessionsIn(rows, 'session_v2') : [];
    const secondIds = new Set(second.map(({ id }) => id));
    const counts = countEvents(rows);
    const firstOf = (id: string) => () => (firstIds.has(id) ? firstMessages(rows, id) : []);
    const tasks = onceFor((parent: string) => tasksOf(rows, parent));
    for (const session of [...second, ...first.filter(({ id }) => !secondIds.has(id))]) {
      const id = session.id as string;
      const stamp = stamps.get(id);
      const parent = stringAt(session, 'parent_id');
      const about: About = (more) => ({ session, ...more, ...(parent !== undefined && { startedBy: tasks(parent).get(id) ?? null }) });
      // Betas of version 2 wrote the new messages beside the old sessions.
      if (secondIds.has(id) || stamp !== undefined) yield secondMember(rows, session, about, `${stamp ?? ''} ${counts.get(id) ?? ''}`, firstOf(id));
      else yield readMember(rows, session, about, counts.get(id));
    }
  },
};

const hasFirst = (tables: DatabaseRows['tables']): boolean => Object.entries(needed).every(([table, columns]) => has(tables, table, columns));

function sessionsIn(rows: DatabaseRows, table: string): JsonObject[] {
  const columns = sessionColumns.filter((column) => rows.tables.get(table)?.includes(column));
  const sessions = [...rows.each(table, columns)].map(asJson).filter(({ id }) => typeof id === 'string' && id !== '');
  return sessions.sort((a, b) => Number(a.time_created ?? 0) - Number(b.time_created ?? 0) || (String(a.id) < String(b.id) ? -1 : 1));
}

/** What is known of a session without reading its messages. */
function aboutOf(session: JsonObject) {
  const modifiedAt = Number(session.time_updated ?? session.time_created);
  return {
    id: session.id as string,
    ...defined({ title: stringAt(session, 'title'), cwd: stringAt(session, 'directory') }),
    ...(Number.isFinite(modifiedAt) && { modifiedAt }),
  };
}

/** Writes the last line of a session, with `more` facts. `startedBy` is the call of the parent that started it; null if no call of the parent says so. */
type About = (more: JsonObject) => JsonObject;

/** A session of version 2. `first`: its messages in the tables of version 1. */
function secondMember(rows: DatabaseRows, session: JsonObject, about: About, stamp: string, first: () => readonly MessageLine[]): Member {
  const id = session.id as string;
  const linesUpTo = ({ lines, unread, parents, notes }: Together, last?: string): Lines => {
    const end = last === undefined ? lines.length : lines.findIndex(({ info }) => info.id === last) + 1;
    const more = { ...(Object.keys(parents).length > 0 && { parents }), ...(notes.length > 0 && { notes }) };
    return writeLines([...lines.slice(0, end), ...unread, about(more)]);
  };
  return {
    ...aboutOf(session),
    lines: () => linesUpTo(together(secondMessages(rows, id), first())),
    over: (granularity) => {
      const all = together(secondMessages(rows, id), first());
      const said = all.lines.filter(({ info }) => info.role !== 'system');
      const last = stringAt(said.findLast(({ info }) => isOver(info, granularity))?.info, 'id');
      return { last, open: last !== said.at(-1)?.info.id, lines: () => linesUpTo(all, last ?? '') };
    },
    stamp: `${stamp} ${Number(session.time_updated ?? session.time_created)}`,
  };
}

/** The messages of a session in the tables of version 1, as lines. */
function firstMessages(rows: DatabaseRows, sessionId: string): readonly MessageLine[] {
  const { read } = readMessages(rows, sessionId);
  for (const row of rows.each('part', ['id', 'message_id', 'data'], { session_id: sessionId })) {
    const data = dataIn(row.data);
    if (isObject(data)) read.get(String(row.message_id))?.parts.set(String(row.id), data);
  }
  return inOrder(read).map(writeLine);
}

const writeLine = ({ info, parts }: Message): MessageLine => ({
  info,
  parts: [...parts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, body]) => body),
});

function readMember(rows: DatabaseRows, session: JsonObject, about: About, count: number | undefined): Member {
  const known = aboutOf(session);
  const stamp = count ?? known.modifiedAt;
  return {
    ...known,
    lines: () => readSession(rows, known.id, about),
    over: (granularity) => {
      const messages = inOrder(readMessages(rows, known.id).read);
      const last = messages.findLast((message) => isOver(message.info, granularity) && (message !== messages.at(-1) || isWhole(rows, message)));
      return { last: last?.id, open: last !== messages.at(-1), lines: () => readSession(rows, known.id, about, last) };
    },
    ...(stamp !== undefined && { stamp: String(stamp) }),
  };
}

/** Stop reasons of answers after which the agent continues automatically. */
const continuesAlone: ReadonlySet<unknown> = new Set(['tool-calls', 'unknown']);

/** Whether the message ends a turn or, where that is asked for, the tools of a call are complete. */
function isOver({ role, time, finish, error }: JsonObject, granularity: PlanContext['granularity']): boolean {
  if (role !== 'assistant' || !isObject(time) || typeof time.completed !== 'number') return error !== undefined && role === 'assistant';
  return granularity !== 'turn_boundary' || error !== undefined || (typeof finish === 'string' && !continuesAlone.has(finish));
}

/** A fork is copied message by message, with the parts of each message last. The end of an answer is among its parts. */
function isWhole(rows: DatabaseRows, { id, info }: Message): boolean {
  if (info.error !== undefined) return true;
  return [...rows.each('part', ['data'], { message_id: id })].some(({ data }) => typeof data === 'string' && data.includes('"step-finish"'));
}

/** The number of events of each session, which grows with every write. */
function countEvents(rows: DatabaseRows): ReadonlyMap<string, number> {
  const columns = ['aggregate_id', 'seq'];
  if (!has(rows.tables, 'event_sequence', columns)) return new Map();
  return new Map([...rows.each('event_sequence', columns)].map((row) => [String(row.aggregate_id), Number(row.seq)] as const));
}

/** The call that started each session that the session's tools started. */
function tasksOf(rows: DatabaseRows, sessionId: string): ReadonlyMap<string, string> {
  const first = hasFirst(rows.tables) ? [...rows.each('part', ['data'], { session_id: sessionId })] : [];
  const second = hasMessages(rows.tables) ? secondMessages(rows, sessionId).lines.flatMap(readParts) : [];
  const named = first.map(({ data }) => (typeof data === 'string' && data.includes('"sessionId"') ? parseJson(data) : undefined)).filter(isObject);
  return new Map([...named, ...second].flatMap(startIn));
}

interface Message {
  readonly id: string;
  readonly created: number;
  readonly info: JsonObject;
  readonly parts: Map<string, JsonObject>;
}

/** The messages of a session without their parts, and the rows that are not messages. */
function readMessages(rows: DatabaseRows, sessionId: string): { readonly read: Map<string, Message>; readonly unread: JsonObject[] } {
  const read = new Map<string, Message>();
  const unread: JsonObject[] = [];
  for (const row of rows.each('message', ['id', 'time_created', 'data'], { session_id: sessionId })) {
    const id = String(row.id);
    const data = dataIn(row.data);
    if (isObject(data)) read.set(id, { id, created: Number(row.time_created), info: { ...data, id, sessionID: sessionId }, parts: new Map() });
    else unread.push({ row: { table: 'message', ...asJson(row) } });
  }
  return { read, unread };
}

/** In the order in which the agent reads them. */
const inOrder = (messages: ReadonlyMap<string, Message>): Message[] =>
  [...messages.values()].sort((a, b) => a.created - b.created || (a.id < b.id ? -1 : 1));

/** The lines of a session in the agent's order, with messages taken back and a last line about it. @param last The last message to include. */
function readSession(rows: DatabaseRows, sessionId: string, about: About, last?: Message): Lines {
  const where = { session_id: sessionId };
  const { read: messages, unread } = readMessages(rows, sessionId);
  for (const row of rows.each('part', ['id', 'message_id', 'data'], where)) {
    const id = String(row.id);
    const message = messages.get(String(row.message_id));
    const data = dataIn(row.data);
    if (message && isObject(data)) message.parts.set(id, { ...data, id, sessionID: sessionId, messageID: message.id });
    else unread.push({ row: { table: 'part', ...asJson(row) } });
  }
  const journal = journalOf(rows, sessionId);
  const removed = [...journal.removed.keys()].filter((id) => !messages.has(id));
  for (const message of removed.flatMap((id) => journal.messages.get(id) ?? [])) messages.set(message.id, message);
  const all = inOrder(messages);
  const ordered = last ? all.slice(0, all.findIndex(({ id }) => id === last.id) + 1) : all;
  const here = new Set(ordered.map(({ id }) => id));
  const gone = removed.filter((id) => here.has(id));
  const more = { ...(gone.length > 0 && { removed: gone, parents: Object.fromEntries(parentsOf(ordered, journal)) }) };
  return writeLines([...ordered.map(writeLine), ...unread, about(more)]);
}

/** A revert deletes rows, but the journal of events still has their content. */
function journalOf(rows: DatabaseRows, sessionId: string) {
  const messages = new Map<string, Message>();
  /** When each message was first written and when it was taken back, as numbers of journal events. */
  const begun = new Map<string, number>();
  const removed = new Map<string, number>();
  const journal = { messages, begun, removed };
  if (!has(rows.tables, 'event', ['aggregate_id', 'seq', 'type', 'data'])) return journal;
  const where = { aggregate_id: sessionId };
  const isOf = (type: unknown, kind: string): boolean => typeof type === 'string' && type.startsWith(`message.${kind}.`);
  const events = [...rows.each('event', ['seq', 'type'], where)];
  if (!events.some(({ type }) => isOf(type, 'removed'))) return journal;
  const bySeq = [...rows.each('event', ['seq', 'type', 'data'], where)].sort((a, b) => Number(a.seq) - Number(b.seq));
  for (const { seq, type, data } of bySeq) {
    const value = typeof type === 'string' && type.startsWith('message.') ? dataIn(data) : undefined;
    if (!isObject(value)) continue;
    if (isOf(type, 'updated') && isObject(value.info)) {
      const id = String(value.info.id);
      const created = isObject(value.info.time) ? Number(value.info.time.created) : 0;
      messages.set(id, { id, created, info: value.info, parts: messages.get(id)?.parts ?? new Map() });
      if (!begun.has(id)) begun.set(id, Number(seq));
    } else if (isOf(type, 'removed')) removed.set(String(value.messageID), Number(seq));
    else if (isObject(value.part)) messages.get(String(value.part.messageID))?.parts.set(String(value.part.id), value.part);
    else if (isOf(type, 'part.removed')) messages.get(String(value.messageID))?.parts.delete(String(value.partID));
  }
  return journal;
}

/** The parent of each message, if it is not the previous message: the last message that had not been taken back at that time. */
function parentsOf(ordered: readonly Message[], { begun, removed }: ReturnType<typeof journalOf>): [string, string | null][] {
  const parents: number[] = [];
  ordered.forEach((message, place) => {
    const since = begun.get(message.id) ?? Number.POSITIVE_INFINITY;
    const wasGone = (at: number): boolean => (removed.get((ordered[at] as Message).id) ?? Number.POSITIVE_INFINITY) < since;
    let at = place - 1;
    // A message that was taken back earlier cannot be a parent of later ones.
    while (at >= 0 && wasGone(at)) at = parents[at] as number;
    parents.push(at);
  });
  return parents.flatMap((at, place): [string, string | null][] =>
    at === place - 1 ? [] : [[(ordered[place] as Message).id, ordered[at]?.id ?? null]],
  );
}

/** The JSON in a column; undefined if it is not JSON or nests too deeply. */
const dataIn = (column: unknown): Json | undefined => (typeof column === 'string' ? parseShallow(column) : undefined);

/** A row as JSON. Values without a JSON form (bytes) become their text. */
const asJson = (row: object): JsonObject => Object.fromEntries(Object.entries(row).map(([key, value]) => [key, jsonOf(value)]));

const jsonOf = (value: ColumnValue): Json =>
  value instanceof Uint8Array ? Buffer.from(value).toString('base64') : typeof value === 'bigint' ? Number(value) : value;
