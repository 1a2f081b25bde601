import { createHash, type Hash } from 'node:crypto';
import { sha256Of } from '../../artifacts/index.js';
import {
  type ArtifactNo,
  canonicalJson,
  decodeText,
  encodeText,
  isObject,
  type Json,
  type JsonObject,
  once,
  onceFor,
  parseJson,
  recent,
} from '../../base/index.js';
import type { ReadChain } from '../../chain/index.js';
import { type CallDetails, callDetails, type WireDetails } from '../runtimes/claude-code/records.js';
import { cacheMark, ownObject, withBlocks } from '../shared/canonical.js';
import { listRow, type MessageListRow, readList } from '../shared/lists.js';
import { type CacheMark, markedMessage, marksByMessage, marksOf, pathInWords, putMark } from '../shared/marks.js';
import { type MessageReader, messageReader, readValues } from '../shared/messages.js';
import { copyCanonicals } from '../shared/pages.js';
import { unpackNumbers } from '../shared/varints.js';
import { anthropicLayout, type BodyLayout } from '../shared/wire.js';

export interface StoredCall extends MessageListRow {
  readonly no: number;
  readonly page: ArtifactNo;
  readonly start: number;
  readonly size: number;
  readonly shape: number | null;
  readonly flaw: string | null;
  readonly shapeFlaw: string | null;
}

export const callColumns = 'no, page, start, size, shape, base, keep, tail, flaw, shapeFlaw';

/** A call rebuilt from stored parts: its whole body without the values of messages. */
export interface RebuiltCall {
  readonly details: CallDetails;
  readonly layout: BodyLayout;
  /** The members of the body except its list of messages, with cache marks, by the names under which they are sent. */
  readonly members: ReadonlyMap<string, BodyMember>;
  /** The numbers of the messages; negative for a missing one. */
  readonly messages: readonly number[];
  readonly marks: ReadonlyMap<number, readonly CacheMark[]>;
  /** The paths of missing parts. */
  readonly missing: readonly string[];
  /** The first reason why the digest cannot equal the recorded one. */
  readonly problem: string | undefined;
}

/** A member of a body. Calls share most members, so one rebuilder returns the same value again. */
interface BodyMember {
  readonly value: Json;
  readonly canonical: () => Uint8Array;
}

/** Rebuilds calls for one question. Content that they share is read once. */
export type Rebuilder = ReturnType<typeof openRebuilder>;

/** Members of a body that no digest covers. */
export const outsideDigest: ReadonlySet<string> = new Set(['metadata', 'stream', 'thread', 'diagnostics', 'safeguards', 'data_flow']);

/** Opens a rebuilder for one question. Long because its functions share the parts of calls that were rebuilt earlier. */
export function openRebuilder(chain: Pick<ReadChain, 'db' | 'project' | 'artifacts'>) {
  const { db, artifacts } = chain;
  const reader = messageReader(chain);
  const read = onceFor((no: ArtifactNo) => artifacts.read(no));
  // The hashes of bodies up to their first `count` messages, none of which is marked. Calls that continue a body start from its hash.
  const states = recent<number, { readonly head: string; readonly count: number; readonly hash: Hash }>(remembered);
  const lists = recent<number, readonly number[]>(remembered);
  const parts = new Map<string, Part>();

  /** A call usually continues the list of the call rebuilt just before. */
  const listAt = (call: StoredCall): readonly number[] => {
    const base = call.base === null ? undefined : lists.get(call.base);
    const list = base ? [...base.slice(0, call.keep), ...unpackNumbers(call.tail)] : readList((no) => listRow(db, no), call.no);
    lists.set(call.no, list, 1);
    return list;
  };

  /** A part of the shape with its marks, which many calls share. */
  const partAt = (no: ArtifactNo, marks: readonly CacheMark[]): Part => {
    const name = `${no} ${JSON.stringify(marks)}`;
    const known = parts.get(name);
    if (known) return known;
    const value = JSON.parse(decodeText(read(no))) as Json;
    const lost = marks.find((mark) => !putMark(value, mark, 1));
    const part = { ...wrapMember(value), lost };
    parts.set(name, part);
    return part;
  };

  const gapInWords = (gap: number, at: number): string => {
    const row = db.one<{ hash: Buffer; reason: string }>('SELECT hash, reason FROM requestGap WHERE no = ?', -gap);
    return `message ${at} (${row?.hash.toString('hex').slice(0, 12) ?? 'unknown'}…): ${row?.reason ?? 'it is not stored'}`;
  };

  return {
    reader,
    rebuild(call: StoredCall): RebuiltCall {
      const details = callDetails(read(call.page).subarray(call.start, call.start + call.size));
      const messages = listAt(call);
      const recorded = marksOf(details.cacheControl);
      const marks = typeof recorded === 'string' ? [] : recorded;
      const layout = details.wire?.layout ?? anthropicLayout;
      const { members, lost } = bodyMembers(chain, call, details, marks, partAt);
      const misplaced = lost ?? lostOnMessages(reader, messages, marks);
      const gaps = messages.flatMap((message, at) => (message < 0 ? [at] : []));
      const [gap] = gaps;
      return {
        details,
        layout,
        members,
        messages,
        marks: marksByMessage(marks),
        missing: [
          ...(call.flaw === null ? [] : ['messages']),
          ...(call.shapeFlaw === null ? [] : ['system', 'tools']),
          ...gaps.map((at) => `messages[${at}]`),
        ],
        problem:
          call.flaw ??
          call.shapeFlaw ??
          (gap !== undefined ? gapInWords(messages[gap] as number, gap) : typeof recorded === 'string' ? recorded : misplaced && lostMark(misplaced)),
      };
    },
    /** The digest of the body as the runtime computes it, lower-case hex; undefined if a message that it covers is missing. */
    digest(call: StoredCall, { details, layout, members, messages, marks, missing }: RebuiltCall): string | undefined {
      if (missing.length) return undefined;
      // A captured call may have no list, or have a parameter with another value in its place.
      const list = members.has(layout.list) || details.wire?.order.includes(layout.list) === false ? undefined : layout.list;
      const covered = details.wire?.by === undefined ? members : withoutHead(members, details.wire);
      const names = [...members.keys(), ...(list ? [list] : [])].filter((name) => !outsideDigest.has(name)).sort();
      if (list === undefined) return sha256Of(`{${names.map((name) => inCanonical(name, covered)).join(',')}}`).toString('hex');
      const before = names.slice(0, names.indexOf(list));
      const head = `{${before.map((name) => `${inCanonical(name, covered)},`).join('')}${JSON.stringify(list)}:[`;
      const firstMarked = Math.min(messages.length, ...marks.keys());
      const known = call.base === null ? undefined : states.get(call.base);
      const from = known && known.head === head && known.count <= Math.min(call.keep, firstMarked) ? known : undefined;
      const hash = from ? from.hash.copy() : createHash('sha256').update(head);
      writeMessages(hash, reader, messages, marks, from?.count ?? 0, firstMarked, (state) =>
        states.set(call.no, { head, count: firstMarked, hash: state }, 1),
      );
      hash.update(']');
      for (const name of names.slice(before.length + 1))
        hash.update(`,${JSON.stringify(name)}:`).update((covered.get(name) as BodyMember).canonical());
      return hash.update('}').digest('hex');
    },
    body({ details, layout, members, messages, marks }: RebuiltCall): JsonObject {
      const list = readValues(reader, messages);
      for (const [at, marked] of marks) if (list[at]) list[at] = markedMessage(list[at], marked) ?? list[at];
      const values = Object.fromEntries([...members].map(([name, { value }]) => [name, value])) as JsonObject;
      if (details.wire) {
        const whole: JsonObject = { [layout.list]: list, ...values };
        return ownObject(details.wire.order.flatMap((name) => (Object.hasOwn(whole, name) ? [[name, whole[name] as Json]] : [])));
      }
      // The betas are sent as a header.
      const { model, betas: _, ...sent } = values;
      return { ...(model !== undefined && { model }), messages: list, ...sent };
    },
  };
}

const inCanonical = (name: string, members: ReadonlyMap<string, BodyMember>): string =>
  `${JSON.stringify(name)}:${decodeText((members.get(name) as BodyMember).canonical())}`;

/** Restores the first blocks of a captured call's system prompt, which no shape contains. */
const withHead = (part: BodyMember, head: readonly Json[]): BodyMember =>
  head.length && Array.isArray(part.value) ? wrapMember([...head, ...part.value]) : part;

/** The members of a body without the first blocks of its system prompt. */
function withoutHead(members: ReadonlyMap<string, BodyMember>, { layout, head }: WireDetails): ReadonlyMap<string, BodyMember> {
  const system = members.get(layout.system)?.value;
  if (head.length === 0 || !Array.isArray(system)) return members;
  return new Map([...members, [layout.system, wrapMember(system.slice(head.length))]]);
}

/** A part of a shape, and its first mark whose path does not exist in it. */
interface Part extends BodyMember {
  readonly lost: CacheMark | undefined;
}

const wrapMember = (value: Json): BodyMember => ({ value, canonical: once(() => encodeText(canonicalJson(value))) });

/** The number of calls that are remembered for calls that continue them. The base of a call is usually a recent one. */
const remembered = 16;

/** The whole body without its messages, and the first mark whose path does not exist in it. */
function bodyMembers(
  { db }: Pick<ReadChain, 'db'>,
  call: StoredCall,
  { params, wire }: CallDetails,
  marks: readonly CacheMark[],
  partAt: (no: ArtifactNo, marks: readonly CacheMark[]) => Part,
): { members: Map<string, BodyMember>; lost: CacheMark | undefined } {
  const members = new Map<string, BodyMember>();
  const marksOn = (name: string): readonly CacheMark[] => marks.filter(({ path }) => path[0] === name);
  const select = 'SELECT system, tools, rest FROM requestShape WHERE no = ?';
  const shape = db.one<{ system: ArtifactNo | null; tools: ArtifactNo | null; rest: string | null }>(select, call.shape);
  let lost: CacheMark | undefined;
  for (const name of ['system', 'tools'] as const) {
    const artifact = shape?.[name];
    if (!artifact) continue;
    const part = partAt(artifact, marksOn(name));
    lost ??= part.lost;
    if (name === 'tools') members.set(name, part);
    else members.set(wire?.layout.system ?? name, withHead(part, wire?.head ?? []));
  }
  const rest = shape?.rest ? parseJson(shape.rest) : undefined;
  for (const [name, value] of [...Object.entries(params), ...Object.entries(isObject(rest) ? rest : {})]) {
    if (members.has(name) || (name === 'messages' && !wire)) continue;
    // Parameters of a captured call still have their marks.
    if (!wire) lost ??= marksOn(name).find((mark) => !putMark(value as Json, mark, 1));
    members.set(name, wrapMember(value as Json));
  }
  for (const mark of marks) {
    const [name] = mark.path;
    if (name === undefined) members.set(cacheMark, wrapMember(mark.value));
    else if (name !== 'messages' && !wire && (typeof name !== 'string' || !members.has(name))) lost ??= mark;
  }
  return { members, lost };
}

/** The first mark on a message whose path does not exist. */
function lostOnMessages(reader: MessageReader, messages: readonly number[], marks: readonly CacheMark[]): CacheMark | undefined {
  return marks.find((mark) => {
    const [part, index] = mark.path;
    if (part !== 'messages') return false;
    const no = typeof index === 'number' ? messages[index] : undefined;
    return no === undefined || (no >= 0 && markedMessage(reader.valueAt(no), [mark]) === undefined);
  });
}

const lostMark = (mark: CacheMark): string => `the cache mark at ${pathInWords(mark.path) || 'the top'} has no place in the request`;

/** Feeds the canonical forms of the messages from `from` on to the hash, and returns its state before the message `stateAt`. */
function writeMessages(
  hash: Hash,
  reader: MessageReader,
  messages: readonly number[],
  marks: ReadonlyMap<number, readonly CacheMark[]>,
  from: number,
  stateAt: number,
  keep: (state: Hash) => void,
): void {
  let text = Buffer.alloc(0);
  for (let at = from; at <= messages.length; ) {
    if (at === stateAt) keep(hash.copy());
    if (at === messages.length) break;
    const no = messages[at] as number;
    const marked = marks.get(at);
    const { page, first, count } = reader.pageOf(no);
    // Counts the messages that are consecutive in the page too, up to the next one that differs from its stored form.
    let length = 1;
    while (!marked && length < first + count - no && messages[at + length] === no + length && at + length !== stateAt && !marks.has(at + length))
      length += 1;
    if (text.length < page.bytes.length) text = Buffer.allocUnsafe(page.bytes.length);
    const { end, stoppedAt } = marked ? { end: 0, stoppedAt: no - first } : copyCanonicals(page, no - first, no - first + length, text);
    const copied = stoppedAt - (no - first);
    at += copied;
    if (copied > 0) {
      hash.update(text.subarray(at === copied ? 1 : 0, end));
      continue;
    }
    if (at > 0) hash.update(',');
    const message = reader.valueAt(no);
    hash.update(canonicalJson(withBlocks(marked ? (markedMessage(message, marked) ?? message) : message)));
    at += 1;
  }
}
