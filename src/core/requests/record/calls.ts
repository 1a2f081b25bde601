import type { ArtifactNo } from '../../base/index.js';
import type { ReadChain, WriteChain } from '../../chain/index.js';
import type { Provider } from '../../contract/index.js';
import { type CallDetails, callDetails } from '../runtimes/claude-code/records.js';
import type { Usage } from '../runtimes/runtime.js';
import { type MessageListRow, maxWalkLength, readList } from '../shared/lists.js';
import { packNumbers } from '../shared/varints.js';
import type { ShapeRow } from './texts.js';

export interface BaseCall {
  readonly no: number;
  readonly messageCount: number;
  /** The number of steps from it to a list that is stored whole. */
  readonly steps: number;
}

export interface NewCall {
  readonly requestId: string;
  readonly conversation: number;
  /** Where its record is stored. */
  readonly place: { readonly artifact: ArtifactNo; readonly start: number; readonly size: number };
  readonly at: number;
  readonly model: string | null;
  readonly shape: number | null;
  /** Its list of messages: the first `keep` of the base's, then `numbers`. */
  readonly base: BaseCall | undefined;
  readonly keep: number;
  readonly numbers: readonly number[];
  readonly listAt: (no: number) => MessageListRow | undefined;
  readonly reply?: { readonly record: string; readonly messageId: string } | undefined;
  /** For a call without a reply, the record before it. */
  readonly before?: string | null;
  readonly usage: Usage | undefined;
  readonly flaw?: string | null;
  readonly shapeFlaw?: string | null;
  /** Set for a captured call. A runtime's own records name the provider by the runtime. */
  readonly provider?: Provider;
}

/** Writes the row of a call. Stores the whole list if the walk along its bases would be long. */
export function putCall({ db, project }: WriteChain, call: NewCall): BaseCall & { readonly list: MessageListRow } {
  const { base, keep, numbers, place, usage, reply } = call;
  const steps = base ? base.steps + 1 : 0;
  const messageCount = keep + numbers.length;
  const whole = base && steps > maxWalkLength(messageCount) ? [...readList(call.listAt, base.no).slice(0, keep), ...numbers] : undefined;
  const list = { base: base?.no ?? null, keep, tail: packNumbers(numbers), list: whole ? packNumbers(whole) : null };
  const { requestId, conversation, at, model, shape, flaw = null, shapeFlaw = null, provider = null } = call;
  const { input = null, output = null, cacheRead = null, cacheWrite = null } = usage ?? {};
  const { rowId } = db.insert('request', {
    project,
    requestId,
    conversation,
    page: place.artifact,
    start: place.start,
    size: place.size,
    at,
    model,
    shape,
    ...list,
    steps: whole ? 0 : steps,
    messageCount,
    replyRecord: reply?.record ?? null,
    replyMessage: reply?.messageId ?? null,
    place: call.before ?? null,
    input,
    output,
    cacheRead,
    cacheWrite,
    flaw,
    shapeFlaw,
    provider,
  });
  return { no: rowId, messageCount, steps: whole ? 0 : steps, list };
}

/** Where the record of a call is stored. */
export type CallRecordPlace = Readonly<Record<'start' | 'size', number>> & { readonly page: ArtifactNo };

/** The facts in the record of a stored call; undefined for an unknown number. */
export function storedDetails({ db, artifacts }: ReadChain, no: number): CallDetails | undefined {
  const place = db.one<CallRecordPlace>('SELECT page, start, size FROM request WHERE no = ?', no);
  return place && callDetails(artifacts.readRange(place.page, place.start, place.start + place.size));
}

/** Finds or creates the row of a conversation. The main conversation of a session has the agent ''. */
export function saveConversation({ db, project }: WriteChain, source: number, sessionId: string, agentId: string): number {
  const select = 'SELECT no FROM requestConversation WHERE source = ? AND sessionId = ? AND agentId = ?';
  const insert = 'INSERT INTO requestConversation (project, source, sessionId, agentId) VALUES (?, ?, ?, ?)';
  return db.value<number>(select, source, sessionId, agentId) ?? db.run(insert, project, source, sessionId, agentId).rowId;
}

/** A message that a call refers to and that is missing in the file. */
export type Gap = Readonly<Record<'hash' | 'reason', string>>;

/** Finds or creates the row of a missing message. */
export function saveGap({ db, project }: WriteChain, source: number, { hash, reason }: Gap): number {
  const bytes = Buffer.from(hash, 'hex');
  const known = db.value<number>('SELECT no FROM requestGap WHERE source = ? AND hash = ?', source, bytes);
  return known ?? db.run('INSERT INTO requestGap (project, source, hash, reason) VALUES (?, ?, ?, ?)', project, source, bytes, reason).rowId;
}

/** The row of a system prompt and tools, found by content. */
export function saveShape({ db, project }: WriteChain, { hash, system, tools, rest }: ShapeRow): number {
  const known = db.value<number>('SELECT no FROM requestShape WHERE project = ? AND hash = ?', project, hash);
  return known ?? db.insert('requestShape', { project, hash, system, tools, rest }).rowId;
}
