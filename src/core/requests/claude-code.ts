import { type ByteRange, inWords, isObject, type Json, type JsonObject, parseInstant, parseJson, stringAt, textOf } from '../base/index.js';
import { largestRecord } from './canonical.js';
import { elementsAt, membersAt } from './json-ranges.js';

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
  usage: Usage;
}

/** Tokens as the provider counted them; null where it did not say. */
export interface Usage {
  readonly input: number | null;
  readonly output: number | null;
  readonly cacheRead: number | null;
  readonly cacheWrite: number | null;
}

/** A text that the file gives under a hash. It may be false: nothing here is checked. */
export interface RecordedText {
  readonly hash: string;
  readonly line: ByteRange;
  /** Where in the file the text stands; undefined where it had to be written anew. */
  readonly range: ByteRange | undefined;
  /** Undefined where the record is too large to have been sent. */
  readonly text: Uint8Array | undefined;
}

/** Everything of a stretch of a transcript that tells what its model calls were. */
export interface Records {
  readonly calls: readonly RecordedCall[];
  readonly messages: readonly RecordedText[];
  readonly shapes: readonly RecordedText[];
  /** Texts of the content blocks of each assistant message, in order, by the runtime's message id. */
  readonly replies: ReadonlyMap<string, readonly Uint8Array[]>;
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
const replyMark = Buffer.from('"assistant"');
const newline = 0x0a;

/** Whether a file has request records at all: those of older versions, and of other runtimes, have none. */
export const hasRecords = (file: Uint8Array): boolean => view(file).includes(recordMark);

/** Reads the lines that begin at `from` or later and before `to`. Never throws for what they hold. */
export function readRecords(file: Uint8Array, from = 0, to = file.length, open: ReadonlyMap<string, OpenCall> = new Map()): Records {
  const bytes = view(file);
  const calls: RecordedCall[] = [];
  const messages: RecordedText[] = [];
  const shapes: RecordedText[] = [];
  const replies = new Map<string, Uint8Array[]>();
  const resumed: { messageId: string; paused: string; resumed: string }[] = [];
  const lateReplies = new Map<string, RecordedReply>();
  const problems: { at: number; reason: string }[] = [];
  const latest = new Map<string, RecordedCall>();

  const readLine = (line: ByteRange): void => {
    const text = bytes.subarray(line.start, line.end);
    const isRecord = text.includes(recordMark);
    if (!isRecord && !text.includes(replyMark)) return;
    const members = membersAt(text, 0);
    const type = members ? stringIn(text, members.get('type')) : undefined;
    if (members && isRecord) {
      if (type === 'api-request-blob') return void messages.push(givenText(text, line, members, 'hash', 'message'));
      if (type === 'api-request-shape') return void shapes.push(givenText(text, line, members, 'shapeHash', 'shape'));
    }
    if (members && type !== 'api-request' && type !== 'assistant' && type !== 'api-request-resumed') return;
    if (text.length > largestRecord) {
      if (type !== 'assistant') problems.push({ at: line.start, reason: `a record of ${text.length} bytes is larger than any request` });
      return;
    }
    const value = parse(text);
    if (!isObject(value)) return;
    readValue(value, text, line);
  };

  const readValue = (value: JsonObject, text: Uint8Array, line: ByteRange): void => {
    const type = stringAt(value, 'type');
    if (type === 'assistant') readReply(value, text);
    if (type === 'api-request') {
      const call = callOf(value, line, calls.at(-1)?.at ?? 0);
      if (typeof call === 'string') return void problems.push({ at: line.start, reason: call });
      calls.push(call);
      latest.set(agentOf(call.agentId), call);
      return;
    }
    if (type === 'api-request-blob') return void messages.push(rewritten(value, line, 'hash', 'message'));
    if (type === 'api-request-shape') return void shapes.push(rewritten(value, line, 'shapeHash', 'shape'));
    if (type === 'api-request-resumed') {
      const [messageId, paused, again] = [stringAt(value, 'messageId'), stringAt(value, 'pausedRequestId'), stringAt(value, 'resumedRequestId')];
      if (messageId && paused && again) resumed.push({ messageId, paused, resumed: again });
    }
  };

  const readReply = (value: JsonObject, text: Uint8Array): void => {
    const { message } = value;
    const messageId = stringAt(message, 'id');
    if (!isObject(message) || !messageId || !Array.isArray(message.content)) return;
    const blocks = replies.get(messageId) ?? [];
    for (const block of blocksOf(text, message.content)) blocks.push(block);
    replies.set(messageId, blocks);
    const record = stringAt(value, 'uuid');
    if (record && message.model !== '<synthetic>' && value.isApiErrorMessage !== true)
      joinReply(agentOf(stringAt(value, 'agentId')), messageId, record, message.usage);
  };

  /** A reply is what the agent says after its call; lines of one message repeat its usage, and the last one is right. */
  const joinReply = (agent: string, messageId: string, record: string, usage: Json | undefined): void => {
    const call = latest.get(agent);
    const known = call ? call.reply : (lateReplies.get(agent) ?? open.get(agent)?.reply);
    if (known && known.messageId !== messageId) return;
    const reply = { messageId, record: known?.record ?? record, usage: usageOf(usage) };
    if (call) call.reply = reply;
    else if (open.has(agent)) lateReplies.set(agent, reply);
  };

  for (let start = from; start < to; ) {
    const found = bytes.indexOf(newline, start);
    const end = found === -1 || found > to ? to : found;
    if (end > start) readLine({ start, end });
    start = end + 1;
  }
  return { calls, messages, shapes, replies, resumed, lateReplies, problems };
}

/** Messages of user lines, for a call that names one which no blob and no reply is: each as it would have been sent. */
export function* userMessages(file: Uint8Array, to = file.length): Generator<Uint8Array> {
  const bytes = view(file);
  for (let start = 0; start < to; ) {
    const found = bytes.indexOf(newline, start);
    const end = found === -1 || found > to ? to : found;
    const text = bytes.subarray(start, end);
    const message = text.includes('"user"') && text.length <= largestRecord ? membersAt(text, 0)?.get('message') : undefined;
    const members = message && membersAt(text, message.start);
    const content = members && stringIn(text, members.get('role')) === 'user' ? members.get('content') : undefined;
    if (content) yield Buffer.concat([Buffer.from('{"role":"user","content":'), text.subarray(content.start, content.end), Buffer.from('}')]);
    start = end + 1;
  }
}

/** The message that the first `count` blocks of a reply make, as it is sent back. */
export function replyMessage(blocks: readonly Uint8Array[], count: number): Uint8Array {
  const parts: Uint8Array[] = [Buffer.from('{"role":"assistant","content":[')];
  blocks.slice(0, count).forEach((block, index) => {
    if (index) parts.push(Buffer.from(','));
    parts.push(block);
  });
  parts.push(Buffer.from(']}'));
  return Buffer.concat(parts);
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

function givenText(text: Uint8Array, line: ByteRange, members: ReadonlyMap<string, ByteRange>, hashKey: string, textKey: string): RecordedText {
  const place = members.get(textKey);
  const hash = stringIn(text, members.get(hashKey)) ?? '';
  if (!place) return { hash, line, range: undefined, text: new Uint8Array() };
  const range = { start: line.start + place.start, end: line.start + place.end };
  return { hash, line, range, text: text.length > largestRecord ? undefined : text.subarray(place.start, place.end) };
}

/** For a record with spaces between its tokens: the same content, written compactly. */
const rewritten = (value: JsonObject, line: ByteRange, hashKey: string, textKey: string): RecordedText => ({
  hash: stringAt(value, hashKey) ?? '',
  line,
  range: undefined,
  text: Buffer.from(JSON.stringify(value[textKey] ?? null)),
});

/** The blocks' own bytes where the line is compact JSON, else the blocks written anew. */
function blocksOf(text: Uint8Array, content: readonly Json[]): Uint8Array[] {
  const message = membersAt(text, 0)?.get('message');
  const list = message && membersAt(text, message.start)?.get('content');
  const places = list && elementsAt(text, list.start);
  return places ? places.map(({ start, end }) => text.subarray(start, end)) : content.map((block) => Buffer.from(JSON.stringify(block)));
}

function usageOf(usage: Json | undefined): Usage {
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

function stringIn(text: Uint8Array, range: ByteRange | undefined): string | undefined {
  const value = range ? parse(text.subarray(range.start, range.end)) : undefined;
  return typeof value === 'string' ? value : undefined;
}

const parse = (text: Uint8Array): Json | undefined => parseJson(textOf(text));

const view = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
