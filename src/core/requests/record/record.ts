import { sha256Of } from '../../artifacts/index.js';
import { type ByteRange, once, onceFor } from '../../base/index.js';
import type { ReadChain, WriteChain } from '../../chain/index.js';
import type { RequestTokens } from '../../contract/index.js';
import type { FileBytes } from '../../formats/index.js';
import {
  type ApiRequest,
  agentOf,
  type RecordedText,
  type Records,
  readRecords,
  type TranscriptReply,
  type UnfinishedCall,
} from '../runtimes/claude-code/records.js';
import { findReader } from '../runtimes/runtimes.js';
import { membersAt, stringIn } from '../shared/json-ranges.js';
import { listRow, type MessageListRow } from '../shared/lists.js';
import { type BaseCall, type CallRecordPlace, type Gap, putCall, saveConversation, saveGap, saveShape } from './calls.js';
import { openResolver } from './resolve.js';
import { type ArtifactRange, messageKeys, openTexts, type ShapeRow, type Texts } from './texts.js';

interface RecordsFile {
  readonly bytes: FileBytes;
  /** Returns the whole file in memory. Called only if the file has records. */
  readonly whole: () => Uint8Array;
  readonly format: string;
}

export type ReadCalls = NonNullable<ReturnType<typeof readFrom>>;

/** Bytes of a file that are searched for records before the transaction. A runtime that records its calls records the first ones too. */
const searchedBytes = 1024 * 1024;

/** Reads and verifies the records of a new file without a database. Undefined if the first part of the file has no records. */
export function readCalls({ bytes, whole, format }: RecordsFile): ReadCalls | undefined {
  const head = bytes.subarray(0, Math.min(searchedBytes, bytes.length));
  const read = readFrom({ bytes: head, whole, format }, 0);
  for (const { tail } of read?.records.calls ?? []) for (const hash of tail) read?.resolver.find(hash, () => false);
  return read;
}

function readFrom({ bytes, whole, format }: RecordsFile, from: number, open?: ReadonlyMap<string, UnfinishedCall>) {
  if (!findReader(format).hasRecords?.(bytes)) return undefined;
  const file = whole();
  const records = readRecords(file, from, file.length, open);
  return { file, records, resolver: openResolver(file, from, records) };
}

/**
 * Stores a transcript's request records once, each checked by its hash. Call it in the import's transaction. Undefined without records.
 * @param input `from`: lines before this byte were stored earlier. `source`: the source's row, if an earlier state of the file was imported. `read`:
 * the records of a new file that were read before the transaction.
 */
export function takeRecords(
  chain: WriteChain,
  input: RecordsFile & { readonly from: number; readonly source: number | undefined; readonly read?: ReadCalls | undefined },
) {
  const { from, source } = input;
  const open = source === undefined ? new Map<string, OpenRequest>() : openRequests(chain, source);
  const read = input.read ?? readFrom(input, from, open);
  if (!read) return undefined;
  const { file, records, resolver } = read;
  const texts = openTexts(chain, file);
  const isOfSource = storedBy(chain, source);
  const message = (hash: string): number | Gap => {
    const found = resolver.find(hash, () => isOfSource(hash) !== undefined);
    if (found === 'stored') return isOfSource(hash) as number;
    return 'gap' in found ? { hash, reason: found.gap } : texts.keepMessage(hash, found.message, found.range);
  };
  const calls = records.calls.map((call): TakenCall => ({ call, tail: call.tail.map(message) }));
  for (const { reply } of [...records.calls, ...[...records.lateReplies.values()].map((late) => ({ reply: late }))]) {
    const whole = reply && resolver.reply(reply.messageId, texts.has);
    if (whole) texts.keepMessage(whole.hash, whole.message, undefined);
  }
  const shapeOf = shapeFinder(file, from, records, texts);
  const shapes = new Map([...new Set(records.calls.map((call) => call.shapeHash))].map((hash) => [hash, shapeOf(hash)]));
  const places = texts.finish(linesOf(records));
  return {
    /** The parts of the file that are stored with its calls, in file order. They need not be stored again with the file. */
    stored: texts.ranges().toSorted((a, b) => a.at - b.at),
    calls: records.calls.length,
    /** Records that could not be read as calls; `line` counts from 1. */
    problems: records.problems.map(({ at, reason }) => ({ line: lineAt(file, at), reason })),
    /** Writes the rows, once the source has its own row. */
    save(sourceNo: number): void {
      texts.save(sourceNo);
      saveCalls(chain, { file, source: sourceNo, calls, shapes, places, open, records });
    },
  };
}

/** Whether the source has recorded calls so far. Added lines may contain their replies. */
export const hasCalls = (chain: ReadChain, source: number): boolean =>
  chain.db.one('SELECT 1 FROM requestConversation WHERE source = ? LIMIT 1', source) !== undefined;

interface TakenCall {
  readonly call: ApiRequest;
  readonly tail: readonly (number | Gap)[];
}

interface OpenRequest extends UnfinishedCall {
  readonly no: number;
}

/** The last call of each agent of the source, for replies that arrive later. */
function openRequests(chain: ReadChain, source: number): Map<string, OpenRequest> {
  type Row = Readonly<Record<'replyRecord' | 'replyMessage', string | null>> & RequestTokens;
  const select = `SELECT r.no, c.agentId, r.replyRecord, r.replyMessage, r.input, r.output, r.cacheRead, r.cacheWrite
     FROM requestConversation c JOIN request r ON r.no = (SELECT MAX(no) FROM request WHERE conversation = c.no)
    WHERE c.source = ? ORDER BY r.no`;
  const rows = chain.db.all<Row & { no: number; agentId: string }>(select, source);
  return new Map(
    rows.map(({ no, agentId, replyRecord, replyMessage, ...usage }) => [
      agentId,
      { no, reply: replyRecord !== null && replyMessage !== null ? { messageId: replyMessage, record: replyRecord, usage: () => usage } : undefined },
    ]),
  );
}

/** Numbers of messages that this source itself contains. Messages of another file do not count for it. */
function storedBy(chain: ReadChain, source: number | undefined): (hash: string) => number | undefined {
  const { db, project } = chain;
  const message = 'SELECT no FROM requestMessage WHERE project = ? AND hash = ?';
  const pageOf = 'SELECT source, first + count AS end FROM requestPage WHERE first <= ? ORDER BY first DESC LIMIT 1';
  return (hash) => {
    if (source === undefined) return undefined;
    for (const key of messageKeys(hash)) {
      const no = db.value<number>(message, project, Buffer.from(key, 'hex'));
      const page = no === undefined ? undefined : db.one<{ source: number; end: number }>(pageOf, no);
      if (no !== undefined && page?.source === source && no < page.end) return no;
    }
    return undefined;
  };
}

/** Stores and returns the shape that the file has for a hash, or returns the reason why it has none. */
function shapeFinder(file: Uint8Array, from: number, records: Records, texts: Texts): (hash: string) => ShapeRow | string {
  const inStretch = byHash(records.shapes);
  const earlier = once(() => byHash(from > 0 ? readRecords(file, 0, from).shapes : []));
  return (hash) => {
    const here = inStretch.get(hash);
    const [first, ...others] = here ?? earlier().get(hash) ?? [];
    if (!first) return `no system prompt and tools with the hash ${hash || 'that it should name'} are recorded before it`;
    const shape = texts.keepShape(here ? first : { ...first, range: undefined });
    for (const other of others) {
      const again = texts.keepShape(here ? other : { ...other, range: undefined });
      if (typeof again === 'string') return `${again}; ${others.length + 1} records give some under this hash`;
    }
    return shape;
  };
}

const byHash = (texts: readonly RecordedText[]): Map<string, RecordedText[]> => Map.groupBy(texts, ({ hash }) => hash);

/** The lines that are stored with the calls: those of calls, and the bytes around messages and shapes. */
const linesOf = (records: Records): ByteRange[] =>
  [...records.calls.map((call) => call.line), ...[...records.messages, ...records.shapes].flatMap((text) => (text.range ? [text.line] : []))].sort(
    (a, b) => a.start - b.start,
  );

interface Saving {
  readonly file: Uint8Array;
  readonly source: number;
  readonly calls: readonly TakenCall[];
  readonly shapes: ReadonlyMap<string, ShapeRow | string>;
  readonly places: ReadonlyMap<ByteRange, ArtifactRange>;
  readonly open: ReadonlyMap<string, OpenRequest>;
  readonly records: Records;
}

interface Base extends BaseCall {
  readonly flaw: string | null;
}

/** Why a call cannot be put together from its base; null if it can. @param isLater whether the base is recorded after the call. */
function flawOf(call: TakenCall['call'], base: Base | undefined, isLater: boolean): string | null {
  if (call.flaw !== undefined) return call.flaw;
  if (call.base === undefined) return null;
  if (!base) return `its base ${call.base} is recorded ${isLater ? 'only after it' : 'nowhere'}`;
  if (base.flaw !== null && call.keep > 0) return `its base ${call.base} cannot be put together: ${base.flaw}`;
  return call.keep > base.messageCount ? `it keeps ${call.keep} messages of its base ${call.base}, which has ${base.messageCount}` : null;
}

function saveCalls(chain: WriteChain, { file, source, calls, shapes, places, open, records }: Saving): void {
  const { db, project } = chain;
  const conversationsOf = onceFor((session: string) => onceFor((agent: string) => saveConversation(chain, source, session, agent)));
  const shapeNo = onceFor((shape: ShapeRow) => saveShape(chain, shape));
  const later = new Map(calls.map(({ call }, index) => [call.id, index]));
  const saved = new Map<string, Base>();
  const lists = new Map<number, MessageListRow>();
  const listAt = (no: number): MessageListRow | undefined => lists.get(no) ?? listRow(db, no);
  const baseRow = (id: string): Base | undefined =>
    saved.get(id) ?? db.one<Base>('SELECT no, messageCount, steps, flaw FROM request WHERE project = ? AND requestId = ?', project, id);

  calls.forEach(({ call, tail }, index) => {
    const line = file.subarray(call.line.start, call.line.end);
    const requestId = freeId(chain, call.id, line);
    if (requestId === undefined) {
      if (call.reply) saveReply(chain, baseRow(call.id)?.no ?? 0, call.reply);
      return;
    }
    const base = call.base === undefined ? undefined : baseRow(call.base);
    const flaw = flawOf(call, base, (later.get(call.base ?? '') ?? -1) >= index);
    const shape = shapes.get(call.shapeHash) ?? 'none is named';
    const numbers = tail.map((one) => (typeof one === 'number' ? one : -saveGap(chain, source, one)));
    const linked = flaw === null && base !== undefined && call.keep > 0 ? base : undefined;
    const place = places.get(call.line);
    if (!place) throw new Error(`the record of call ${call.id} was not stored`);
    const { list, ...stored } = putCall(chain, {
      requestId,
      conversation: conversationsOf(call.sessionId ?? '')(agentOf(call.agentId)),
      place: { ...place, size: line.length },
      at: call.at,
      model: call.model ?? null,
      ...(typeof shape === 'string' ? { shape: null, shapeFlaw: shape } : { shape: shapeNo(shape) }),
      base: linked,
      keep: linked ? call.keep : 0,
      numbers,
      listAt,
      flaw,
      reply: call.reply,
      before: call.reply ? null : recordBefore(file, call.line.start),
      usage: call.reply?.usage(),
    });
    lists.set(stored.no, list);
    saved.set(requestId, { ...stored, flaw });
  });
  for (const [agent, reply] of records.lateReplies) saveReply(chain, open.get(agent)?.no ?? 0, reply);
  for (const { messageId, paused, resumed } of records.resumed) joinHalves(chain, messageId, paused, resumed);
}

function saveReply(chain: WriteChain, no: number, { record, messageId, usage }: TranscriptReply): void {
  const { input, output, cacheRead, cacheWrite } = usage();
  const update =
    'UPDATE request SET replyRecord = ?, replyMessage = ?, input = ?, output = ?, cacheRead = ?, cacheWrite = ? WHERE no = ? AND project = ?';
  chain.db.run(update, record, messageId, input, output, cacheRead, cacheWrite, no, chain.project);
}

/** A paused reply continues in another call. Both have the whole message as their reply. */
function joinHalves(chain: WriteChain, messageId: string, paused: string, resumed: string): void {
  const values = { project: chain.project, paused, resumed, messageId };
  const halves = 'project = :project AND requestId IN (:paused, :resumed)';
  const half = chain.db.one<{ record: string }>(`SELECT replyRecord AS record FROM request WHERE ${halves} AND replyMessage = :messageId`, values);
  if (half)
    chain.db.run(`UPDATE request SET replyMessage = :messageId, replyRecord = :record WHERE ${halves} AND replyRecord IS NULL`, {
      ...values,
      ...half,
    });
}

/** The id to store a call under: its own, with digits of the record's hash if it is taken. Undefined if this record is stored already. */
function freeId(chain: ReadChain, id: string, line: Uint8Array): string | undefined {
  const rowOf = (name: string) =>
    chain.db.one<CallRecordPlace>('SELECT page, start, size FROM request WHERE project = ? AND requestId = ?', chain.project, name);
  const taken = rowOf(id);
  if (!taken) return id;
  const { page, start, size } = taken;
  if (size === line.length && Buffer.compare(chain.artifacts.read(page).subarray(start, start + size), line) === 0) return undefined;
  const other = `${id}~${sha256Of(line).toString('hex').slice(0, 12)}`;
  return rowOf(other) ? undefined : other;
}

/** The number of lines before a call in which its previous record is searched. */
const linesBefore = 64;

/** The uuid of the record before a position in the file. A call without a reply belongs to that record. */
function recordBefore(file: Uint8Array, at: number): string | null {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  let end = at - 1;
  for (let left = linesBefore; left > 0 && end > 0; left -= 1) {
    const start = bytes.lastIndexOf(0x0a, end - 1) + 1;
    const line = bytes.subarray(start, end);
    const uuid = line.includes('"uuid"') ? stringIn(line, membersAt(line, 0, ['uuid'])?.get('uuid')) : undefined;
    if (uuid !== undefined) return uuid;
    end = start - 1;
  }
  return null;
}

function lineAt(file: Uint8Array, at: number): number {
  let line = 1;
  for (let next = file.indexOf(0x0a); next !== -1 && next < at; next = file.indexOf(0x0a, next + 1)) line += 1;
  return line;
}
