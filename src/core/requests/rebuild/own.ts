import { sha256Of } from '../../artifacts/index.js';
import {
  type ArtifactNo,
  type CommitSeq,
  type ContextId,
  canonicalJson,
  corrupt,
  decodeText,
  defined,
  isObject,
  type Json,
  type JsonObject,
  notFound,
  orUndefined,
  parseJson,
  toTimestamp,
} from '../../base/index.js';
import { type ContextRow, commitAt, contextEntries, findCommit, type ReadChain, seededIds, type WriteChain } from '../../chain/index.js';
import type { Request, RequestRow, RequestTokens, Wire } from '../../contract/index.js';
import { pairedCalls, type WritableEntry } from '../../formats/index.js';
import { changedSql } from '../../store/index.js';
import { unknownUsage } from '../runtimes/runtime.js';
import { wordsOf } from '../shared/words.js';

/** The common part of all calls that Stemma makes in a run: everything but the model's answers. */
export interface OwnQuestion {
  /** The context that is answered. */
  readonly base: Pick<ContextRow, 'id' | 'createdAt'>;
  readonly wire: Wire;
  readonly body: JsonObject;
  /** Messages before those of the context: the system prompt, if the provider takes it as a message. The context does not repeat them. */
  readonly before: readonly Json[];
  readonly headers: Readonly<Record<string, string>>;
  /** The texts of the system messages with their layers, if the composer made them. The context's own system texts and summaries are among them. */
  readonly composed?: readonly LayerText[] | undefined;
  /** True if each call is sent with one result (`pairedCalls`). Calls of earlier versions were not. */
  readonly isPaired?: boolean | undefined;
  /** Messages of a recorded call that are sent instead of the context. */
  readonly sent?: SentBefore | undefined;
}

/** The text of a system message, and the layer that it is. */
export type LayerText = Readonly<Record<'layer' | 'text', string>>;

/** The messages of a recorded call from a position on. Those before it are in `OwnQuestion.before`. */
interface SentBefore {
  readonly requestId: string;
  readonly messages: readonly Json[];
  readonly from: number;
  readonly changes: readonly TextChange[];
}

/** A text at a position in the messages of a call. */
export interface TextChange {
  readonly path: readonly (string | number)[];
  readonly text: string;
}

export interface OwnCall {
  /** SHA-256 of the body's canonical JSON, in hex. */
  readonly digest: string;
  /** The number of entries of the reply that existed before it. */
  readonly replies: number;
  /** The first digits of the digests of its messages, which show which one differs. */
  readonly messages: readonly string[];
  readonly at: number;
  readonly ms: number;
  readonly tokens: RequestTokens;
  /** In US dollars; null if the provider reported no cost. */
  readonly cost: number | null;
  readonly stop: string | null;
}

export interface OwnRun {
  readonly turn: ContextId | null;
  readonly base: ContextId;
  readonly provider: string;
  readonly model: string;
  readonly question: OwnQuestion;
  readonly calls: readonly OwnCall[];
}

/** The body of a call: the question, the context, and the replies so far. `prompt`: entries that the context does not have yet. */
export function ownBody(chain: ReadChain, question: OwnQuestion, replies: readonly WritableEntry[], prompt: readonly WritableEntry[] = []) {
  const { base, wire, sent, before, body } = question;
  if (!sent) return writtenBody(question, [...contextOf(chain, question), ...prompt, ...replies.map(resent)]);
  const { list, write } = wordsOf[wire];
  return { ...body, [list]: [...before, ...changed(sent).slice(sent.from), ...write(replies.map(resent), optionsOf(base))] };
}

const optionsOf = ({ id, createdAt }: OwnQuestion['base']) => ({ newId: seededIds(id), now: toTimestamp(createdAt) });

/** The body of a call with these entries as its messages. */
export function writtenBody({ base, wire, before, body, isPaired }: OwnQuestion, entries: readonly WritableEntry[]): JsonObject {
  const { list, write } = wordsOf[wire];
  return { ...body, [list]: [...before, ...write(isPaired ? pairedCalls(entries) : entries, optionsOf(base))] };
}

function changed({ messages, changes }: SentBefore): readonly Json[] {
  if (changes.length === 0) return messages;
  const all = structuredClone(messages) as Json[];
  for (const { path, text } of changes) {
    const place = path.slice(0, -1).reduce<unknown>((at, step) => (at as Record<string | number, unknown>)[step], all);
    (place as Record<string | number, Json>)[path.at(-1) ?? ''] = text;
  }
  return all;
}

/** The entries of the context, without what the messages before them say already. */
function contextOf(chain: ReadChain, { base, before, composed }: OwnQuestion): WritableEntry[] {
  const all = contextEntries(chain, { id: base.id }).map(({ entry }) => entry);
  if (composed) return all.filter(({ role, kind }) => kind !== 'summary' && !(role === 'system' && kind === 'text'));
  const first = before.length > 0 ? all.findIndex(({ role }) => role !== 'system') : 0;
  return first < 0 ? [] : all.slice(first);
}

/** The digests of a body, by which it can be verified later. */
export const printOf = (wire: Wire, body: JsonObject): Pick<OwnCall, 'digest' | 'messages'> => ({
  digest: sha256Of(canonicalJson(body)).toString('hex'),
  messages: messagesIn(wire, body).map((message) => sha256Of(canonicalJson(message)).toString('hex').slice(0, printLength)),
});

const printLength = 10;
const messagesIn = (wire: Wire, body: JsonObject): readonly Json[] => {
  const messages = body[wordsOf[wire].list];
  return Array.isArray(messages) ? messages : [];
};

/** Stores the calls that produced a reply. Call it inside the transaction that makes the commit. */
export function recordOwnRun(chain: WriteChain, commit: ContextId, run: Omit<OwnRun, 'base'>): void {
  const { base, wire, body, before, headers, sent, composed, isPaired } = run.question;
  const shape = { body, before, headers, from: sent?.from ?? 0, changes: sent?.changes ?? [], composed, isPaired };
  const { no } = chain.artifacts.put(Buffer.from(canonicalJson(shape as unknown as Json)), { contentType: 'application/json' });
  const seqOf = (id: ContextId): CommitSeq => findCommit(chain, id).seq;
  chain.db.run(
    'INSERT OR REPLACE INTO modelRun (context, project, base, turn, provider, wire, model, likeCall, shape, calls) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
    ...[seqOf(commit), chain.project, seqOf(base.id), run.turn === null ? null : seqOf(run.turn), run.provider, wire, run.model],
    ...[sent?.requestId ?? null, no, JSON.stringify(run.calls)],
  );
}

interface StoredRun {
  readonly context: CommitSeq;
  readonly base: CommitSeq;
  readonly turn: CommitSeq | null;
  readonly provider: string;
  readonly wire: OwnQuestion['wire'];
  readonly model: string;
  readonly likeCall: string | null;
  readonly shape: ArtifactNo;
  readonly calls: string;
}

/** The messages of a recorded call. */
type MessagesOf = (requestId: string) => readonly Json[];

const columns = 'context, base, turn, provider, wire, model, likeCall, shape, calls';
/** SQL that is true for a row of `modelRun r` that does not match its checksum: nothing in it is true. */
const changedRun = ({ db }: ReadChain): string => changedSql(db, 'modelRun', 'r') ?? 'FALSE';

/** The run that produced the reply in a commit; undefined if Stemma did not make its calls, or if their record was damaged. */
export function ownRunOf(chain: ReadChain, commit: Pick<ContextRow, 'seq'>, messagesOf: MessagesOf): OwnRun | undefined {
  const stored = chain.db.one<StoredRun>(`SELECT ${columns} FROM modelRun r WHERE context = ? AND NOT (${changedRun(chain)})`, commit.seq);
  return stored && openRun(chain, stored, messagesOf);
}

/** The time that models took for these commits, from Stemma's first call to the last answer, in milliseconds. */
export function ownSpans(chain: ReadChain, commits: readonly CommitSeq[]): ReadonlyMap<CommitSeq, number> {
  const stored = chain.db.all<Pick<StoredRun, 'context' | 'calls'>>(
    `SELECT context, calls FROM modelRun r
      WHERE provider <> 'recorded' AND context IN (SELECT value FROM json_each(?)) AND NOT (${changedRun(chain)})`,
    JSON.stringify(commits),
  );
  return new Map(
    stored.flatMap(({ context, calls }) => {
      const all = JSON.parse(calls) as OwnCall[];
      const [first, last] = [all[0], all.at(-1)];
      return first && last ? [[context, last.at + last.ms - first.at] as const] : [];
    }),
  );
}

function openRun(chain: ReadChain, stored: StoredRun, messagesOf: MessagesOf): OwnRun {
  const base = commitAt(chain, stored.base);
  const { provider, model, wire, turn, likeCall } = stored;
  const { from, changes, ...shape } = parseJson(decodeText(chain.artifacts.read(stored.shape))) as unknown as Omit<
    OwnQuestion,
    'base' | 'wire' | 'sent'
  > &
    Pick<SentBefore, 'from' | 'changes'>;
  const sent = likeCall === null ? undefined : { requestId: likeCall, messages: messagesOf(likeCall), from, changes };
  return {
    turn: turn === null ? null : commitAt(chain, turn).id,
    base: base.id,
    provider,
    model,
    question: { ...shape, base, wire, sent },
    calls: JSON.parse(stored.calls) as OwnCall[],
  };
}

/** The calls that Stemma made for the replies in these commits, each rebuilt and compared with what was sent. */
export function ownRows(chain: ReadChain, commits: Iterable<CommitSeq>, messagesOf: MessagesOf): RequestRow[] {
  const stored = chain.db.all<StoredRun & { readonly isChanged: number }>(
    `SELECT ${columns}, ${changedRun(chain)} AS isChanged FROM modelRun r
      WHERE project = ? AND context IN (SELECT value FROM json_each(?)) ORDER BY context`,
    [chain.project, JSON.stringify([...commits])],
  );
  return stored.flatMap((row) => {
    const commit = commitAt(chain, row.context);
    if (row.isChanged === 1) return [damagedRow(commit)];
    const question = questionOf(chain, row, messagesOf);
    const replies = repliesIn(chain, commit);
    return (JSON.parse(row.calls) as OwnCall[]).map((call, number): RequestRow => {
      const { isSame, problem } =
        typeof question === 'string' ? { isSame: false, problem: question } : compareWithStored(chain, question, call, replies);
      return {
        requestId: ownId(commit.id, number),
        at: toTimestamp(call.at),
        commit: commit.id,
        replyKey: replies[call.replies]?.key ?? null,
        ...(commit.sessionId !== null && { sessionId: commit.sessionId }),
        source: 'stemma',
        model: row.model,
        messageCount: call.messages.length,
        tokens: call.tokens,
        proof: isSame ? 'digest' : 'recorded',
        ...(problem !== undefined && { problem }),
      };
    });
  });
}

const damagedRecord = 'The record of this call was damaged. Run "stemma fsck --repair" to restore it from a backup.';

/** Stands for the calls of a commit whose record does not match its checksum. */
const damagedRow = ({ id, createdAt, sessionId }: ContextRow): RequestRow => ({
  requestId: ownId(id, 0),
  at: toTimestamp(createdAt),
  commit: id,
  replyKey: null,
  ...(sessionId !== null && { sessionId }),
  source: 'stemma',
  model: null,
  messageCount: 0,
  tokens: unknownUsage,
  proof: 'recorded',
  problem: damagedRecord,
});

/** The question of a run, or the reason why it cannot be rebuilt: the project lacks the call whose messages the run sent again. */
function questionOf(chain: ReadChain, row: StoredRun, messagesOf: MessagesOf): OwnQuestion | string {
  const { likeCall } = row;
  const question = (): OwnQuestion => openRun(chain, row, messagesOf).question;
  if (likeCall === null) return question();
  return orUndefined(question, ['NOT_FOUND']) ?? `it sent the messages of the call ${likeCall} again, which this project does not hold`;
}

/** Marks the ids of calls that Stemma made. */
export const ownCallPrefix = 'own:';

/** The id of a call that Stemma made, by its commit and number. */
export const ownId = (commit: ContextId, number: number): string => `${ownCallPrefix}${commit}:${number}`;

type OwnPlace = { readonly commit: ContextId; readonly number: number };

/** The commit and number of a call that Stemma made; undefined for ids of other kinds. */
export function parseOwnId(requestId: string): OwnPlace | undefined {
  const found = /^own:(ctx-[0-9a-f]+):(\d+)$/.exec(requestId);
  return found ? { commit: found[1] as ContextId, number: Number(found[2]) } : undefined;
}

/** One call that Stemma made. @throws NOT_FOUND for an unknown id; CORRUPT if the record of the call was damaged. */
export function getOwn(chain: ReadChain, requestId: string, { commit, number }: OwnPlace, messagesOf: MessagesOf): Request {
  const row = findCommit(chain, commit, 'requestId');
  if (chain.db.one(`SELECT 1 FROM modelRun r WHERE context = ? AND ${changedRun(chain)}`, row.seq)) throw corrupt(requestId, damagedRecord);
  const run = ownRunOf(chain, row, messagesOf);
  const call = run?.calls[number];
  if (!run || !call) throw notFound(requestId, `Stemma made no call ${number} for ${commit}`);
  const { body, digest, isSame, problem } = compareWithStored(chain, run.question, call, repliesIn(chain, row));
  return {
    requestId,
    provider: wordsOf[run.question.wire].provider,
    body,
    headers: { ...run.question.headers },
    digest,
    recordedDigest: call.digest,
    proof: isSame ? 'digest' : 'recorded',
    missing: [],
    ...(problem !== undefined && { problem }),
  };
}

/** Compares a rebuilt call with its stored digests. */
function compareWithStored(chain: ReadChain, question: OwnQuestion, call: OwnCall, replies: readonly WritableEntry[]) {
  const body = ownBody(chain, question, replies.slice(0, call.replies));
  const { digest, messages } = printOf(question.wire, body);
  const isSame = digest === call.digest;
  const differing = call.messages.findIndex((print, at) => messages[at] !== print);
  const problem = isSame
    ? undefined
    : differing >= 0
      ? `message ${differing + 1} of ${call.messages.length} differs from what was sent`
      : messages.length === call.messages.length
        ? 'the system prompt, tools or settings differ from what was sent'
        : `${messages.length} messages instead of ${call.messages.length}`;
  return { body, digest, isSame, problem };
}

const repliesIn = (chain: ReadChain, row: ContextRow): WritableEntry[] =>
  contextEntries(chain, { id: row.id, stop: row.id }).map(({ entry }) => entry);

/** An entry of a reply as it is sent back to the model. Leaves out keys and marks, which it gets only when it is stored. */
const resent = ({ role, kind, text, toolName, toolCallId, arguments: given, result, isError, media }: WritableEntry): WritableEntry => ({
  role,
  kind,
  ...(media && { media }),
  ...defined({ text, toolName, toolCallId, arguments: given }),
  // Only the provider's signature is sent in addition to the text.
  ...(kind === 'thinking' && result !== undefined && { result }),
  ...(role === 'assistant' &&
    isObject(result) &&
    typeof result.thoughtSignature === 'string' && { result: { thoughtSignature: result.thoughtSignature } }),
  ...(isError && { isError }),
});
