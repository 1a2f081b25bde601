import { type ArtifactNo, badRequest, type CommitSeq, decodeText, type EntryKey, encodeText, isObject, parseJson } from '../../base/index.js';
import { keep, recalled, type WriteChain } from '../../chain/index.js';
import type { Provider } from '../../contract/index.js';
import { messageHash, orderWithHash } from '../shared/canonical.js';
import { listRow, readList } from '../shared/lists.js';
import { type MessageReader, messageReader } from '../shared/messages.js';
import { textAt } from '../shared/pages.js';
import { bodiesFormat } from './bodies.js';
import { putCall, saveShape } from './calls.js';
import { baseFor, conversationOf, sourceOfCalls, wireFormat } from './capture.js';
import { joinRecent } from './join.js';
import { openTexts } from './texts.js';

/** A call that belongs to no file, in the form that is pushed to a hub and pulled. Its messages, system prompt and tools are objects. */
export interface TravelingCall {
  readonly no: number;
  readonly requestId: string;
  readonly format: string;
  readonly sessionId: string;
  readonly at: number;
  readonly provider: Provider;
  readonly model: string | null;
  readonly input: number | null;
  readonly output: number | null;
  readonly cacheRead: number | null;
  readonly cacheWrite: number | null;
  readonly record: string;
  /** In hexadecimal. */
  readonly shapeHash: string | null;
  readonly system: ArtifactNo | null;
  readonly tools: ArtifactNo | null;
  readonly rest: string | null;
  /** Objects, as a JSON list. */
  readonly messages: string;
  /** The commit with the reply, and where the reply begins. */
  readonly context: CommitSeq | null;
  readonly replyKey: EntryKey | null;
  readonly replyRecord: string | null;
  /** The marks by which the reply of a call without a commit is recognized, as a JSON list. */
  readonly marks: string;
}

/** The fields of a call that are pushed and pulled. */
export const travelingFields: readonly (keyof TravelingCall)[] = [
  'requestId',
  'format',
  'sessionId',
  'at',
  'provider',
  'model',
  'input',
  'output',
  'cacheRead',
  'cacheWrite',
  'record',
  'shapeHash',
  'system',
  'tools',
  'rest',
  'messages',
  'context',
  'replyKey',
  'replyRecord',
  'marks',
];

/** The formats of the sources of calls that belong to no file. */
export const callFormats: readonly string[] = [wireFormat, bodiesFormat];

type StoredRow = Omit<TravelingCall, 'record' | 'messages' | 'marks'> & {
  readonly page: ArtifactNo;
  readonly start: number;
  readonly size: number;
};

/** Calls that belong to no file, oldest first: those captured on the wire, and those of raw bodies. Other calls travel in their files. */
export function* travelingCalls(chain: WriteChain, isKnown: (requestId: string) => boolean): Generator<TravelingCall> {
  const { db, project, artifacts } = chain;
  const rows = db.all<StoredRow>(
    `SELECT r.no, r.requestId, s.format, c.sessionId, r.at, r.provider, r.model, r.input, r.output, r.cacheRead, r.cacheWrite, r.page, r.start,
            r.size, lower(hex(p.hash)) AS shapeHash, p.system, p.tools, p.rest, r.context, r.replyKey, r.replyRecord
       FROM request r JOIN requestConversation c ON c.no = r.conversation JOIN source s ON s.no = c.source LEFT JOIN requestShape p ON p.no = r.shape
      WHERE r.project = ? AND r.provider IS NOT NULL AND s.format IN (${callFormats.map((format) => `'${format}'`).join(', ')}) ORDER BY r.no`,
    project,
  );
  const reader = messageReader(chain);
  for (const { page, start, size, ...row } of rows) {
    if (isKnown(row.requestId)) continue;
    const numbers = readList((no) => listRow(db, no), row.no);
    // Only calls of files have missing messages.
    if (numbers.some((no) => no < 0)) continue;
    const marks = db.all<{ mark: string }>('SELECT mark FROM requestReply WHERE request = ? ORDER BY mark', row.no);
    yield {
      ...row,
      shapeHash: row.shapeHash || null,
      record: decodeText(artifacts.read(page).subarray(start, start + size)),
      messages: JSON.stringify(objectsOf(chain, reader, numbers)),
      marks: JSON.stringify(marks.map(({ mark }) => mark)),
    };
  }
}

/** The number of bytes that the number of an object takes in memory, about. */
const bytesPerNumber = 100;

/** Messages as objects of their own, so that each travels once. A message never changes, so its object is remembered. */
function objectsOf(chain: WriteChain, reader: MessageReader, numbers: readonly number[]): ArtifactNo[] {
  const { artifacts } = chain;
  return artifacts.transaction(() =>
    numbers.map((no) => {
      const before = recalled<ArtifactNo>(chain, 'message object', String(no));
      if (before !== undefined) return before;
      const { first, page } = reader.pageOf(no);
      const { no: object } = artifacts.put(textAt(page, no - first), { contentType: 'application/json', bulk: true });
      keep(chain, 'message object', String(no), object, bytesPerNumber);
      return object;
    }),
  );
}

/** Stores a call of another project and returns its row. Call it inside a transaction. @throws BAD_REQUEST for invalid values. */
export function storeTravelingCall(chain: WriteChain, call: Omit<TravelingCall, 'no'>): number {
  const { db, project, artifacts } = chain;
  if (!callFormats.includes(call.format))
    throw badRequest('format', `A call has the format ${call.format}, but must have one of ${callFormats.join(', ')}.`);
  if (!isObject(parseJson(call.record))) throw badRequest('record', 'The record of a call is not a JSON object.');
  const source = sourceOfCalls(chain, call.format);
  const record = encodeText(call.record);
  const texts = openTexts(chain, record);
  const objects = JSON.parse(call.messages) as ArtifactNo[];
  requireReadable(chain, objects);
  const kept = new Map<ArtifactNo, ReturnType<typeof texts.keepMessage>>();
  const numberOf = (object: ArtifactNo) => {
    const text = artifacts.read(object);
    const hash = messageHash(text);
    if (!hash) throw badRequest('messages', 'A message of a call is not JSON.');
    return texts.keepMessage(hash.toString('hex'), { text, order: orderWithHash(text, hash) }, undefined);
  };
  const numbers = objects.map((object) => {
    const number = kept.get(object) ?? numberOf(object);
    kept.set(object, number);
    return number;
  });
  const line = { start: 0, end: record.length };
  const place = texts.finish([line]).get(line);
  if (!place) throw new Error('the record of a call that arrived was not stored');
  texts.save(source);
  const { shapeHash, system, tools, rest, input, output, cacheRead, cacheWrite } = call;
  const { no } = putCall(chain, {
    requestId: call.requestId,
    conversation: conversationOf(chain, source, call.sessionId),
    place: { ...place, size: record.length },
    at: call.at,
    model: call.model,
    shape: shapeHash === null ? null : saveShape(chain, { hash: Buffer.from(shapeHash, 'hex'), system, tools, rest }),
    ...baseFor(chain, source, numbers),
    usage: { input, output, cacheRead, cacheWrite },
    provider: call.provider,
  });
  if (call.context !== null) {
    const { context, replyKey, replyRecord } = call;
    db.run('UPDATE request SET context = ?, replyKey = ?, replyRecord = ? WHERE no = ? AND project = ?', context, replyKey, replyRecord, no, project);
    return no;
  }
  for (const mark of JSON.parse(call.marks) as string[])
    db.run('INSERT OR IGNORE INTO requestReply (project, mark, request) VALUES (?, ?, ?)', project, String(mark), no);
  joinRecent(chain, call.at);
  return no;
}

/** The most bytes of the messages of a call: no provider takes a body of this size. */
const mostMessageBytes = 256 * 1024 * 1024;

/** @throws BAD_REQUEST if a call has more than a provider takes: a list may name one large message a million times. */
function requireReadable({ artifacts }: WriteChain, objects: readonly ArtifactNo[]): void {
  const sizes = new Map<ArtifactNo, number>();
  let bytes = 0;
  for (const object of objects) {
    const size = sizes.get(object) ?? artifacts.stat(object).size;
    sizes.set(object, size);
    bytes += size;
    if (bytes > mostMessageBytes) throw badRequest('messages', `The messages of a call have more than ${mostMessageBytes} bytes.`);
  }
}
