import {
  type ArtifactNo,
  badRequest,
  type CommitSeq,
  decodeText,
  type EntryKey,
  encodeText,
  isObject,
  onceFor,
  parseJson,
} from '../../base/index.js';
import { keep, recalled, type WriteChain } from '../../chain/index.js';
import type { Provider, RequestTokens } from '../../contract/index.js';
import { shownCounts } from '../runtimes/runtime.js';
import { listRow, readList } from '../shared/lists.js';
import { type MessageReader, messageReader } from '../shared/messages.js';
import { textAt } from '../shared/pages.js';
import { bodiesFormat } from './bodies.js';
import type { CallRecordPlace } from './calls.js';
import { keepMessage, sourceOfCalls, storeWithTexts, wireFormat } from './capture.js';
import { joinRecent, setAnswer, waitForMarks } from './join.js';
import type { Texts } from './texts.js';

/** A call that belongs to no file, in the form that is pushed to a hub and pulled. Its messages, system prompt and tools are objects. */
export interface TravelingCall extends RequestTokens {
  readonly no: number;
  readonly requestId: string;
  readonly format: string;
  readonly sessionId: string;
  readonly at: number;
  readonly provider: Provider;
  readonly model: string | null;
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

/** The formats of the sources of calls that belong to no file. */
export const callFormats: readonly string[] = [wireFormat, bodiesFormat];

/** Calls that belong to no file, oldest first: those captured on the wire, and those of raw bodies. Other calls travel in their files. */
export function* travelingCalls(chain: WriteChain, isKnown: (requestId: string) => boolean): Generator<TravelingCall> {
  const { db, project, artifacts } = chain;
  const rows = db.all<Omit<TravelingCall, 'record' | 'messages' | 'marks'> & CallRecordPlace>(
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
    const marks = db.column<string>('SELECT mark FROM requestReply WHERE request = ? ORDER BY mark', row.no);
    yield {
      ...row,
      shapeHash: row.shapeHash || null,
      record: decodeText(artifacts.read(page).subarray(start, start + size)),
      messages: JSON.stringify(objectsOf(chain, reader, numbers)),
      marks: JSON.stringify(marks),
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
  if (!callFormats.includes(call.format))
    throw badRequest('format', `A call has the format ${call.format}, but must have one of ${callFormats.join(', ')}.`);
  if (!isObject(parseJson(call.record))) throw badRequest('record', 'The record of a call is not a JSON object.');
  const objects = JSON.parse(call.messages) as ArtifactNo[];
  requireReadable(chain, objects);
  const { requestId, sessionId, at, provider, model, shapeHash, system, tools, rest, context } = call;
  const numbers = (texts: Texts): number[] =>
    objects.map(
      onceFor((object) => {
        const number = keepMessage(texts, chain.artifacts.read(object));
        if (number === undefined) throw badRequest('messages', 'A message of a call is not JSON.');
        return number;
      }),
    );
  const no = storeWithTexts(chain, {
    requestId,
    source: sourceOfCalls(chain, call.format),
    sessionId,
    at,
    provider,
    model,
    usage: shownCounts(call),
    numbers,
    record: encodeText(call.record),
    shape: () => (shapeHash === null ? null : { hash: Buffer.from(shapeHash, 'hex'), system, tools, rest }),
    continues: true,
  });
  if (context !== null) setAnswer(chain, no, context, call.replyKey, call.replyRecord);
  else {
    waitForMarks(chain, no, (JSON.parse(call.marks) as string[]).map(String));
    joinRecent(chain, at);
  }
  return no;
}

/** The most bytes of the messages of a call: no provider takes a body of this size. */
const mostMessageBytes = 256 * 1024 * 1024;

/** @throws BAD_REQUEST if a call has more than a provider takes: a list may name one large message a million times. */
function requireReadable({ artifacts }: WriteChain, objects: readonly ArtifactNo[]): void {
  const sizeOf = onceFor((object: ArtifactNo) => artifacts.stat(object).size);
  let bytes = 0;
  for (const object of objects) {
    bytes += sizeOf(object);
    if (bytes > mostMessageBytes) throw badRequest('messages', `The messages of a call have more than ${mostMessageBytes} bytes.`);
  }
}
