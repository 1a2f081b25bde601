import { type ByteRange, inWords, isObject, type Json, type JsonObject, parseInstant, parseJson, stringAt, textOf } from '../../base/index.js';
import type { FileBytes } from '../../formats/index.js';
import { largestRecord } from '../canonical.js';
import { membersUntil, type Places, placesAt, stringIn, type Wanted } from '../json-ranges.js';
import type { Usage } from '../runtime.js';
import type { Layout } from '../wire.js';

/** One call to a model as a transcript's `api-request` line has it. What it refers to may or may not be there. */
export interface RecordedCall {
  readonly line: ByteRange;
  readonly id: string;
  readonly sessionId: string | undefined;
  /** The subagent that called; undefined for the main conversation. */
  readonly agentId: string | undefined;
  /** Milliseconds since 1970; of the call before it where the record has no time. */
  readonly at: number;
  readonly model: string | undefined;
  readonly shapeHash: string;
  readonly base: string | undefined;
  /** How many of the base's messages this call's list begins with. */
  readonly keep: number;
  /** Hashes of the messages after those. */
  readonly tail: readonly string[];
  /** Why the list cannot be put together, whatever else is known. */
  readonly flaw: string | undefined;
  reply: RecordedReply | undefined;
}

export interface RecordedReply {
  /** The runtime's id of the message, shared by its lines. */
  readonly messageId: string;
  /** The uuid of its first line. */
  readonly record: string;
  /** Read when it is asked for: of the lines of a message only the last counts. */
  readonly usage: () => Usage;
}

/** A content block as a line has it: a range of a text that is shared with others. */
export interface ReplyBlock extends ByteRange {
  readonly text: Uint8Array;
}

/** A text that the file gives under a hash. It may be false: nothing here is checked. */
export interface RecordedText {
  readonly hash: string;
  readonly line: ByteRange;
  /** Where in the file the text stands; undefined where it had to be written anew. */
  readonly range: ByteRange | undefined;
  /** Undefined where the record is too large to have been sent. */
  readonly text: Uint8Array | undefined;
  /**
   * `text` was taken to be all from where the message begins up to the line's last brace: true if it has the hash. If it has not, this
   * reads the line for certain.
   */
  readonly exactly?: () => RecordedText | undefined;
}

/** Everything of a stretch of a transcript that tells what its model calls were. */
export interface Records {
  readonly calls: readonly RecordedCall[];
  readonly messages: readonly RecordedText[];
  readonly shapes: readonly RecordedText[];
  /** The content blocks of each assistant message, in order, by the runtime's message id. */
  readonly replies: ReadonlyMap<string, readonly ReplyBlock[]>;
  /** Halves of paused replies. */
  readonly resumed: readonly { readonly messageId: string; readonly paused: string; readonly resumed: string }[];
  /** Calls before this stretch whose replies it holds, or more of, by agent. */
  readonly lateReplies: ReadonlyMap<string, RecordedReply>;
  readonly problems: readonly { readonly at: number; readonly reason: string }[];
}

/** The last call of an agent before a stretch, with the message id of as much of its reply as was there. */
export interface OpenCall {
  readonly reply: RecordedReply | undefined;
}

/** The agent of a line: its subagent's id, or '' for the main conversation. */
export const agentOf = (agentId: string | undefined): string => agentId ?? '';

const recordMark = Buffer.from('"api-request');
const recordStart = Buffer.from('{"type":"api-request');
/** Nobody breaks off more often on one line. */
const mostFragments = 64;
const replyMark = Buffer.from('"assistant"');
const promptMark = Buffer.from('"user"');
const newline = 0x0a;

/** What is read of a line, and of the message in it; the rest is passed over. */
const lineMembers: readonly Wanted[] = [
  { key: 'message', inner: [{ key: 'id' }, { key: 'model' }, { key: 'role' }, { key: 'content', isList: true }, { key: 'usage' }] },
  ...['type', 'uuid', 'agentId', 'isApiErrorMessage', 'hash', 'shape', 'shapeHash'].map((key) => ({ key })),
];

/** Whether a file has request records at all: those of older versions, and of other runtimes, have none. */
export function hasRecords(file: FileBytes): boolean {
  for (let at = 0; at < file.length; at += searchedAtOnce)
    if (view(file.subarray(at, Math.min(at + searchedAtOnce + recordMark.length - 1, file.length))).includes(recordMark)) return true;
  return false;
}
const searchedAtOnce = 4 * 1024 * 1024;

/** Reads the lines that begin at `from` or later and before `to`. Never throws for what they hold. */
export function readRecords(file: Uint8Array, from = 0, to = file.length, open: ReadonlyMap<string, OpenCall> = new Map()): Records {
  const bytes = view(file);
  const calls: RecordedCall[] = [];
  const messages: RecordedText[] = [];
  const shapes: RecordedText[] = [];
  const replies = new Map<string, ReplyBlock[]>();
  const resumed: { messageId: string; paused: string; resumed: string }[] = [];
  const lateReplies = new Map<string, RecordedReply>();
  const problems: { at: number; reason: string }[] = [];
  const latest = new Map<string, RecordedCall>();

  const readLine = (line: ByteRange): void => {
    const text = bytes.subarray(line.start, line.end);
    const next = text.indexOf(recordStart, 1);
    if (next !== -1 && text.length <= largestRecord && parse(text) === undefined) readTorn(line, line.start + next);
    else readRecord(line);
  };

  /** A line that broke off, with the beginning of another behind it: what is whole of it counts. */
  const readTorn = ({ start, end }: ByteRange, first: number): void => {
    readRecord({ start, end: first });
    for (let [at, left] = [first, mostFragments]; at !== -1 && at < end && left > 0; left -= 1) {
      const next = bytes.indexOf(recordStart, at + 1);
      readRecord({ start: at, end: next === -1 || next > end ? end : next });
      at = next;
    }
  };

  const readRecord = (line: ByteRange): void => {
    const isCall = beginsWith(bytes, line, callStart);
    const blob = isCall ? undefined : blobAt(bytes, line);
    if (isCall) readWhole(line);
    else if (blob) messages.push(blob);
    else readOther(line);
  };

  const readOther = (line: ByteRange): void => {
    const places = placesAt(bytes, line.start, lineMembers);
    const type = places && stringIn(bytes, places.ranges.get('type'));
    if (places && type === 'assistant') readReply(bytes, places);
    else if (places && type === 'api-request-blob') messages.push(givenText(bytes, line, places, 'hash', 'message'));
    else if (places && type === 'api-request-shape') shapes.push(givenText(bytes, line, places, 'shapeHash', 'shape'));
    else if (!places || type === 'api-request' || type === 'api-request-resumed') readWhole(line);
  };

  const readWhole = (line: ByteRange): void => {
    const size = line.end - line.start;
    if (size > largestRecord) return void problems.push({ at: line.start, reason: `a record of ${size} bytes is larger than any request` });
    const value = parse(bytes.subarray(line.start, line.end));
    if (isObject(value)) readValue(value, line);
  };

  const readValue = (value: JsonObject, line: ByteRange): void => {
    const type = stringAt(value, 'type');
    if (type === 'api-request') {
      const call = callOf(value, line, calls.at(-1)?.at ?? 0);
      if (typeof call === 'string') return void problems.push({ at: line.start, reason: call });
      calls.push(call);
      latest.set(agentOf(call.agentId), call);
    } else if (type === 'api-request-resumed') {
      const [messageId, paused, again] = [stringAt(value, 'messageId'), stringAt(value, 'pausedRequestId'), stringAt(value, 'resumedRequestId')];
      if (messageId && paused && again) resumed.push({ messageId, paused, resumed: again });
    } else if (type === 'api-request-blob' || type === 'api-request-shape' || type === 'assistant') {
      // With spaces between its tokens, it is read as what it would be without.
      const compact = Buffer.from(JSON.stringify(value));
      const places = placesAt(compact, 0, lineMembers);
      if (!places) return;
      if (type === 'assistant') readReply(compact, places);
      else if (type === 'api-request-blob') messages.push({ ...givenText(compact, line, places, 'hash', 'message'), range: undefined });
      else shapes.push({ ...givenText(compact, line, places, 'shapeHash', 'shape'), range: undefined });
    }
  };

  const readReply = (text: Uint8Array, { ranges, elements }: Places): void => {
    const messageId = stringIn(text, ranges.get('message.id'));
    if (!messageId || !elements) return;
    const blocks = replies.get(messageId) ?? [];
    for (const { start, end } of elements) blocks.push({ text, start, end });
    replies.set(messageId, blocks);
    const record = stringIn(text, ranges.get('uuid'));
    const isSpoken = stringIn(text, ranges.get('message.model')) !== '<synthetic>' && !isTrue(text, ranges.get('isApiErrorMessage'));
    if (record && isSpoken)
      joinReply(agentOf(stringIn(text, ranges.get('agentId'))), messageId, record, () => usageOf(valueIn(text, ranges.get('message.usage'))));
  };

  /** A reply is what the agent says after its call; lines of one message repeat its usage, and the last one is right. */
  const joinReply = (agent: string, messageId: string, record: string, usage: () => Usage): void => {
    const call = latest.get(agent);
    const known = call ? call.reply : (lateReplies.get(agent) ?? open.get(agent)?.reply);
    if (known && known.messageId !== messageId) return;
    const reply = { messageId, record: known?.record ?? record, usage };
    if (call) call.reply = reply;
    else if (open.has(agent)) lateReplies.set(agent, reply);
  };

  for (const line of linesWith(bytes, [recordMark, replyMark], from, to)) readLine(line);
  return { calls, messages, shapes, replies, resumed, lateReplies, problems };
}

/** Messages of user lines, for a call that names one which no blob and no reply is: each as it would have been sent. */
export function* userMessages(file: Uint8Array): Generator<Uint8Array> {
  const bytes = view(file);
  for (const line of linesWith(bytes, [promptMark], 0, bytes.length)) {
    const text = bytes.subarray(line.start, line.end);
    const ranges = text.length <= largestRecord ? placesAt(text, 0, lineMembers)?.ranges : undefined;
    const content = ranges && stringIn(text, ranges.get('message.role')) === 'user' ? ranges.get('message.content') : undefined;
    if (content) yield Buffer.concat([Buffer.from('{"role":"user","content":'), text.subarray(content.start, content.end), Buffer.from('}')]);
  }
}

/** The lines that hold one of the marks, in order. The file is searched through for each mark once, not line by line. */
function* linesWith(bytes: Buffer, marks: readonly Buffer[], from: number, to: number): Generator<ByteRange> {
  const next = marks.map((mark) => bytes.indexOf(mark, from));
  for (let at = from; ; ) {
    marks.forEach((mark, index) => {
      const place = next[index] as number;
      if (place !== -1 && place < at) next[index] = bytes.indexOf(mark, at);
    });
    const place = Math.min(...next.map((each) => (each === -1 ? to : each)));
    if (place >= to) return;
    const found = bytes.indexOf(newline, place);
    const end = found === -1 || found > to ? to : found;
    yield { start: Math.max(from, bytes.lastIndexOf(newline, place) + 1), end };
    at = end + 1;
  }
}

const replyStart = Buffer.from('{"role":"assistant","content":[');
const replyEnd = Buffer.from(']}');
const comma = 0x2c;
const closeBrace = 0x7d;

/** The message that the first `count` blocks of a reply make, as it is sent back. */
export function replyMessage(blocks: readonly ReplyBlock[], count: number): Uint8Array {
  const sent = blocks.slice(0, count);
  const size = sent.reduce((sum, { start, end }) => sum + end - start + 1, sent.length ? -1 : 0);
  const message = Buffer.allocUnsafe(replyStart.length + size + replyEnd.length);
  let at = replyStart.copy(message);
  sent.forEach(({ text, start, end }, index) => {
    if (index) message[at++] = comma;
    at += view(text).copy(message, at, start, end);
  });
  replyEnd.copy(message, at);
  return message;
}

/** What an `api-request` line says beyond what finding its parts needs. */
export interface CallDetails {
  readonly params: JsonObject;
  readonly cacheControl: readonly Json[];
  /** Lower-case hex. Of the body without account memory where `cut` is named. */
  readonly digest: string | null;
  /** What the runtime left out of its record, in words. */
  readonly withheld: readonly string[];
  readonly querySource: string | undefined;
  readonly version: string | undefined;
  /** Of a call that was captured on the wire, and not written down by a runtime. */
  readonly wire: WireDetails | undefined;
}

export interface WireDetails {
  readonly layout: Layout;
  readonly order: readonly string[];
  readonly head: readonly Json[];
  /** Those that shape the reply. */
  readonly headers: Readonly<Record<string, string>>;
  /** What the provider answered; null where the connection broke before it did. */
  readonly status: number | null;
}

export function callDetails(line: Uint8Array): CallDetails {
  const value = parse(line);
  const record = isObject(value) ? value : {};
  const cut = Object.hasOwn(record, 'cut') && record.cut !== false && record.cut !== null;
  const withheld = Array.isArray(record.withheld) ? record.withheld.map((key) => (typeof key === 'string' ? key : inWords(key))) : [];
  return {
    params: isObject(record.params) ? record.params : {},
    cacheControl: Array.isArray(record.cacheControl) ? record.cacheControl : [],
    digest: stringAt(record, cut ? 'cutRequestDigest' : 'requestDigest') ?? null,
    withheld: cut ? [...withheld, 'account memory'] : withheld,
    querySource: stringAt(record, 'querySource'),
    version: stringAt(record, 'version'),
    wire: isObject(record.wire) ? (record.wire as unknown as WireDetails) : undefined,
  };
}

const hashPattern = /^[0-9a-f]{64}$/;

/** The call, or why the line is none. */
function callOf(value: JsonObject, line: ByteRange, before: number): RecordedCall | string {
  const id = stringAt(value, 'id');
  if (!id || id.length > 400) return 'a request record without an id';
  const { keep, tail } = value;
  const hashes = Array.isArray(tail) ? tail : [];
  const bad = hashes.findIndex((hash) => typeof hash !== 'string' || !hashPattern.test(hash));
  const base = stringAt(value, 'base');
  const flaw = !Array.isArray(tail)
    ? 'its record has no list of messages'
    : bad >= 0
      ? `its record names ${inWords(hashes[bad])} as a message, which is no SHA-256`
      : !Number.isSafeInteger(keep) || (keep as number) < 0
        ? `its record keeps ${inWords(keep ?? null)} messages of its base`
        : base === undefined && (keep as number) > 0
          ? `its record keeps ${keep} messages of no base`
          : undefined;
  return {
    line,
    id,
    sessionId: stringAt(value, 'sessionId'),
    agentId: stringAt(value, 'agentId'),
    at: parseInstant(stringAt(value, 'timestamp') ?? '') ?? before,
    model: stringAt(value.params, 'model'),
    shapeHash: stringAt(value, 'shapeHash') ?? '',
    base,
    keep: flaw ? 0 : (keep as number),
    tail: flaw ? [] : (hashes as string[]),
    flaw,
    reply: undefined,
  };
}

/** A text by its places in `bytes`: the file, or what a line with spaces would be without. */
function givenText(bytes: Uint8Array, line: ByteRange, { ranges }: Places, hashKey: string, textKey: string): RecordedText {
  const range = ranges.get(textKey);
  const hash = stringIn(bytes, ranges.get(hashKey)) ?? '';
  if (!range) return { hash, line, range, text: new Uint8Array() };
  return { hash, line, range, text: line.end - line.start > largestRecord ? undefined : bytes.subarray(range.start, range.end) };
}

const blobStart = Buffer.from('{"type":"api-request-blob",');
const callStart = Buffer.from('{"type":"api-request",');

const beginsWith = (bytes: Buffer, { start }: ByteRange, beginning: Buffer): boolean =>
  bytes.compare(beginning, 0, beginning.length, start, Math.min(start + beginning.length, bytes.length)) === 0;

/** The message of a line as its runtime writes it, without reading the message: only its hash counts, and finds it out if it is not. */
function blobAt(bytes: Buffer, line: ByteRange): RecordedText | undefined {
  const { start, end } = line;
  if (end - start > largestRecord || !beginsWith(bytes, line, blobStart)) return undefined;
  const found = bytes[end - 1] === closeBrace ? membersUntil(bytes, start, ['hash'], 'message') : undefined;
  const hash = found && stringIn(bytes, found.members.get('hash'));
  if (!found || hash === undefined) return undefined;
  const range = { start: found.valueStart, end: end - 1 };
  const exactly = (): RecordedText | undefined => {
    const places = placesAt(bytes, start, lineMembers);
    return places && givenText(bytes, line, places, 'hash', 'message');
  };
  return { hash, line, range, text: bytes.subarray(range.start, range.end), exactly };
}

/** The counts of a message's `usage` member, as far as it has them. */
export function usageOf(usage: Json | undefined): Usage {
  const count = (key: string): number | null => {
    const value = isObject(usage) ? usage[key] : undefined;
    return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : null;
  };
  return {
    input: count('input_tokens'),
    output: count('output_tokens'),
    cacheRead: count('cache_read_input_tokens'),
    cacheWrite: count('cache_creation_input_tokens'),
  };
}

const valueIn = (text: Uint8Array, range: ByteRange | undefined): Json | undefined => range && parse(text.subarray(range.start, range.end));

const isTrue = (text: Uint8Array, range: ByteRange | undefined): boolean => valueIn(text, range) === true;

const parse = (text: Uint8Array): Json | undefined => parseJson(textOf(text));

const view = (bytes: Uint8Array): Buffer => (bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
