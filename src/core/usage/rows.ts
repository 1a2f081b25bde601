import { type ArtifactNo, type CommitSeq, type ContextId, defined, type EntryKey } from '../base/index.js';
import type { CommitRange, ReadChain } from '../chain/index.js';
import { besidePrefix, type CallTerms, type CallTokens, recordOfKey } from '../formats/index.js';
import { ownCallPrefix } from '../requests/index.js';
import { cardCallPrefix } from './card-calls.js';
import { nameIn, numberOf } from './names.js';

/** A stored call at one place in a chain. */
export interface CallRow extends CallTokens {
  readonly no: number;
  /** The agent's or provider's id of the reply; for a recorded call of a card turn, the id of its request. */
  readonly call: string;
  /** The commit at this place. A copy of the reply has the same `no` and another commit. */
  readonly context: CommitSeq;
  readonly commitId: ContextId;
  readonly key: EntryKey;
  readonly session: string;
  readonly subagent: string;
  readonly agent: string;
  readonly model: string | null;
  readonly at: number;
  readonly endedAt: number | null;
  readonly askedAt: number | null;
  readonly flaw: string | null;
  readonly prompt: string | null;
  readonly does: string | null;
  readonly cost: number | null;
  /** 1 for a call that the session repeats and did not make. */
  readonly replayed: number | null;
  /** The context window that the agent recorded. */
  readonly windowLimit: number | null;
  /** The input of the last step, for a call that the provider made in several steps; otherwise null. */
  readonly windowTokens: number | null;
  /** The call's `CallTerms` as JSON. */
  readonly terms: string | null;
}

const facts = `u.no, u.call, ${['session', 'subagent', 'agent', 'model'].map((name) => `${nameIn(`u.${name}`)} AS ${name}`).join(', ')}, u.at, u.endedAt, u.askedAt, u.input, u.cacheRead, u.cacheWrite, u.cacheWrite1h, u.output, u.reasoning, u.flaw, u.prompt, u.does, u.cost, u.replayed, u.windowLimit, u.windowTokens, u.terms`;
const columns = `u.context, u.key, (SELECT c.id FROM commits c WHERE c.seq = u.context) AS commitId, ${facts}`;

/** The places of commits' calls, and of the copies of calls in them. */
const places = `WITH wanted(seq) AS MATERIALIZED (SELECT value FROM json_each(:commits)),
          place(context, call, key) AS (
            SELECT u.context, u.no, u.key FROM wanted w JOIN usageCall u ON u.context = w.seq
            UNION ALL SELECT p.context, p.call, p.key FROM wanted w JOIN usageCopy p ON p.context = w.seq)`;

/** Whether the agent made the call outside the conversation. Such a call says nothing about the window of its commit. */
export const isBeside = ({ call }: Pick<CallRow, 'call'>): boolean => call.startsWith(besidePrefix);
const notBeside = `u.call NOT GLOB '${besidePrefix}*'`;

/** What a call's price depends on beside its tokens, as it was recorded. */
export const termsOf = ({ terms }: Pick<CallRow, 'terms'>): CallTerms => (terms === null ? {} : (JSON.parse(terms) as CallTerms));

/** The wait is unknown if the clock ran backwards, or if the agent wrote the same time for the prompt and its reply. */
export const waitOf = ({ askedAt, endedAt }: CallRow): number | null =>
  askedAt === null || endedAt === null || endedAt <= askedAt ? null : endedAt - askedAt;

/** The calls of commits, including calls outside the conversation and copies of calls, oldest first. */
export const allCallsIn = (chain: ReadChain, commits: readonly CommitSeq[]): CallRow[] =>
  chain.db.all<CallRow>(
    `${places} SELECT p.context, p.key, (SELECT c.id FROM commits c WHERE c.seq = p.context) AS commitId, ${facts}
       FROM place p CROSS JOIN usageCall u ON u.no = p.call ORDER BY u.at, p.context, u.no`,
    { commits: JSON.stringify(commits) },
  );

/** The number of calls of each commit that has some. Undefined if one of the commits has copies of calls. */
export function countsIn({ db }: ReadChain, commits: readonly CommitSeq[]): ReadonlyMap<CommitSeq, number> | undefined {
  const wanted = JSON.stringify(commits);
  if (db.one('SELECT 1 FROM usageCopy WHERE context IN (SELECT value FROM json_each(?)) LIMIT 1', wanted)) return undefined;
  const counts = 'SELECT context, COUNT(*) FROM usageCall WHERE context IN (SELECT value FROM json_each(?)) GROUP BY context';
  return new Map(db.rows<[CommitSeq, number]>(counts, wanted));
}

/** The calls of the conversation in commits, including copies of calls, oldest first. */
export const callsIn = (chain: ReadChain, commits: readonly CommitSeq[]): CallRow[] => allCallsIn(chain, commits).filter((call) => !isBeside(call));

/** The parts of ranges from one depth to another. */
export const rangesWithin = (ranges: readonly CommitRange[], first: number, last = Number.MAX_SAFE_INTEGER): CommitRange[] =>
  ranges.map(({ run, from, to }) => ({ run, from: Math.max(from, first), to: Math.min(to, last) })).filter(({ from, to }) => from <= to);

const inRange = 'c.run = :run AND c.depth BETWEEN :from AND :to';
const callsOfRange = `commits c CROSS JOIN usageCall u ON u.context = c.seq WHERE ${inRange}`;
const copiesOfRange = `commits c CROSS JOIN usageCopy p ON p.context = c.seq`;

/** The first entries of the replies to the calls of the conversation in commits, in no order. Reading whole rows takes most of the time of a long one. */
export const replyKeysIn = ({ db }: ReadChain, ranges: readonly CommitRange[]): EntryKey[] =>
  ranges.flatMap((range) => db.column<EntryKey>(selectReplyKeys, { ...range }));
const selectReplyKeys = `SELECT u.key FROM ${callsOfRange} AND ${notBeside}
   UNION ALL SELECT p.key FROM ${copiesOfRange} CROSS JOIN usageCall u ON u.no = p.call WHERE ${inRange} AND ${notBeside}`;

/** The number of calls in commits, with copies of calls. Indexes know it. */
export const callRowsIn = ({ db }: ReadChain, ranges: readonly CommitRange[]): number =>
  ranges.reduce((sum, range) => sum + (db.value<number>(countRows, { ...range }) ?? 0), 0);
const countRows = `SELECT (SELECT COUNT(*) FROM ${callsOfRange}) + (SELECT COUNT(*) FROM ${copiesOfRange} WHERE ${inRange})`;

/** The largest input of calls of a conversation, as a column of a SELECT from `usageCall u`. */
export const peakOfCalls = `MAX(IIF(${notBeside}, IFNULL(u.windowTokens, u.input + IFNULL(u.cacheRead, 0) + IFNULL(u.cacheWrite, 0)), NULL))`;

/** The whole input of the last counted call of each commit. Commits without such a call are omitted. */
export const windowsOf = (chain: ReadChain, commits: readonly CommitSeq[]): ReadonlyMap<CommitSeq, number> =>
  new Map(
    chain.db.rows<[context: CommitSeq, window: number]>(
      `${places} SELECT p.context, IFNULL(u.windowTokens, IFNULL(u.input, 0) + IFNULL(u.cacheRead, 0) + IFNULL(u.cacheWrite, 0))
         FROM place p CROSS JOIN usageCall u ON u.no = p.call WHERE COALESCE(u.input, u.cacheRead, u.cacheWrite) IS NOT NULL AND ${notBeside}
        ORDER BY u.at, p.context, u.no`,
      { commits: JSON.stringify(commits) },
    ),
  );

/** Which calls of the project to list. Times are in milliseconds since 1970. */
export interface CallScope {
  readonly sessionId?: string | undefined;
  readonly model?: string | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

const selectFrom = `SELECT ${columns} FROM usageCall u`;

/** The order of calls. The few calls of a session are sorted: the index of times would read the calls of the whole project for each session. */
const oldestFirst = (sessionId: string | undefined): string => `ORDER BY ${sessionId === undefined ? 'u.at' : '+u.at'}, u.context, u.no`;

/** A page of the calls of a session and its subagents, or of the whole project, oldest first. Each call once. SQLite reads no other rows. */
export function callPage(chain: ReadChain, scope: CallScope, offset: number, limit: number): { readonly total: number; readonly rows: CallRow[] } {
  const { sql, values } = conditionsOf(chain, scope);
  return {
    total: countCallsIn(chain, scope),
    rows: chain.db.all<CallRow>(`${selectFrom} WHERE ${sql} ${oldestFirst(scope.sessionId)} LIMIT ? OFFSET ?`, ...values, limit, offset),
  };
}

/** The number of calls. Without times, the sums of sessions know it; calls that a session only repeats are in no sum. */
function countCallsIn(chain: ReadChain, scope: CallScope): number {
  const { sql, values } = conditionsOf(chain, scope);
  if (scope.from !== undefined || scope.to !== undefined) return chain.db.value<number>(`SELECT COUNT(*) FROM usageCall u WHERE ${sql}`, values) ?? 0;
  const sums = conditionsOf(chain, scope, (value) => value).sql;
  const counts = `(SELECT TOTAL(calls) FROM usageSum u WHERE ${sums}) + (SELECT COUNT(*) FROM usageCall u INDEXED BY usageCallReplayed WHERE ${sql} AND u.replayed IS NOT NULL)`;
  return chain.db.value<number>(`SELECT ${counts}`, values, values) ?? 0;
}

/** The numbers of the calls that missed the cache, oldest first, as the ledger knows them. */
export function missesOf(chain: ReadChain, scope: CallScope, offset: number, limit: number) {
  const { sql, values } = conditionsOf(chain, scope);
  // A call without a count of its cache reads has a cause, and is not known to have missed.
  const from = `FROM usageLedger l JOIN usageCall u ON u.no = l.call WHERE l.cause IS NOT NULL AND u.cacheRead IS NOT NULL AND ${sql.replaceAll('u.', '+u.')}`;
  const numbers = chain.db.column<number>(`SELECT u.no ${from} ORDER BY u.at, u.context, u.no LIMIT ? OFFSET ?`, values, limit, offset);
  return { total: chain.db.value<number>(`SELECT COUNT(*) ${from}`, values) ?? 0, numbers };
}

/** The conditions of a scope on calls, or on sums, which hold the texts of names. */
function conditionsOf({ project }: ReadChain, { sessionId, model, from, to }: CallScope, named = numberOf) {
  const given = {
    'u.project = ?': project,
    [`u.session = ${named('?')}`]: sessionId,
    [`u.model = ${named('?')}`]: model,
    'u.at >= ?': from,
    'u.at < ?': to,
  };
  const conditions = defined<Record<string, string | number | undefined>>(given) as Record<string, string | number>;
  return { sql: Object.keys(conditions).join(' AND '), values: Object.values(conditions) };
}

/** The calls of commits, without copies of calls, oldest first. */
export const callsMadeIn = ({ db, project }: ReadChain, commits: readonly CommitSeq[]): CallRow[] =>
  db.all<CallRow>(selectMade, JSON.stringify(commits), project);
const selectMade = `${selectFrom} WHERE u.context IN (SELECT value FROM json_each(?)) AND +u.project = ? ORDER BY u.at, u.no`;

function selectCalls<Row>(chain: ReadChain, columns: string, sessionId: string | undefined): Row[] {
  const { sql, values } = conditionsOf(chain, { sessionId });
  return chain.db.all<Row>(`SELECT ${columns} FROM usageCall u WHERE ${sql} ${oldestFirst(sessionId)}`, ...values);
}

/** The calls of a session and its subagents, or of the whole project, oldest first. Each call once. */
export const readCalls = (chain: ReadChain, sessionId: string | undefined): CallRow[] => selectCalls(chain, columns, sessionId);

const cacheFacts = ['no', 'call', 'context', 'at', 'input', 'cacheRead', 'cacheWrite', 'output', 'windowTokens'] as const;
/** What says whether a call missed the cache, and in which order calls were made. */
export type CacheFacts = Pick<CallRow, (typeof cacheFacts)[number] | 'model'>;

/** The same calls as `readCalls` with these facts alone, which take a fifth of the memory. */
export const cacheFactsOf = (chain: ReadChain, sessionId: string | undefined): CacheFacts[] =>
  selectCalls(chain, `${cacheFacts.join(', ')}, ${nameIn('u.model')} AS model`, sessionId);

/** The calls with these numbers, in their order. */
export function callsNumbered(chain: ReadChain, numbers: readonly number[]): CallRow[] {
  const rows = chain.db.all<CallRow>(`${selectFrom} WHERE u.no IN (SELECT value FROM json_each(?))`, JSON.stringify(numbers));
  const byNumber = new Map(rows.map((row) => [row.no, row] as const));
  return numbers.flatMap((no) => byNumber.get(no) ?? []);
}

type Reply = Pick<CallRow, 'commitId' | 'key' | 'call'>;

export type RequestIds = ReturnType<typeof requestIds>;

/** The objects with the system prompt and the tools of a recorded request. */
export function statedIn({ db, project }: ReadChain, requestId: string | undefined): Readonly<Record<'system' | 'tools', ArtifactNo | null>> {
  const sql = 'SELECT s.system, s.tools FROM request r JOIN requestShape s ON s.no = r.shape WHERE r.project = ? AND r.requestId = ?';
  return (requestId === undefined ? undefined : db.one(sql, project, requestId)) ?? { system: null, tools: null };
}

/** Finds the ids of calls. */
export function requestIds(chain: ReadChain, rows: readonly Reply[]) {
  const recorded = new Map(
    chain.db.rows<[replyRecord: string, requestId: string]>(
      `SELECT replyRecord, requestId FROM request WHERE project = ? AND replyRecord IN (SELECT value FROM json_each(?))
        ORDER BY provider IS NOT NULL, no`,
      [chain.project, JSON.stringify([...new Set(rows.map(({ key }) => recordOfKey(key)))])],
    ),
  );
  /** The id of the recorded request, if there is one. */
  const recordedId = ({ key }: Pick<Reply, 'key'>): string | undefined => recorded.get(recordOfKey(key));
  const isRequest = ({ call }: Reply): boolean => call.startsWith(cardCallPrefix) || call.startsWith(ownCallPrefix);
  /** The id of the call for `request.get`: the id of the recorded request, else the place of the reply. */
  const idOf = (row: Reply): string => recordedId(row) ?? (isRequest(row) ? row.call : `call:${row.commitId}:${row.key}`);
  return { recordedId, idOf };
}
