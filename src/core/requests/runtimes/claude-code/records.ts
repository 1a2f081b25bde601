import { type ByteRange, decodeText, inWords, isObject, type Json, type JsonObject, parseInstant, parseJson, stringAt } from '../../../base/index.js';
import { countsOfUsage, type FileBytes } from '../../../formats/index.js';
import { maxRecordBytes } from '../../shared/canonical.js';
import { type FoundRanges, membersUntil, placesAt, stringIn, type WantedMember } from '../../shared/json-ranges.js';
import type { WireBody } from '../../shared/wire.js';
import type { Usage } from '../runtime.js';

/** A model call from a transcript's `api-request` line. The data to which it refers can be missing. */
export interface ApiRequest {
  readonly line: ByteRange;
  readonly id: string;
  readonly sessionId: string | undefined;
  /** The subagent that called; undefined for the main conversation. */
  readonly agentId: string | undefined;
  /** Milliseconds since 1970. The time of the previous call if the record has none. */
  readonly at: number;
  readonly model: string | undefined;
  readonly shapeHash: string;
  readonly base: string | undefined;
  /** The number of first messages that this call's list takes from its base. */
  readonly keep: number;
  /** Hashes of the messages after those. */
  readonly tail: readonly string[];
  /** Why the list cannot be rebuilt. */
  readonly flaw: string | undefined;
  reply: TranscriptReply | undefined;
}

export interface TranscriptReply {
  /** The runtime's id of the message, shared by its lines. */
  readonly messageId: string;
  /** The uuid of its first line. */
  readonly record: string;
  /** Read on demand, because only the last line of a message has the right usage. */
  readonly usage: () => Usage;
}

/** A content block of a line: a range of a text that is shared with others. */
export interface ReplyBlock extends ByteRange {
  readonly text: Uint8Array;
}

/** A text that the file gives for a hash. It is not checked here and can be wrong. */
export interface RecordedText {
  readonly hash: string;
  readonly line: ByteRange;
  /** The range of the text in the file; undefined if the text had to be written in compact form. */
  readonly range: ByteRange | undefined;
  /** Undefined if the record is too large to have been sent. */
  readonly text: Uint8Array | undefined;
  /** Assumes that `text` reaches from the message's start to the line's last brace. If the hash differs, it parses the line. */
  readonly exactly?: () => RecordedText | undefined;
}

/** All data in a part of a transcript that describes its model calls. */
export type Records = Readonly<ReturnType<typeof readRecords>>;

/** The last call of an agent before this part, with the message id of the reply received so far. */
export interface UnfinishedCall {
  readonly reply: TranscriptReply | undefined;
}

/** The agent of a line: its subagent's id, or '' for the main conversation. */
export const agentOf = (agentId: string | undefined): string => agentId ?? '';

const recordMark = Buffer.from('"api-request');
const recordStart = Buffer.from('{"type":"api-request');
/** No real line has more fragments. */
const maxFragments = 64;
const replyMark = Buffer.from('"assistant"');
const promptMark = Buffer.from('"user"');
const newline = 0x0a;

/** The members to read in a line and its message. Others are skipped. */
const lineMembers: readonly WantedMember[] = [
  {
    key: 'message',
    inner: [{ key: 'id' }, { key: 'model' }, { key: 'role' }, { key: 'content', isList: true }, { key: 'usage' }, { key: 'stop_reason' }],
  },
  ...['type', 'uuid', 'agentId', 'isApiErrorMessage', 'hash', 'shape', 'shapeHash'].map((key) => ({ key })),
];

/** Whether a file has request records. Files of older versions and other runtimes have none. */
export function hasRecords(file: FileBytes): boolean {
  for (let at = 0; at < file.length; at += searchedAtOnce)
    if (view(file.subarray(at, Math.min(at + searchedAtOnce + recordMark.length - 1, file.length))).includes(recordMark)) return true;
  return false;
}
const searchedAtOnce = 4 * 1024 * 1024;

/** Reads the lines that begin from `from` to before `to`. Never throws. Long because its functions share the line that is being read. */
export function readRecords(file: Uint8Array, from = 0, to = file.length, open: ReadonlyMap<string, UnfinishedCall> = new Map()) {
  const bytes = view(file);
  const calls: ApiRequest[] = [];
  const messages: RecordedText[] = [];
  const shapes: RecordedText[] = [];
  /** The content blocks of each assistant message, in order, by the runtime's message id. */
  const replies = new Map<string, ReplyBlock[]>();
  /** Halves of paused replies. */
  const resumed: { messageId: string; paused: string; resumed: string }[] = [];
  /** For each agent, the earlier call whose reply, or the rest of whose reply, is in this part. */
  const lateReplies = new Map<string, TranscriptReply>();
  const problems: { at: number; reason: string }[] = [];
  const latest = new Map<string, ApiRequest>();

  const readLine = (line: ByteRange): void => {
    const text = bytes.subarray(line.start, line.end);
    const next = text.indexOf(recordStart, 1);
    if (next !== -1 && text.length <= maxRecordBytes && parse(text) === undefined) readTorn(line, line.start + next);
    else readRecord(line);
  };

  /** Reads an incomplete line that another one follows without a line break. Complete records in it count. */
  const readTorn = ({ start, end }: ByteRange, first: number): void => {
    readRecord({ start, end: first });
    for (let [at, left] = [first, maxFragments]; at !== -1 && at < end && left > 0; left -= 1) {
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
    if (size > maxRecordBytes) return void problems.push({ at: line.start, reason: `the record has ${size} bytes, more than any request` });
    const value = parse(bytes.subarray(line.start, line.end));
    if (isObject(value)) readValue(value, line);
  };

  const readValue = (value: JsonObject, line: ByteRange): void => {
    const type = stringAt(value, 'type');
    if (type === 'api-request') {
      const call = readCall(value, line, calls.at(-1)?.at ?? 0);
      if (typeof call === 'string') return void problems.push({ at: line.start, reason: call });
      calls.push(call);
      latest.set(agentOf(call.agentId), call);
    } else if (type === 'api-request-resumed') {
      const [messageId, paused, again] = [stringAt(value, 'messageId'), stringAt(value, 'pausedRequestId'), stringAt(value, 'resumedRequestId')];
      if (messageId && paused && again) resumed.push({ messageId, paused, resumed: again });
    } else if (type === 'api-request-blob' || type === 'api-request-shape' || type === 'assistant') {
      // A line with spaces between its tokens is read in its compact form.
      const compact = Buffer.from(JSON.stringify(value));
      const places = placesAt(compact, 0, lineMembers);
      if (!places) return;
      if (type === 'assistant') readReply(compact, places);
      else if (type === 'api-request-blob') messages.push({ ...givenText(compact, line, places, 'hash', 'message'), range: undefined });
      else shapes.push({ ...givenText(compact, line, places, 'shapeHash', 'shape'), range: undefined });
    }
  };

  const readReply = (text: Uint8Array, { ranges, elements }: FoundRanges): void => {
    const messageId = stringIn(text, ranges.get('message.id'));
    if (!messageId || !elements) return;
    const blocks = replies.get(messageId) ?? [];
    for (const { start, end } of elements) blocks.push({ text, start, end });
    replies.set(messageId, blocks);
    const record = stringIn(text, ranges.get('uuid'));
    const isSpoken = stringIn(text, ranges.get('message.model')) !== '<synthetic>' && valueIn(text, ranges.get('isApiErrorMessage')) !== true;
    if (record && isSpoken)
      joinReply(agentOf(stringIn(text, ranges.get('agentId'))), messageId, record, () =>
        readUsage(valueIn(text, ranges.get('message.usage')), valueIn(text, ranges.get('message.stop_reason')) !== null),
      );
  };

  /** The lines that an agent writes after its call are the reply. Lines of one message repeat its usage, and the last one is right. */
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

/** Messages of user lines in the form sent, for a message of a call that is neither a recorded text nor a reply. */
export function* userMessages(file: Uint8Array): Generator<Uint8Array> {
  const bytes = view(file);
  for (const line of linesWith(bytes, [promptMark], 0, bytes.length)) {
    const text = bytes.subarray(line.start, line.end);
    const ranges = text.length <= maxRecordBytes ? placesAt(text, 0, lineMembers)?.ranges : undefined;
    const content = ranges && stringIn(text, ranges.get('message.role')) === 'user' ? ranges.get('message.content') : undefined;
    if (content) yield Buffer.concat([Buffer.from('{"role":"user","content":'), text.subarray(content.start, content.end), Buffer.from('}')]);
  }
}

/** The lines that contain one of the marks, in order. The file is searched once for each mark, not line by line. */
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

/** The message of the first `count` blocks of a reply, as it is sent back. */
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

/** Facts of an `api-request` line that are not needed to find its parts. */
export type CallDetails = Readonly<ReturnType<typeof callDetails>>;

export interface WireDetails extends Pick<WireBody, 'head' | 'layout' | 'order'> {
  /** The headers that influence the reply. */
  readonly headers: Readonly<Record<string, string>>;
  /** The provider's HTTP status; null if the connection broke before the answer. */
  readonly status: number | null;
  /** The agent, if it wrote the body into a file itself. Its digests leave out the first blocks of the system prompt. */
  readonly by?: 'claude-code';
}

/** Reads the facts of a call's record line. */
export function callDetails(line: Uint8Array) {
  const value = parse(line);
  const record = isObject(value) ? value : {};
  const cut = Object.hasOwn(record, 'cut') && record.cut !== false && record.cut !== null;
  const withheld = Array.isArray(record.withheld) ? record.withheld.map((key) => (typeof key === 'string' ? key : inWords(key))) : [];
  return {
    params: isObject(record.params) ? record.params : {},
    cacheControl: Array.isArray(record.cacheControl) ? record.cacheControl : [],
    /** Lower-case hex. The digest of the body without account memory where `cut` names it. */
    digest: stringAt(record, cut ? 'cutRequestDigest' : 'requestDigest') ?? null,
    /** The parts that the runtime left out of its record, in words. */
    withheld: cut ? [...withheld, 'account memory'] : withheld,
    querySource: stringAt(record, 'querySource'),
    version: stringAt(record, 'version'),
    /** Set for a call that was captured on the wire and not recorded by a runtime. */
    wire: isObject(record.wire) ? (record.wire as unknown as WireDetails) : undefined,
  };
}

const hashPattern = /^[0-9a-f]{64}$/;

/** The call, or the reason why the line is not one. */
function readCall(value: JsonObject, line: ByteRange, before: number): ApiRequest | string {
  const id = stringAt(value, 'id');
  if (!id || id.length > 400) return 'the request record has no id';
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

/** A text by its ranges in `bytes`: the file, or the compact form of a line with spaces. */
function givenText(bytes: Uint8Array, line: ByteRange, { ranges }: FoundRanges, hashKey: string, textKey: string): RecordedText {
  const range = ranges.get(textKey);
  const hash = stringIn(bytes, ranges.get(hashKey)) ?? '';
  if (!range) return { hash, line, range, text: new Uint8Array() };
  return { hash, line, range, text: line.end - line.start > maxRecordBytes ? undefined : bytes.subarray(range.start, range.end) };
}

const blobStart = Buffer.from('{"type":"api-request-blob",');
const callStart = Buffer.from('{"type":"api-request",');

const beginsWith = (bytes: Buffer, { start }: ByteRange, beginning: Buffer): boolean =>
  bytes.compare(beginning, 0, beginning.length, start, Math.min(start + beginning.length, bytes.length)) === 0;

/** Finds the message of a line by the usual order of members, without parsing. The hash shows whether this is wrong. */
function blobAt(bytes: Buffer, line: ByteRange): RecordedText | undefined {
  const { start, end } = line;
  if (end - start > maxRecordBytes || !beginsWith(bytes, line, blobStart)) return undefined;
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

/** The counts that a message's `usage` has. A line whose stop reason is null has the output count of an unfinished stream. */
function readUsage(usage: Json | undefined, isFinal: boolean): Usage {
  const { input, cacheRead, cacheWrite, output } = countsOfUsage(usage);
  return { input, cacheRead, cacheWrite, output: isFinal ? output : null };
}

const valueIn = (text: Uint8Array, range: ByteRange | undefined): Json | undefined => range && parse(text.subarray(range.start, range.end));

const parse = (text: Uint8Array): Json | undefined => parseJson(decodeText(text));

const view = (bytes: Uint8Array): Buffer => (bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
