import {
  type CommitSeq,
  decodeText,
  type EntryKey,
  isObject,
  type Json,
  type JsonObject,
  onceFor,
  parseInstant,
  parseJson,
  stringAt,
} from '../../base/index.js';
import { type ContextRow, commitAt, type ReadChain, readOutline, type WriteChain } from '../../chain/index.js';
import { callDetails } from '../runtimes/claude-code/records.js';
import { recordId } from '../runtimes/runtime.js';
import { maxRecordBytes } from '../shared/canonical.js';
import { readBody, readReply, type WireBody, type WireReply } from '../shared/wire.js';
import { type CallRecordPlace, storedDetails } from './calls.js';
import { digestBody, makeRecord, sourceOfCalls, storeCall } from './capture.js';
import { idMark, setAnswer, waitForAnswer } from './join.js';

/** A request and its reply as Claude Code wrote them into files (`OTEL_LOG_RAW_API_BODIES=file:DIR`). */
export interface RawBody {
  /** The agent's id of the request, which is the name of its file. */
  readonly id: string;
  /** The time of the call if a record has it, else of the file, in milliseconds since 1970. */
  readonly at: number;
  readonly request: string;
  /** The assembled message of the reply; undefined for a call without one. */
  readonly reply?: string | undefined;
  /** The purpose of the call, in the agent's words: `sdk`, `compact`, `agent:…`. */
  readonly querySource?: string | undefined;
}

/** The source of all calls that were read from such files. They name an account, so the files themselves are not kept (R5). */
export const bodiesFormat = 'claude-code-bodies-v1';

/** The text that replaces each thinking text in these files. */
const redacted = '<REDACTED>';
/** The longest time between a request and the transcript's record of it, in milliseconds. */
const sameCall = 60_000;

/** Data of a session that the project has: thinking texts, digests and positions of replies. */
type Known = ReturnType<typeof knownOf>;
/** Where a reply begins. */
type ReplyPlace = { readonly commit: CommitSeq; readonly key: EntryKey };

/**
 * Stores calls from raw bodies, each once under the agent's own id. The files lack thinking texts, which are taken from the transcript by
 * their signatures. If the body then has the digest that the transcript records, it is verified; otherwise `missing` names the absent parts.
 * Call it after importing the transcripts. A body that was stored earlier is completed. Returns the number of new or changed calls and the
 * reasons why others were not stored.
 */
export function takeBodies(chain: WriteChain, bodies: Iterable<RawBody>) {
  const known = onceFor((sessionId: string) => knownOf(chain, sessionId));
  const problems: { id: string; reason: string }[] = [];
  let calls = 0;
  for (const body of bodies) {
    const result = takeBody(chain, body, known);
    if (typeof result === 'string') problems.push({ id: body.id, reason: result });
    else if (result) calls += 1;
  }
  return { calls, problems };
}

/** True for a new or changed call, false for one that is stored already, or the reason why it cannot be stored. */
function takeBody(chain: WriteChain, raw: RawBody, knownOf: (sessionId: string) => Known): boolean | string {
  if (raw.request.length > maxRecordBytes) return `the body has ${raw.request.length} characters, more than any request`;
  const sent = parseJson(raw.request);
  if (!isObject(sent) || !Array.isArray(sent.messages)) return 'it is no request to the Messages API';
  const sessionId = readBody('anthropic', '/v1/messages', sent).sessionId ?? '';
  const known = knownOf(sessionId);
  const { body, missing } = withThinking(sent, known.thinking);
  const wire = readBody('anthropic', '/v1/messages', body);
  const reply = readReply('anthropic', raw.reply ?? '');
  const digest = missing.length === 0 ? digestBody(withoutHead(body, wire), wire) : undefined;
  const record = digest === undefined ? undefined : takeRecord(known, digest, raw.at, reply);
  if (!record && reply.messageId !== undefined && known.recorded.has(reply.messageId))
    return 'it differs from the record of this call in the transcript, which is kept';
  const place = findCommitOfCall(known, raw, reply, record?.messageId ?? undefined);
  if (isCaptured(chain, { sessionId, at: raw.at, reply, messageCount: wire.messages.length }, place?.key)) return false;
  const requestId = `body:${raw.id}`;
  const betas = Array.isArray(wire.params.betas) ? wire.params.betas : undefined;
  const kept = makeRecord(wire, {
    id: requestId,
    at: new Date(raw.at).toISOString(),
    agent: raw.querySource,
    digest: record && digest,
    withheld: missing,
    sent: { provider: 'anthropic', path: '/v1/messages', status: null },
    order: wire.order.filter((name) => name !== 'betas'),
    headers: { 'anthropic-version': '2023-06-01', ...(betas && { 'anthropic-beta': betas.join(',') }) },
    by: 'claude-code',
  });
  return chain.artifacts.transaction(() => {
    const before = chain.db.one<{ no: number; place: CommitSeq | null; line: Buffer }>(
      'SELECT no, context AS place FROM request WHERE project = ? AND requestId = ?',
      [chain.project, requestId],
    );
    const state = `${missing.length} ${record !== undefined}`;
    if (before && before.place === (place?.commit ?? null) && measureBody(chain, before.no) === state) return false;
    if (before) remove(chain, before.no);
    const source = sourceOfCalls(chain, bodiesFormat);
    const no = storeCall(chain, { requestId, source, sessionId, at: raw.at, provider: 'anthropic', wire, reply, record: kept });
    if (place) setAnswer(chain, no, place.commit, place.key);
    else waitForAnswer(chain, no, reply);
    return true;
  });
}

/** Adds thinking texts of the transcript to a body. Leaves out thinking that the transcript lacks, and returns its paths. */
function withThinking(sent: JsonObject, thinking: ReadonlyMap<string, string>): { readonly body: JsonObject; readonly missing: readonly string[] } {
  const missing: string[] = [];
  const block = (value: Json, path: string): Json => {
    if (!isObject(value) || value.thinking !== redacted) return value;
    const text = thinking.get(stringAt(value, 'signature') ?? '');
    if (text !== undefined) return { ...value, thinking: text };
    missing.push(`${path}.thinking`);
    const { thinking: _, ...rest } = value;
    return rest as JsonObject;
  };
  const messages = (sent.messages as readonly Json[]).map((message, at): Json => {
    if (!isObject(message) || !Array.isArray(message.content)) return message;
    return { ...message, content: message.content.map((one, n) => block(one, `messages[${at}].content[${n}]`)) };
  });
  return { body: { ...sent, messages }, missing };
}

/** The body without the first blocks of the system prompt that no digest of the agent covers. */
const withoutHead = (body: JsonObject, { head }: WireBody): JsonObject =>
  head.length > 0 && Array.isArray(body.system) ? { ...body, system: body.system.slice(head.length) } : body;

/** The transcript's record with this digest. A retried call has two: takes the one with this reply, else the nearest in time. */
function takeRecord(known: Known, digest: string, at: number, { messageId }: WireReply): { readonly messageId: string | null } | undefined {
  const same = known.records.get(digest) ?? [];
  const found =
    same.find((record) => messageId !== undefined && record.messageId === messageId) ??
    same.toSorted((a, b) => Math.abs(a.at - at) - Math.abs(b.at - at)).find((record) => messageId === undefined || record.messageId === null) ??
    same[0];
  if (found && same.length > 1) same.splice(same.indexOf(found), 1);
  return found;
}

/** The commit of a call: that of its reply, or the compaction for which the call was made. */
function findCommitOfCall({ replies, compactions }: Known, { at, querySource }: RawBody, reply: WireReply, recorded: string | undefined) {
  const answer = replies.get(reply.messageId ?? recorded ?? '');
  if (answer || querySource !== 'compact') return answer;
  const said = reply.text.replace(/^[\s\S]*<summary>|<\/summary>[\s\S]*$/g, '').trim();
  return compactions.find((compaction) => compaction.at >= at - sameCall && said !== '' && compaction.text.includes(said));
}

interface Sent {
  readonly sessionId: string;
  readonly at: number;
  readonly reply: WireReply;
  readonly messageCount: number;
}

/** Whether the call was captured on the wire too, which is the better record. It is found by its reply, or by its time if it has none. */
function isCaptured({ db, project }: ReadChain, { sessionId, at, reply, messageCount }: Sent, key: EntryKey | undefined): boolean {
  const isFound = (from: string, where: string, values: Readonly<Record<string, string | number>>): boolean => {
    const wire = "r.project = :project AND r.provider IS NOT NULL AND r.requestId NOT LIKE 'body:%'";
    return db.one(`SELECT 1 FROM ${from} WHERE ${wire} AND ${where}`, { project, ...values }) !== undefined;
  };
  if (key !== undefined) return isFound('request r', 'r.replyRecord = :record', { record: recordId(key) });
  if (reply.messageId !== undefined)
    return isFound('requestReply m JOIN request r ON r.no = m.request', 'm.mark = :mark', { mark: idMark(reply.messageId) });
  return isFound(
    'request r JOIN requestConversation c ON c.no = r.conversation',
    'c.sessionId = :sessionId AND r.messageCount = :messageCount AND ABS(r.at - :at) < :sameCall',
    { sessionId, messageCount, at, sameCall },
  );
}

/** How complete a stored body is: the number of missing thinking texts, and whether it is verified. */
function measureBody(chain: ReadChain, no: number): string {
  const { withheld = [], digest } = storedDetails(chain, no) ?? {};
  return `${withheld.filter((path) => path.startsWith('messages[')).length} ${digest != null}`;
}

function remove({ db, project }: WriteChain, no: number): void {
  db.run('DELETE FROM requestReply WHERE request = ? AND project = ?', no, project);
  db.run('DELETE FROM request WHERE no = ? AND project = ?', no, project);
}

/** Reads the data of a session that the project has. */
function knownOf(chain: ReadChain, sessionId: string) {
  const { db, project, artifacts } = chain;
  const ofSession = "SELECT seq FROM commits WHERE +project = ? AND sessionId = ? AND format = 'claude-code-v1' ORDER BY seq";
  const thinking = new Map<string, string>();
  /** By the provider's id of the message. */
  const replies = new Map<string, ReplyPlace>();
  const compactions: Compaction[] = [];
  for (const seq of db.column<CommitSeq>(ofSession, project, sessionId)) {
    const commit = commitAt(chain, seq);
    const delta = artifacts.read(commit.artifact);
    for (const [signature, text] of thinkingIn(delta)) thinking.set(signature, text);
    for (const { role, kind, key, messageId } of readOutline(chain, commit).entries)
      if (role === 'assistant' && kind !== 'summary' && messageId !== undefined && !replies.has(messageId))
        replies.set(messageId, { commit: commit.seq, key });
    if (commit.type === 'compaction') compactions.push(...compactionOf(chain, commit, delta));
  }
  const select = `SELECT r.page, r.start, r.size, r.at, r.replyMessage FROM request r JOIN requestConversation c ON c.no = r.conversation
    WHERE c.project = ? AND c.sessionId = ? AND r.provider IS NULL ORDER BY r.no`;
  const rows = db.all<CallRecordPlace & { at: number; replyMessage: string | null }>(select, project, sessionId);
  /** The transcript's own records of calls, by digest. Each is used once. */
  const records = new Map<string, { readonly at: number; readonly messageId: string | null }[]>();
  for (const { page, start, size, at, replyMessage: messageId } of rows) {
    const { digest } = callDetails(artifacts.read(page).subarray(start, start + size));
    if (digest !== null) records.set(digest, [...(records.get(digest) ?? []), { at, messageId }]);
  }
  /** Message ids of replies whose calls the transcript itself records. */
  const recorded = new Set(rows.flatMap(({ replyMessage }) => replyMessage ?? []));
  return { thinking, records, replies, compactions, recorded };
}

function* thinkingIn(delta: Uint8Array): Generator<readonly [signature: string, text: string]> {
  for (const line of decodeText(delta).split('\n')) {
    if (!line.includes('"signature"')) continue;
    const record = parseJson(line);
    const message = isObject(record) ? record.message : undefined;
    for (const block of isObject(message) && Array.isArray(message.content) ? message.content : []) {
      const [signature, text] = [stringAt(block, 'signature'), stringAt(block, 'thinking')];
      if (signature && text !== undefined) yield [signature, text];
    }
  }
}

type Compaction = ReplyPlace & { readonly at: number; readonly text: string };

function compactionOf(chain: ReadChain, commit: ContextRow, delta: Uint8Array): Compaction[] {
  const summary = readOutline(chain, commit).entries.find(({ kind }) => kind === 'summary');
  if (!summary) return [];
  const texts = decodeText(delta)
    .split('\n')
    .map((line) => (line.includes('"isCompactSummary"') ? parseJson(line) : undefined))
    .flatMap((record) => (isObject(record) && isObject(record.message) ? [record.message.content ?? null] : []));
  const text = texts.map((content) => (typeof content === 'string' ? content : JSON.stringify(content))).join('\n');
  return [{ commit: commit.seq, at: commit.createdAt, key: summary.key, text }];
}

/** The index that Claude Code writes beside the files, by the id of the request. Lines that are no index are ignored. */
export const readBodyIndex = (text: string) =>
  new Map(
    text.split('\n').flatMap((line) => {
      const row = parseJson(line);
      const [request, reply, querySource] = ['request_file', 'response_file', 'query_source'].map((name) => stringAt(row, name));
      const at = parseInstant(stringAt(row, 'timestamp') ?? '');
      return request === undefined ? [] : [[request, { at, reply, querySource }] as const];
    }),
  );
