import {
  atOnce,
  type CommitSeq,
  type ContextId,
  contentGone,
  type EntryKey,
  type Json,
  type JsonObject,
  notFound,
  StemmaError,
  toTimestamp,
} from '../../base/index.js';
import { findCommit, lineage, type Offer, offer, type ReadChain, type WriteChain, walk } from '../../chain/index.js';
import { type InputOf, maxRequests, type Proof, type Provider, type Request, type RequestRow, type RequestTokens } from '../../contract/index.js';
import type { TravelingCall } from '../record/travel.js';
import { shownCounts } from '../runtimes/runtime.js';
import { wireOf, wordsOf } from '../shared/words.js';
import { answerRows, type BriefCall, briefAnswers, getAnswered, parseAnswerId } from './answers.js';
import { cardRows, getCardCall, parseCardId } from './cards.js';
import { getOwn, type OwnRun, ownRows, ownRunOf, parseOwnId } from './own.js';
import { callColumns, openRebuilder, type Rebuilder, type RebuiltCall, type StoredCall } from './rebuild.js';
import { rowsOfStored, type StoredAnswer, storedAnswers } from './stored-answers.js';

export type RequestFilter = InputOf<'request.series'>;

type SharedFields = 'requestId' | 'sessionId' | 'at' | 'model' | keyof RequestTokens | 'context' | 'replyKey' | 'replyRecord';

export interface ListedCall extends StoredCall, Pick<TravelingCall, SharedFields> {
  readonly messageCount: number;
  readonly proved: number | null;
  readonly finding: string | null;
  readonly agentId: string;
  readonly source: number;
  readonly commitId: ContextId | null;
  /** Set for a captured call; null for a call that its runtime recorded. */
  readonly provider: Provider | null;
  /** 1 for a call that the agent itself wrote into files. */
  readonly fromBody: number;
}

const selectRow = /* sql */ `
SELECT ${callColumns
  .split(', ')
  .map((column) => `r.${column}`)
  .join(', ')}, r.requestId, r.at, r.model, r.messageCount, r.replyRecord, r.input, r.output, r.cacheRead, r.cacheWrite, r.proved, r.finding,
       COALESCE(NULLIF(c.sessionId, ''), x.sessionId, '') AS sessionId, c.agentId, c.source, r.requestId LIKE 'body:%' AS fromBody, x.seq AS context, x.id AS commitId, r.provider, r.replyKey
  FROM request r JOIN requestConversation c ON c.no = r.conversation
  LEFT JOIN record k ON k.project = r.project AND k.record = COALESCE(r.replyRecord, r.place)
  LEFT JOIN commits x ON x.seq = COALESCE(r.context, k.context)`;

/** Model calls in the order sent, with the proofs of this machine. The first listing after an import rebuilds them. @throws NOT_FOUND */
export const listRequests = (chain: ReadChain, filter: RequestFilter): RequestRow[] =>
  atOnce(listRequestsInSteps(chain, { ...filter, limit: Number.MAX_SAFE_INTEGER })).requests;

type RequestPage = { readonly total: number; readonly requests: RequestRow[] };

/** A page of the same, in steps: a context of 10,000 turns has a call for each. Only the calls of the page are rebuilt. */
export function* listRequestsInSteps(chain: ReadChain, input: InputOf<'request.list'>): Generator<undefined, RequestPage> {
  const { offset = 0, limit = maxRequests, ...filter } = input;
  return storedPage(chain, filter, offset, limit) ?? (yield* wholePage(chain, filter, offset, limit));
}

/** A page of the calls of a project or a session from stored answers; undefined for a context, and if some answers are not stored. */
function storedPage(chain: ReadChain, filter: RequestFilter, offset: number, limit: number): RequestPage | undefined {
  const { id, turnId, sessionId } = filter;
  if (id !== undefined || turnId !== undefined) return undefined;
  // Most projects have neither card turns nor calls of Stemma's own.
  const isOwn = ['agent', 'modelRun'].some((table) => chain.db.one(`SELECT 1 FROM ${table} WHERE project = ? LIMIT 1`, chain.project) !== undefined);
  const commits = isOwn ? commitsOf(chain, filter) : new Set<CommitSeq>();
  const cards = cardRows(chain, commits, false);
  const stored = storedAnswers(chain, sessionId, cards.commits);
  if (!stored) return undefined;
  const rows = inOrderSent(listRows(chain, filter, commits));
  const others = [...cards.rows, ...ownRows(chain, commits, sentIn(chain)), ...rows];
  if (others.length === 0) return { total: stored.total(), requests: rowsOfStored(chain, stored.page(offset, limit)) };
  const replies = new Set(rows.map((row) => row.replyRecord));
  const answers = stored.page(0, Number.MAX_SAFE_INTEGER).filter(({ record }) => !replies.has(record));
  const all = [...answers, ...others].sort((a, b) => timeOf(a) - timeOf(b));
  return { total: all.length, requests: shownCalls(chain, all.slice(offset, offset + limit)) };
}

const timeOf = ({ at }: RequestRow | ListedCall | StoredAnswer): number => (typeof at === 'number' ? at : Date.parse(at));

/** The calls of a page. Only these are rebuilt and proved. */
function shownCalls(chain: ReadChain, page: readonly (RequestRow | ListedCall | StoredAnswer)[]): RequestRow[] {
  const [recorded, answers] = [page.filter((row) => 'no' in row), page.filter((row) => 'place' in row)];
  const read = [...provedRows(chain, recorded), ...rowsOfStored(chain, answers)];
  const shown = new Map<unknown, RequestRow | undefined>([...recorded, ...answers].map((row, at) => [row, read[at]]));
  return page.map((row) => shown.get(row) ?? (row as RequestRow));
}

/** A page of calls that are found by reading all commits of the filter. */
function* wholePage(chain: ReadChain, filter: RequestFilter, offset: number, limit: number): Generator<undefined, RequestPage> {
  const { commits, rows } = rowsInOrder(chain, filter);
  const replies = new Set(rows.map((row) => row.replyRecord));
  const cards = cardRows(chain, commits, filter.turnId !== undefined);
  const rest = [...commits].filter((seq) => !cards.commits.has(seq));
  const rebuilt = yield* answerRows(chain, rest, (record) => replies.has(record));
  const others: readonly (RequestRow | ListedCall)[] = [...rebuilt, ...cards.rows, ...ownRows(chain, commits, sentIn(chain))];
  const all = others.length ? [...others, ...rows].sort((a, b) => timeOf(a) - timeOf(b)) : rows;
  return { total: all.length, requests: shownCalls(chain, all.slice(offset, offset + limit)) };
}

const sentIn =
  (chain: ReadChain) =>
  (requestId: string): readonly Json[] => {
    const { provider, body } = getRequest(chain, requestId);
    const messages = (body as JsonObject)[wordsOf[wireOf(provider, body as JsonObject)].list];
    return Array.isArray(messages) ? messages : [];
  };

/** The run that produced the reply in a commit; undefined if Stemma did not make its calls. @throws NOT_FOUND for an unknown commit. */
export const ownRun = (chain: ReadChain, commit: ContextId): OwnRun | undefined => ownRunOf(chain, findCommit(chain, commit), sentIn(chain));

/** The commits of a filter, and their stored calls. */
export function rowsInOrder(chain: ReadChain, filter: RequestFilter) {
  const commits = commitsOf(chain, filter);
  return { commits, rows: inOrderSent(listRows(chain, filter, commits)) };
}

/** Those of some commits for which a call was recorded. The calls of their sessions are read once for all of them. */
export const commitsWithCalls = (chain: ReadChain, commits: readonly CommitSeq[]): ReadonlySet<CommitSeq> =>
  new Set(rowsIn(chain, new Set(commits)).flatMap(({ context }) => context ?? []));

function provedRows(chain: ReadChain, rows: readonly ListedCall[]): RequestRow[] {
  const unproved = rows.filter((row) => row.proved === null);
  const findings = unproved.length ? proveAll(chain, unproved) : new Map<number, Finding>();
  return rows.map((row) => toRow(row, findings.get(row.no) ?? { proved: row.proved === 1, problem: row.finding ?? undefined }));
}

/** The commits of a filter, parents before children. */
function commitsOf(chain: ReadChain, { id, stop, turnId, sessionId }: RequestFilter): ReadonlySet<CommitSeq> {
  const named = id ?? turnId;
  if (named === undefined) {
    const where = sessionId === undefined ? 'project = :project' : '+project = :project AND sessionId = :sessionId';
    const values = { project: chain.project, ...(sessionId !== undefined && { sessionId }) };
    return new Set(chain.db.rows<[CommitSeq]>(`SELECT seq FROM commits WHERE ${where} ORDER BY seq`, values).flat());
  }
  const commit = findCommit(chain, named, id === undefined ? 'turnId' : 'id');
  if (stop === undefined) return new Set([commit.seq]);
  const steps = stop === 'root' ? lineage(chain, commit) : walk(chain, commit, stop).contributing;
  return new Set(steps.map((step) => step.seq));
}

function listRows(chain: ReadChain, { id, turnId, sessionId }: RequestFilter, commits: ReadonlySet<CommitSeq>): readonly ListedCall[] {
  if (id === undefined && turnId === undefined) return sessionId === undefined ? allRows(chain) : rowsOfSession(chain, sessionId);
  return rowsIn(chain, commits).filter((row) => sessionId === undefined || row.sessionId === sessionId);
}

function rowsIn(chain: ReadChain, commits: ReadonlySet<CommitSeq>): readonly ListedCall[] {
  const select = 'SELECT DISTINCT sessionId FROM commits WHERE seq IN (SELECT value FROM json_each(?))';
  const sessions = chain.db.rows<[string | null]>(select, JSON.stringify([...commits])).flat();
  const rows = sessions.every((session) => session !== null) ? sessions.flatMap((session) => rowsOfSession(chain, session)) : allRows(chain);
  return rows.filter((row) => row.context !== null && commits.has(row.context));
}

const allRows = (chain: ReadChain): readonly ListedCall[] => eachOnce(chain.db.all<ListedCall>(`${selectRow} WHERE r.project = ?`, chain.project));

/** Calls of a session. A captured call may have its session only from its answer. */
const rowsOfSession = (chain: ReadChain, sessionId: string): readonly ListedCall[] =>
  eachOnce([
    ...chain.db.all<ListedCall>(`${selectRow} WHERE c.project = ? AND c.sessionId = ?`, chain.project, sessionId),
    ...chain.db.all<ListedCall>(
      `${selectRow} WHERE r.context IN (SELECT seq FROM commits WHERE +project = ? AND sessionId = ?) AND c.sessionId <> ?`,
      [chain.project, sessionId, sessionId],
    ),
  ]);

/** The longest time between a runtime's record of a call and the call on the wire, in milliseconds. */
const sameMoment = 10_000;

/** Merges calls that were recorded and captured: the captured call, with the record's subagent and place of an unanswered call. */
function eachOnce(rows: readonly ListedCall[]): readonly ListedCall[] {
  const captured = rows.filter((row) => row.provider !== null);
  if (!captured.length) return rows;
  const recordOf = new Map<ListedCall, ListedCall>();
  const taken = new Set<ListedCall>();
  const isSameMoment = (row: ListedCall, { sessionId, messageCount, at }: ListedCall): boolean =>
    row.sessionId === sessionId && row.messageCount === messageCount && Math.abs(row.at - at) < sameMoment;
  const answered = new Map(rows.flatMap((row) => (row.provider === null && row.replyRecord !== null ? [[row.replyRecord, row] as const] : [])));
  const unanswered = rows.filter((row) => row.provider === null && row.replyRecord === null);
  for (const call of captured) {
    const record = call.replyRecord === null ? unanswered.find((row) => !taken.has(row) && isSameMoment(row, call)) : answered.get(call.replyRecord);
    if (!record) continue;
    recordOf.set(call, record);
    taken.add(record);
  }
  return rows
    .filter((row) => !taken.has(row))
    .map((row) => {
      const record = recordOf.get(row);
      if (!record) return row;
      const { agentId, sessionId, context, commitId } = record;
      return { ...row, agentId, sessionId, context: row.context ?? context, commitId: row.commitId ?? commitId };
    });
}

/** Sorts by time, and within one file by position, because a clock can be set back. */
function inOrderSent(rows: readonly ListedCall[]): ListedCall[] {
  const latest = new Map<number, number>();
  const times = new Map<ListedCall, number>();
  for (const row of rows.toSorted((a, b) => a.no - b.no)) {
    const at = Math.max(latest.get(row.source) ?? row.at, row.at);
    latest.set(row.source, at);
    times.set(row, at);
  }
  const timeOf = (row: ListedCall): number => times.get(row) ?? row.at;
  return rows.toSorted((a, b) => timeOf(a) - timeOf(b) || a.no - b.no);
}

function toRow(row: ListedCall, { proved, problem }: Finding): RequestRow {
  return {
    requestId: row.requestId,
    at: toTimestamp(row.at),
    commit: row.commitId,
    replyKey: row.replyKey ?? (row.replyRecord === null ? null : (`${row.replyRecord}.0` as EntryKey)),
    ...(row.agentId !== '' && { agentId: row.agentId }),
    ...(row.sessionId !== '' && { sessionId: row.sessionId }),
    source: row.provider === null || row.fromBody === 1 ? 'claude-code' : 'wire',
    model: row.model,
    messageCount: row.messageCount,
    tokens: shownCounts(row),
    proof: proofOf(proved),
    ...(problem !== undefined && { problem }),
  };
}

const proofOf = (proved: boolean): Proof => (proved ? 'digest' : 'recorded');

interface Finding {
  readonly proved: boolean;
  readonly problem: string | undefined;
}

/** Rebuilds calls and compares each with its recorded digest. Calls with a common base share the work. */
function proveAll(chain: ReadChain, rows: readonly ListedCall[]): Map<number, Finding> {
  const rebuilder = openRebuilder(chain);
  const findings = new Map<number, Finding>();
  for (const row of rows.toSorted((a, b) => a.no - b.no)) findings.set(row.no, proveOne(rebuilder, row));
  offer(chain, { kind: 'proofs', findings: [...findings].map(([no, finding]) => ({ no, ...finding })) });
  return findings;
}

/** Stores which calls were proved. Call it inside a transaction. */
export function saveProofs({ db, project }: WriteChain, { findings }: Pick<Extract<Offer, { kind: 'proofs' }>, 'findings'>): void {
  for (const { no, proved, problem } of findings)
    db.run('UPDATE request SET proved = ?, finding = ? WHERE no = ? AND project = ?', proved ? 1 : 0, problem ?? null, no, project);
}

/** Damage is reported with the call, and does not stop the list. */
function proveOne(rebuilder: Rebuilder, row: ListedCall): Finding {
  try {
    const rebuilt = rebuilder.rebuild(row);
    return findingOf(rebuilt, rebuilder.digest(row, rebuilt));
  } catch (error) {
    if (error instanceof StemmaError && contentGone.includes(error.code)) return { proved: false, problem: error.message };
    throw error;
  }
}

function findingOf(rebuilt: RebuiltCall, digest: string | undefined): Finding {
  const problem = problemWith(rebuilt, digest);
  return { proved: problem === undefined, problem };
}

function problemWith({ details, problem }: RebuiltCall, digest: string | undefined): string | undefined {
  if (problem !== undefined) return problem;
  if (details.digest === null) return details.wire?.by === undefined ? 'the record has no digest' : undigested(details);
  if (digest === details.digest) return undefined;
  return 'the digest of the rebuilt body differs from the recorded one. Messages, system prompt and tools match their hashes, so parameters, cache marks or the order of messages differ.';
}

/** The reason why a body that the agent wrote into a file is not verified. */
function undigested({ withheld }: RebuiltCall['details']): string {
  const lost = withheld.filter((path) => path.startsWith('messages[')).length;
  return lost > 0
    ? `Claude Code left out ${lost === 1 ? 'a thinking text' : `${lost} thinking texts`} that no imported transcript contains`
    : 'no transcript records a digest of this call';
}

/** What a call was sent beside its messages. Of a call without a record, no message is rebuilt for it. */
export function settingsBody(chain: ReadChain, requestId: string): Request['body'] {
  const answered = parseAnswerId(requestId);
  return (answered ? getAnswered(chain, requestId, answered, true) : getRequest(chain, requestId)).body;
}

/** The calls of a turn's commit, without the numbers of their messages. @throws NOT_FOUND for an unknown commit. */
export function callsOfCommit(chain: ReadChain, turnId: ContextId): readonly BriefCall[] {
  const { commits, rows } = rowsInOrder(chain, { turnId });
  const cards = cardRows(chain, commits, true);
  const others = [...cards.rows, ...ownRows(chain, commits, sentIn(chain))];
  if (rows.length > 0 || others.length > 0 || cards.commits.size > 0) return listRequests(chain, { turnId });
  return [...commits].flatMap((commit) => briefAnswers(chain, commit, () => false)).sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
}

/** Parts of every request of this runtime that no record holds. */
const neverRecorded = ['metadata', 'stream', 'system: x-anthropic-billing-header'];

/** The row of a stored call. @throws NOT_FOUND for an unknown id. */
export function requireCall(chain: ReadChain, requestId: string): ListedCall {
  const row = chain.db.one<ListedCall>(`${selectRow} WHERE r.project = ? AND r.requestId = ?`, chain.project, requestId);
  if (!row) throw notFound(requestId, `no recorded request has the id ${requestId}`);
  return row;
}

/** One call, rebuilt and verified again. @throws NOT_FOUND for an unknown id; CORRUPT if its own record is damaged. */
export function getRequest(chain: ReadChain, requestId: string): Request {
  const answered = parseAnswerId(requestId);
  if (answered) return getAnswered(chain, requestId, answered);
  const own = parseOwnId(requestId);
  if (own) return getOwn(chain, requestId, own, sentIn(chain));
  const ofCards = parseCardId(requestId);
  if (ofCards) return getCardCall(chain, requestId, ofCards);
  const row = requireCall(chain, requestId);
  const rebuilder = openRebuilder(chain);
  const rebuilt = rebuilder.rebuild(row);
  const digest = rebuilder.digest(row, rebuilt);
  const { proved, problem } = findingOf(rebuilt, digest);
  return {
    requestId,
    provider: row.provider ?? 'anthropic',
    body: rebuilder.body(rebuilt),
    headers: headersOf(rebuilt),
    digest: digest ?? null,
    recordedDigest: rebuilt.details.digest,
    proof: proofOf(proved),
    missing: [...rebuilt.missing, ...rebuilt.details.withheld, ...(row.provider === null ? neverRecorded : [])],
    ...(problem !== undefined && { problem }),
  };
}

/** The captured headers, or else those that this runtime sends. It records one of them as a parameter. */
function headersOf({ details, members }: RebuiltCall): Record<string, string> {
  if (details.wire) return { ...details.wire.headers };
  const betas = members.get('betas')?.value;
  return { 'anthropic-version': '2023-06-01', ...(Array.isArray(betas) && { 'anthropic-beta': betas.join(',') }) };
}
