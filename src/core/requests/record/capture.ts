import { blake3Of, sha256Of } from '../../artifacts/index.js';
import { badRequest, canonicalJson, defined, encodeText, isObject, type Json, type JsonObject, parseInstant, parseJson } from '../../base/index.js';
import type { ReadChain, WriteChain } from '../../chain/index.js';
import type { CapturedCall, Provider } from '../../contract/index.js';
import { outsideDigest } from '../rebuild/rebuild.js';
import type { WireDetails } from '../runtimes/claude-code/records.js';
import { maxRecordBytes, messageHash, orderWithHash, shapeHash, withBlocks } from '../shared/canonical.js';
import { listRow, readList } from '../shared/lists.js';
import { readBody, readReply, type WireBody, type WireReply } from '../shared/wire.js';
import { type BaseCall, type NewCall, putCall, saveConversation, saveShape } from './calls.js';
import { joinRecent, waitForAnswer } from './join.js';
import { openTexts, type ShapeRow, type Texts } from './texts.js';

/** The headers that influence a reply. No other header of a request is stored (R5). */
const keptHeaders = ['anthropic-version', 'anthropic-beta', 'openai-beta'];

/**
 * Stores a call that was captured on the wire. Messages, system prompt and tools are stored once by content, as for every call. The call
 * is joined with the commit of its answer as soon as a transcript with that answer is imported. @throws BAD_REQUEST for a body that is not
 * a JSON object, or larger than any request.
 */
export function captureCall(chain: WriteChain, call: CapturedCall): { requestId: string } {
  if (call.body.length > maxRecordBytes) throw badRequest('body', `the body has ${call.body.length} characters, more than any request`);
  const body = parseJson(call.body);
  if (!isObject(body)) throw badRequest('body', 'the body of a call must be a JSON object');
  const wire = readBody(call.provider, call.path, body);
  const reply = readReply(call.provider, call.reply);
  const at = parseInstant(call.at) ?? chain.clock();
  const requestId = chain.newId();
  const [agent, version] = /^([^\s/]+)(?:\/(\S+))?/.exec(call.headers['user-agent'] ?? '')?.slice(1) ?? [];
  const record = makeRecord(wire, {
    id: requestId,
    at: call.at,
    agent,
    version,
    digest: digestBody(body, wire),
    withheld: call.withheld ?? [],
    sent: { provider: call.provider, path: call.path, status: call.status },
    order: wire.order,
    headers: Object.fromEntries(keptHeaders.flatMap((name) => (call.headers[name] === undefined ? [] : [[name, call.headers[name]]]))),
  });
  return chain.artifacts.transaction(() => {
    const source = sourceOfCalls(chain, wireFormat);
    const sessionId = wire.sessionId ?? call.sessionId ?? '';
    const no = storeCall(chain, { requestId, source, sessionId, at, provider: call.provider, wire, reply, record, continues: true });
    waitForAnswer(chain, no, reply);
    joinRecent(chain, at);
    return { requestId };
  });
}

/** A call outside of any transcript, split into the parts that are stored. */
interface OutsideCall extends Pick<NewCall, 'requestId' | 'at'> {
  /** The source that holds all calls of its kind. */
  readonly source: number;
  readonly sessionId: string;
  readonly provider: Provider;
  readonly wire: WireBody;
  readonly reply: WireReply;
  /** The record of the call, without the hash of its shape. */
  readonly record: JsonObject;
  /** Whether its list may continue that of an earlier call. Otherwise, the list is stored whole. */
  readonly continues?: true;
}

/** Stores a call inside the caller's transaction and returns its row. @throws BAD_REQUEST for a part that is nested too deeply. */
export function storeCall(chain: WriteChain, { wire, reply, record, ...call }: OutsideCall): number {
  const shapeText = encodeText(JSON.stringify(wire.shape));
  const namedShape = shapeHash(shapeText);
  if (!namedShape) throw badRequest('body', 'the system prompt or tools are nested too deeply');
  const hash = namedShape.toString('hex');
  return storeWithTexts(chain, {
    ...call,
    model: wire.model,
    usage: reply.usage,
    record: encodeText(JSON.stringify({ ...record, shapeHash: hash })),
    numbers: (texts) =>
      wire.messages.map((message) => {
        const number = keepMessage(texts, encodeText(JSON.stringify(message)));
        if (number === undefined) throw badRequest('body', 'a message is nested too deeply');
        return number;
      }),
    shape: (texts) => {
      const shape = texts.keepShape({ hash, line: { start: 0, end: 0 }, range: undefined, text: shapeText });
      if (typeof shape === 'string') throw new Error(shape);
      return shape;
    },
  });
}

/** Keeps a message whose hash nobody named. Undefined if it is no JSON, or nested too deeply. */
export function keepMessage(texts: Texts, text: Uint8Array): number | undefined {
  const hash = messageHash(text);
  return hash && texts.keepMessage(hash.toString('hex'), { text, order: orderWithHash(text, hash) }, undefined);
}

/** A call with what stores its texts: its messages, whose numbers are returned, and its system prompt and tools. */
interface CallWithTexts extends Omit<OutsideCall, 'wire' | 'reply' | 'record'>, Pick<NewCall, 'model' | 'usage'> {
  readonly record: Uint8Array;
  readonly numbers: (texts: Texts) => readonly number[];
  readonly shape: (texts: Texts) => ShapeRow | null;
}

/** Stores the texts of a call and its row, which it returns. */
export function storeWithTexts(chain: WriteChain, { record, source, sessionId, continues, ...call }: CallWithTexts): number {
  const texts = openTexts(chain, record);
  const numbers = call.numbers(texts);
  const shape = call.shape(texts);
  const line = { start: 0, end: record.length };
  const place = texts.finish([line]).get(line);
  if (!place) throw new Error('the record of a call was not stored');
  texts.save(source);
  return putCall(chain, {
    ...call,
    conversation: saveConversation(chain, source, sessionId, ''),
    place: { ...place, size: record.length },
    shape: shape && saveShape(chain, shape),
    ...(continues ? baseFor(chain, source, numbers) : { base: undefined, keep: 0, numbers, listAt: () => undefined }),
  }).no;
}

/** What a record says of a call beside the parts of its body. */
interface RecordFacts extends Pick<WireDetails, 'order' | 'headers' | 'by'> {
  readonly id: string;
  readonly at: string;
  readonly agent: string | undefined;
  readonly version?: string | undefined;
  readonly digest: string | undefined;
  readonly withheld: readonly string[];
  readonly sent: Pick<CapturedCall, 'provider' | 'path'> & Pick<WireDetails, 'status'>;
}

/** The record of a call outside of any transcript, without the hash of its shape. */
export function makeRecord(wire: WireBody, { id, at, agent, version, digest, withheld, sent, order, headers, by }: RecordFacts): JsonObject {
  return {
    type: 'api-request',
    id,
    timestamp: at,
    ...defined({ querySource: agent, version }),
    params: wire.params,
    cacheControl: wire.marks.map(({ path, value }) => ({ path: [...path], value })),
    ...defined({ requestDigest: digest }),
    withheld: [...wire.withheld, ...withheld],
    wire: { ...sent, layout: { ...wire.layout }, order: [...order], head: [...wire.head], headers: { ...headers }, ...defined({ by }) },
  };
}

/** The digest of a body, in the form of recorded digests. The body rebuilt from its parts must have it too. */
export function digestBody(body: JsonObject, { layout, withheld }: WireBody): string {
  const list = body[layout.list];
  const whole = { ...body, ...(Array.isArray(list) && { [layout.list]: list.map(withBlocks) }) };
  const members = Object.entries(whole).filter(([name]) => !outsideDigest.has(name) && !withheld.includes(name));
  return sha256Of(canonicalJson(Object.fromEntries(members) as Json)).toString('hex');
}

/** All captured calls of a project belong to one source, because they have no file. */
export const wireFormat = 'wire-v1';

/** The source that holds all calls of a kind that belong to no file of their own. */
export function sourceOfCalls({ db, project, clock, newId }: WriteChain, format: string): number {
  const known = db.value<number>('SELECT no FROM source WHERE project = ? AND format = ?', project, format);
  if (known !== undefined) return known;
  const nothing = blake3Of(new Uint8Array());
  const insert = `INSERT INTO source (project, sourceId, path, format, size, hash, resumeAt, resumeHash, tips, pieces, importedAt)
    VALUES (?, ?, '', ?, 0, ?, 0, ?, '[]', '[]', ?)`;
  return db.run(insert, project, newId(), format, nothing, nothing, clock()).rowId;
}

/** The number of latest captured calls in which a base is searched. It is not only the latest one because several agents can call at once. */
const basesSearched = 16;

/** The call whose list this one continues, so that only the rest is stored. */
function baseFor({ db }: ReadChain, source: number, numbers: readonly number[]): Pick<NewCall, 'base' | 'keep' | 'numbers' | 'listAt'> {
  const listAt = (no: number) => listRow(db, no);
  const select = `SELECT no, messageCount, steps FROM request
    WHERE conversation IN (SELECT no FROM requestConversation WHERE source = ?) ORDER BY no DESC LIMIT ?`;
  const latest = db.all<BaseCall>(select, source, basesSearched);
  let best: { readonly base: BaseCall | undefined; readonly keep: number } = { base: undefined, keep: 0 };
  for (const base of latest) {
    const list = readList(listAt, base.no);
    let keep = 0;
    while (keep < list.length && keep < numbers.length && list[keep] === numbers[keep]) keep += 1;
    if (keep > best.keep) best = { base, keep };
  }
  return { ...best, numbers: numbers.slice(best.keep), listAt };
}
