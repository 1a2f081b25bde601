import { hash } from 'node:crypto';
import { decodeText, defined, isObject, type Json, type JsonObject, parseJson, stringAt } from '../../base/index.js';
import type { DatabaseReader, DatabaseRows, Lines, Member, Over } from '../format.js';
import { columnText, has, readRows } from '../mapped/rows.js';
import { objectsIn } from '../shared/drafts.js';
import { parseShallow } from '../shared/jsonl.js';
import { instant, type Wrapped, wrapLines } from '../shared/wrapped.js';

export const formatId = 'cursor-v1';

const table = 'cursorDiskKV';
const ownName = /^(?:state\.vscdb|store\.db)$/;

/** Reads Cursor's databases while it runs. The file is not stored: the editor's contains its whole state, including sign-in. */
export const database: DatabaseReader = {
  mayBe: (name) => ownName.test(name) || name.endsWith('.vscdb') || name === 'cli-store.db',
  isFollowed: (name) => ownName.test(name),
  keeps: { not: 'Stemma keeps each conversation instead of the database, which can also hold settings and the sign-in of the editor.' },
  recognize: (tables) => has(tables, table, ['key', 'value']) || (has(tables, 'blobs', ['id', 'data']) && has(tables, 'meta', ['key', 'value'])),
  *members(rows) {
    if (rows.tables.has(table)) yield* composers(rows);
    else yield* chats(rows);
  },
};

function valueAt(rows: DatabaseRows, key: string): Json | undefined {
  for (const { value } of [...rows.each(table, ['value'], { key })]) return parseShallow(columnText(value));
  return undefined;
}

/** The conversations of the editor. Only keys are listed: the values can be gigabytes. */
function* composers(rows: DatabaseRows): Generator<Member> {
  const named: string[] = [];
  for (const { key } of rows.each(table, ['key'])) if (/^(?:composerData|bubbleId):/.test(String(key))) named.push(String(key));
  const ids = named.flatMap((key) => (key.startsWith('composerData:') ? [key.slice('composerData:'.length)] : []));
  const bubbles = Map.groupBy(
    named.filter((key) => key.startsWith('bubbleId:')),
    (key) => key.split(':', 2)[1],
  );
  const starters = startersIn(rows, ids);
  const headers = headersIn(rows);
  for (const id of ids.sort()) {
    const data = valueAt(rows, `composerData:${id}`);
    if (!isObject(data)) continue;
    const keys = bubbles.get(id) ?? [];
    if (keys.length === 0 && objectsIn(data.conversation).length === 0) continue;
    const header = headers.get(id);
    const title = stringAt(data, 'name') ?? stringAt(header?.told, 'name');
    const identifier = data.workspaceIdentifier ?? header?.told.workspaceIdentifier;
    const workspace = isObject(identifier) ? identifier.uri : undefined;
    const cwd = stringAt(workspace, 'fsPath') ?? stringAt(workspace, 'path');
    const changed = instant(data.lastUpdatedAt ?? data.createdAt);
    const about = { sessionId: id, ...defined({ title, cwd }), ...subagentFacts(data, starters.get(id), header) };
    const linesOf = (records: readonly Wrapped[]): Lines => wrapLines(formatId, id, about, records);
    yield {
      id,
      stamp: stampOf(rows, id, data, keys),
      lines: () => linesOf(readRecords(rows, id, data, keys)),
      over: () => (stringAt(data, 'status') === 'generating' ? overOf(listedIn(rows, id, data, keys).listed, linesOf) : undefined),
      ...defined({ title, cwd }),
      ...(changed !== undefined && { modifiedAt: Date.parse(changed) }),
    };
  }
}

/** The composer that started each subagent, as the composers name them. */
function startersIn(rows: DatabaseRows, ids: readonly string[]): ReadonlyMap<string, string> {
  const starters = new Map<string, string>();
  for (const id of ids) {
    const data = valueAt(rows, `composerData:${id}`);
    const list = isObject(data) && Array.isArray(data.subComposerIds) ? data.subComposerIds : [];
    for (const sub of list) starters.set(String(sub), id);
  }
  return starters;
}

/** The facts of a conversation that another one started; none for others. */
function subagentFacts({ subagentInfo }: JsonObject, starter: string | undefined, header: Header | undefined): JsonObject {
  const startedIn = stringAt(subagentInfo, 'parentComposerId') ?? starter;
  if (startedIn === undefined && !header?.isSubagent) return {};
  return { agent: stringAt(subagentInfo, 'subagentTypeName') ?? stringAt(subagentInfo, 'type') ?? 'agent', ...defined({ startedIn }) };
}

/** What newer versions list about a conversation in a table of its own. */
interface Header {
  readonly told: JsonObject;
  readonly isSubagent: boolean;
}

/** The headers of conversations, by their ids. Versions before 3.14 have none. */
function headersIn(rows: DatabaseRows): ReadonlyMap<string, Header> {
  const found = new Map<string, Header>();
  if (!has(rows.tables, 'composerHeaders', ['composerId', 'value'])) return found;
  for (const { composerId, value, isSubagent } of readRows(rows, 'composerHeaders', ['composerId', 'value', 'isSubagent'])) {
    const told = parseShallow(columnText(value));
    found.set(columnText(composerId), { told: isObject(told) ? told : {}, isSubagent: Number(isSubagent ?? 0) === 1 });
  }
  return found;
}

/** The number of last bubbles of a conversation, which change while the model answers. */
const changing = 8;

/** A value that changes with every added bubble, and while the last bubbles are written. */
function stampOf(rows: DatabaseRows, composer: string, data: JsonObject, keys: readonly string[]): string {
  const last = objectsIn(data.fullConversationHeadersOnly).slice(-changing);
  const bubbles = last.map((header) => valueAt(rows, `bubbleId:${composer}:${stringAt(header, 'bubbleId')}`) ?? null);
  const { richText: _, context: __, ...told } = data;
  return hash('sha256', JSON.stringify([told, keys.length, bubbles]), 'base64');
}

/** For a conversation that is being answered: everything before its last prompt, because the growing answer has no other end mark. */
function overOf(listed: readonly Wrapped[], linesOf: (records: readonly Wrapped[]) => Lines): Over {
  const prompt = lastPromptIn(listed);
  const before = listed.slice(0, Math.max(0, prompt));
  return { last: before.at(-1)?.id, open: true, lines: () => linesOf(before) };
}

/** The bubbles in the order of the headers, after those that were taken back, which form branches: the agent continues what Cursor shows. */
function readRecords(rows: DatabaseRows, composer: string, data: JsonObject, keys: readonly string[]): readonly Wrapped[] {
  const { listed, others } = listedIn(rows, composer, data, keys);
  const shown = data.status === 'generating' ? withOpen(listed) : listed;
  return [...takenBack(others, shown), ...shown];
}

/** Bubbles that were taken back. A prompt begins a branch after the last bubble that Cursor shows from an earlier time. */
function takenBack(others: readonly Bubble[], shown: readonly Wrapped[]): readonly Wrapped[] {
  const earlier = shown.map((one, place) => ({ time: timeOf(one), place })).filter(({ time }) => time !== '');
  earlier.sort((a, b) => a.time.localeCompare(b.time));
  const branches: { readonly after: number; readonly bubbles: Bubble[] }[] = [];
  let [next, after] = [0, -1];
  for (const one of others.toSorted((a, b) => timeOf(a).localeCompare(timeOf(b)))) {
    for (let at = earlier[next]; at && at.time < timeOf(one); at = earlier[++next]) after = Math.max(after, at.place);
    const branch = branches.at(-1);
    if (branch && (one.record.type !== 1 || branch.after === after)) branch.bubbles.push(one);
    else branches.push({ after, bubbles: [one] });
  }
  return branches.flatMap(({ after, bubbles }) => chained(bubbles, shown[after]?.id));
}

const timeOf = ({ record }: Bubble): string => stringAt(record, 'createdAt') ?? '';

/** The answer that is being written has names of its own, because it is there again under its usual names once it is whole. */
function withOpen(listed: readonly Wrapped[]): readonly Wrapped[] {
  const prompt = lastPromptIn(listed);
  const name = (id: string): string => `${id}~open`;
  return listed.map((one, at) => {
    if (at <= prompt) return one;
    const parent = at === prompt + 1 ? one.parent : name(String(one.parent));
    return { ...one, id: name(one.id), parent, record: { ...one.record, isOpen: true } };
  });
}

const lastPromptIn = (listed: readonly Wrapped[]): number => listed.findLastIndex(({ record }) => record.type === 1);

type Bubble = Pick<Wrapped, 'id' | 'record'>;

/** Bubbles as records, each the child of the one before it. */
const chained = (bubbles: readonly Bubble[], before: string | null = null): Wrapped[] =>
  bubbles.map(({ id, record }, at) => ({ id, record, parent: bubbles[at - 1]?.id ?? before, at: record.createdAt }));

/** The bubbles that headers name, and all other bubbles. */
function listedIn(rows: DatabaseRows, composer: string, data: JsonObject, keys: readonly string[]) {
  const prefix = `bubbleId:${composer}:`;
  const found = new Map<string, Bubble>();
  const byKey = keys.map((key) => {
    const id = key.slice(prefix.length);
    const value = valueAt(rows, key);
    const one = { id, record: isObject(value) ? value : { missing: id } };
    found.set(id, one);
    return one;
  });
  for (const one of byKey) {
    const named = stringAt(one.record, 'bubbleId');
    if (named !== undefined && !found.has(named)) found.set(named, one);
  }
  const headers = objectsIn(data.fullConversationHeadersOnly).map((header) => stringAt(header, 'bubbleId') ?? '');
  const inline = objectsIn(data.conversation).map((record, at) => ({ id: stringAt(record, 'bubbleId') || `inline-${at}`, record }));
  const named = headers.length > 0 ? headers.map((id) => found.get(id) ?? { id, record: { missing: id } }) : inline;
  const listed = new Map(named.map((bubble) => [bubble.id, bubble] as const));
  return {
    listed: chained([...listed.values()]),
    others: byKey.filter(({ id, record }) => !listed.has(id) && record.missing === undefined),
  };
}

/** The chat of a store of blobs: its root names the blobs of the messages in order. */
function* chats(rows: DatabaseRows): Generator<Member> {
  const meta = readRows(rows, 'meta', ['key', 'value'])
    .map(({ value }) => parseJson(Buffer.from(columnText(value), 'hex').toString('utf8')))
    .find(isObject);
  const id = stringAt(meta, 'agentId');
  if (!meta || id === undefined) return;
  const named = defined({ title: stringAt(meta, 'name') });
  const blobAt = (blob: string): Uint8Array | undefined => {
    for (const { data } of [...rows.each('blobs', ['data'], { id: blob })]) return data instanceof Uint8Array ? data : Buffer.from(columnText(data));
    return undefined;
  };
  const records = (): readonly Wrapped[] => {
    const seen = new Map<string, number>();
    return namedIn(blobAt(stringAt(meta, 'latestRootBlobId') ?? '')).map((blob): Wrapped => {
      const value = parseShallow(decodeText(blobAt(blob) ?? new Uint8Array()));
      // Equal messages are one blob.
      const repeats = seen.get(blob) ?? 0;
      seen.set(blob, repeats + 1);
      return { id: repeats === 0 ? blob : `${blob}-${repeats}`, record: isObject(value) ? value : { missing: blob } };
    });
  };
  const stamp = JSON.stringify(meta);
  yield { id, stamp, lines: () => wrapLines(formatId, id, { sessionId: id, ...named }, records()), ...named };
}

const idField = 0x0a;
const idLength = 32;

/** The ids in a root: field 1 of a protocol buffer, repeated, each of 32 bytes. Reading ends at the first other field. */
function namedIn(root: Uint8Array | undefined): readonly string[] {
  const ids: string[] = [];
  for (let at = 0; root && root[at] === idField && root[at + 1] === idLength; at += idLength + 2)
    ids.push(Buffer.from(root.subarray(at + 2, at + 2 + idLength)).toString('hex'));
  return ids;
}
