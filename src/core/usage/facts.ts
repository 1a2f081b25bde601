import { onceFor } from '../base/index.js';
import type { ContextRow, ReadChain, WriteChain } from '../chain/index.js';
import type { CallCount, CallTokens } from '../formats/index.js';
import { readDerivedProgress, setDerivedProgress } from '../store/index.js';
import { nameIn, numberNames, numbersOf } from './names.js';
import type { CallRow } from './rows.js';
import { settleTotals, storeTotal } from './totals.js';

/** A stored commit with the calls whose replies it contains. */
export interface CountedCommit {
  readonly row: Pick<ContextRow, 'seq' | 'id' | 'sessionId' | 'template' | 'createdAt'>;
  readonly calls: readonly CallCount[];
}

/** Finds what a call costs, and whether one of its counts or dates cannot be right. */
export type Pricer = (call: Pick<CallRow, keyof CallTokens | 'model' | 'at' | 'terms' | 'windowTokens' | 'flaw'>) => Pick<CallRow, 'cost' | 'flaw'>;

/** The columns that a call is stored with. The first ones name its session and agent. */
const owned = ['project', 'session', 'agent', 'subagent'];
const columns = [
  ...owned,
  ...'call, context, key, model, at, endedAt, askedAt, input, cacheRead, cacheWrite, cacheWrite1h, output, reasoning, flaw, prompt, does'.split(', '),
  ...'replayed, windowLimit, windowTokens, terms, cost, priced'.split(', '),
];

const counted = ['input', 'cacheRead', 'cacheWrite', 'cacheWrite1h', 'output', 'reasoning'];
/** Keeps the larger of two counts of one call, because the smaller count was written earlier. So the order of imports does not matter. */
const joined: Readonly<Record<string, string>> = {
  ...Object.fromEntries(counted.map((name) => [name, `COALESCE(max(${name}, excluded.${name}), ${name}, excluded.${name})`])),
  model: 'COALESCE(model, excluded.model)',
  terms: 'COALESCE(excluded.terms, terms)',
  windowTokens: 'COALESCE(windowTokens, excluded.windowTokens)',
};
/** Whether a copy says something else about what the price depends on. */
const hasChanged = Object.entries(joined)
  .map(([name, value]) => `${name} IS NOT ${value}`)
  .join(' OR ');
const contradiction = ['input', 'cacheRead', 'cacheWrite'].map((name) => `${name} <> excluded.${name}`).join(' OR ');

/** The most calls per INSERT, a power of two. A call for itself costs more, and each number of calls is a statement of its own to prepare. */
const callsPerInsert = 32;
const rowOfColumns = `(${columns.map(() => '?').join(', ')})`;
const insertCalls = (calls: number, otherwise = ''): string => /* sql */ `
INSERT ${otherwise} INTO usageCall (${columns.join(', ')}) VALUES ${Array(calls).fill(rowOfColumns).join(', ')}`;
/** Calls that are known, or that a column refuses, are left out: SQLite keeps a copy of each page that a statement changes which may fail. */
const insertSome = onceFor((calls: number) => insertCalls(calls, 'OR IGNORE'));
const joinOne = /* sql */ `${insertCalls(1)}
ON CONFLICT (project, call) DO UPDATE SET ${Object.entries(joined)
  .map(([name, value]) => `${name} = ${value}`)
  .join(', ')},
  flaw = CASE WHEN ${contradiction} THEN 'files record different counts of this call' ELSE COALESCE(flaw, excluded.flaw) END,
  cost = CASE WHEN ${hasChanged} THEN NULL ELSE cost END, priced = CASE WHEN ${hasChanged} THEN NULL ELSE priced END,
  prompt = COALESCE(prompt, excluded.prompt), does = COALESCE(does, excluded.does), windowLimit = COALESCE(windowLimit, excluded.windowLimit)
RETURNING no, context, ${nameIn('usageCall.session')} AS session, replayed, key, priced`;
/** A call belongs to the session that made it, even if a session that repeats it was stored first. */
const takeOver = /* sql */ `UPDATE usageCall SET session = ?, agent = ?, subagent = ?, context = ?, key = ?, at = ?, replayed = NULL, cost = NULL, priced = NULL WHERE no = ?`;

/** The program that wrote a commit, and the kind of its subagent, by the commit's template. */
export function parseTemplate(template: string): { readonly agent: string; readonly subagent: string } {
  const slash = template.indexOf('/');
  return slash < 0 ? { agent: template, subagent: '' } : { agent: template.slice(0, slash), subagent: template.slice(slash + 1) || 'agent' };
}

/** Calls of one session and agent to store. */
interface Batch {
  readonly calls: { readonly call: CallCount; readonly sum: Sum; readonly cost: number | null }[];
  /** The values of `columns`, call after call. */
  readonly values: (string | number | null)[];
}

/** Stores the calls of commits. Call it inside a transaction. A known call is not counted again. Without `price`, they are priced later. */
export function recordCalls(chain: WriteChain, commits: Iterable<CountedCommit>, price?: Pricer): void {
  const added = new Map<string, Sum>();
  const stale = new Set<string>();
  /** The sessions with an agent's own sum, which may come after all calls that it covers. */
  const summed = new Set<string>();
  let batch: Batch = { calls: [], values: [] };
  const numbered = numberNames(chain);
  const flush = (): void => {
    insert(chain, batch, stale);
    batch = { calls: [], values: [] };
  };
  let sum: Sum | undefined;
  for (const { row, calls } of commits) {
    const { agent, subagent } = parseTemplate(row.template);
    const session = row.sessionId ?? '';
    if (sum && (sum.session !== session || sum.agent !== agent || sum.subagent !== subagent)) {
      // One known call makes all sessions of its statement be summed anew, which may change the last digits of their costs.
      flush();
      sum = undefined;
    }
    for (const call of calls) {
      if (call.total) {
        storeTotal(chain, row.seq, session, call);
        summed.add(session);
        continue;
      }
      const at = parseTime(call.at) ?? row.createdAt;
      const endedAt = call.endedAt === call.at && call.at !== undefined ? at : parseTime(call.endedAt);
      const model = call.model ?? '';
      const quarter = Math.trunc(at / quarterMs);
      if (sum?.model !== model || sum.quarter !== quarter) sum = sumAt(added, { session, agent, subagent, model, quarter });
      batch.values.push(chain.project, numbered(session), numbered(agent), numbered(subagent));
      batch.values.push(call.id, row.seq, call.key, numbered(call.model), at, endedAt, parseTime(call.askedAt));
      batch.calls.push({ call, sum, cost: pushFacts(batch.values, call, at, price) });
      if (batch.calls.length === callsPerInsert) flush();
    }
  }
  flush();
  const sessions = [...summed, ...[...added.values()].map(({ session }) => session)];
  for (const session of settleTotals(chain, new Set(sessions))) stale.add(session);
  if (stale.size > 0) sumSessions(chain, [...stale]);
  for (const each of added.values()) if (each.calls !== 0 && !stale.has(each.session)) storeSum(chain, each);
}

/** Adds the rest of a call's values. Returns its cost, if it is known. */
function pushFacts(values: (string | number | null)[], call: CallCount, at: number, price: Pricer | undefined): number | null {
  const { model, input, cacheRead, cacheWrite, cacheWrite1h, output, reasoning, prompt = null, does = null, limit = null } = call;
  const { flaw: found = null, window: windowTokens = null } = call;
  const terms = call.terms ? JSON.stringify(call.terms) : null;
  const priced = price?.({ model, at, input, cacheRead, cacheWrite, cacheWrite1h, output, reasoning, terms, windowTokens, flaw: found });
  const { cost = null, flaw = found } = priced ?? {};
  values.push(input, cacheRead, cacheWrite, cacheWrite1h, output, reasoning, flaw, prompt, does);
  values.push(call.replayed ? 1 : null, limit, windowTokens, terms, cost, priced ? 1 : null);
  return cost;
}

/**
 * Stores calls. New calls add to the sums. Otherwise, a call may be a copy of a call in an earlier commit: the copy is recorded, and the sums of its
 * session become stale.
 */
function insert(chain: WriteChain, { calls, values }: Batch, stale: Set<string>): void {
  let size = callsPerInsert;
  for (let from = 0; from < calls.length; from += size) {
    while (size > calls.length - from) size /= 2;
    const some = calls.slice(from, from + size);
    const given = values.slice(from * columns.length, (from + size) * columns.length);
    if (chain.db.run(insertSome(size), given).changes < size)
      for (const [at, { call, sum }] of some.entries()) join(chain, call, sum, given.slice(at * columns.length, (at + 1) * columns.length), stale);
    else for (const { call, sum, cost } of some) if (!call.replayed) addCall(sum, call, cost);
  }
}

/** Stores a call that may be known. */
function join(chain: WriteChain, call: CallCount, { session }: Sum, values: Batch['values'], stale: Set<string>): void {
  stale.add(session);
  const [, ...owner] = values.slice(0, owned.length);
  const [, context = null, key = null, , when = null] = values.slice(owned.length);
  const row = chain.db.one<Stored>(joinOne, values);
  if (row && row.priced === null) stale.add(row.session);
  if (!row || row.context === context) return;
  const isOwner = row.replayed !== null && !call.replayed;
  if (isOwner) {
    stale.add(row.session);
    chain.db.run(takeOver, owner, [context, key, when, row.no]);
  }
  const copy = isOwner ? [row.context, row.no, row.key] : [context, row.no, call.key];
  chain.db.run('INSERT OR IGNORE INTO usageCopy (context, call, key) VALUES (?, ?, ?)', ...copy);
}

/** A call that is stored already. */
type Stored = Pick<CallRow, 'no' | 'context' | 'session' | 'replayed' | 'key'> & { readonly priced: number | null };

const parseTime = (at: string | undefined): number | null => (at === undefined ? null : Date.parse(at));

/** A quarter of an hour in milliseconds: time zones differ by multiples of it. */
export const quarterMs = 900_000;
export const dayMs = 86_400_000;

/** The columns of a sum that follow its key columns. After the tokens: the number of calls for which each is known, of calls with a price, and the cost. */
export const sums = [
  'calls',
  'input',
  'cacheRead',
  'cacheWrite',
  'output',
  'inputs',
  'cacheReads',
  'cacheWrites',
  'outputs',
  'priced',
  'cost',
] as const;

/** The sums of calls, by these names. */
export type CallSums = Record<(typeof sums)[number], number>;

/** The key of a sum: it adds up the calls of a session in one quarter of an hour. */
export interface Summed {
  readonly session: string;
  readonly agent: string;
  readonly subagent: string;
  /** Empty if the model is unknown. */
  readonly model: string;
  readonly quarter: number;
}

/** What an import adds to a sum. */
type Sum = Summed & CallSums;

function sumAt(added: Map<string, Sum>, summed: Summed): Sum {
  const name = Object.values(summed).join('\n');
  const sum = added.get(name) ?? { ...summed, ...zeroSums() };
  added.set(name, sum);
  return sum;
}

/** The sums of no calls. */
export const zeroSums = (): CallSums => Object.fromEntries(sums.map((name) => [name, 0])) as CallSums;

/** Each count of a call, with the number of calls for which it is known. */
const counters = [
  ['input', 'inputs'],
  ['cacheRead', 'cacheReads'],
  ['cacheWrite', 'cacheWrites'],
  ['output', 'outputs'],
] as const;

/** Adds a call to sums. */
export function addCall(to: CallSums, call: Pick<CallTokens, (typeof counters)[number][0]>, cost: number | null): void {
  to.calls += 1;
  if (cost !== null) {
    to.cost += cost;
    to.priced += 1;
  }
  for (const [name, known] of counters) {
    const count = call[name];
    if (count === null) continue;
    to[name] += count;
    to[known] += 1;
  }
}

const modelKey = 'project, session, agent, subagent, model';
const addSums = (table: string, names: string, keys: string, edges = ''): string => /* sql */ `
INSERT INTO ${table} (${names}, ${sums.join(', ')}) VALUES (${`${names}, ${sums.join(', ')}`.replaceAll(/\w+/g, '?')})
ON CONFLICT (${keys}) DO UPDATE SET ${edges}${sums.map((name) => `${name} = ${name} + excluded.${name}`).join(', ')}`;
const addToQuarter = addSums('usageQuarter', `${modelKey}, quarter`, `${modelKey}, quarter`);
const addToSession = addSums(
  'usageSum',
  `${modelKey}, first, quarter`,
  modelKey,
  'first = min(first, excluded.first), quarter = max(quarter, excluded.quarter), ',
);

function storeSum({ db, project }: WriteChain, sum: Sum): void {
  const { session, agent, subagent, model, quarter } = sum;
  const keys = [project, session, agent, subagent, model];
  const counts = sums.map((name) => sum[name]);
  db.run(addToQuarter, keys, quarter, counts);
  db.run(addToSession, keys, quarter, quarter, counts);
}

/** The sums of calls, as columns of a SELECT from `usageCall`. */
export const sumsOfCalls =
  'COUNT(*) AS calls, IFNULL(SUM(input), 0) AS input, IFNULL(SUM(cacheRead), 0) AS cacheRead, IFNULL(SUM(cacheWrite), 0) AS cacheWrite, ' +
  'IFNULL(SUM(output), 0) AS output, COUNT(input) AS inputs, COUNT(cacheRead) AS cacheReads, COUNT(cacheWrite) AS cacheWrites, ' +
  'COUNT(output) AS outputs, COUNT(cost) AS priced, IFNULL(SUM(cost), 0) AS cost';

/** The sums of sums, as columns of a SELECT from `usageSum` or `usageQuarter`. */
export const sumsOfSums = (table: string): string => sums.map((name) => `SUM(${table}.${name}) AS ${name}`).join(', ');

/** The calls that sums count: those that the session made itself. */
export const isCounted = 'replayed IS NULL';

/** Sessions in batches, each of which has at least so many calls. The last one may have fewer. */
export function* batchesOf<Session extends { readonly calls: number }>(sessions: Iterable<Session>, most: number): Generator<Session[]> {
  let batch: Session[] = [];
  let calls = 0;
  for (const session of sessions) {
    batch.push(session);
    calls += session.calls;
    if (calls < most) continue;
    yield batch;
    [batch, calls] = [[], 0];
  }
  if (batch.length > 0) yield batch;
}

/** The row of `derivedProgress` that counts changes of stored calls. */
const changesName = 'changed calls';

/** Grows when stored calls change or go, but not when calls are added. */
export const changedCalls = (chain: ReadChain): number => readDerivedProgress(chain, changesName);

/** Notes that stored calls have changed, or are gone. */
export const noteChangedCalls = (chain: WriteChain): void => setDerivedProgress(chain, changesName, changedCalls(chain) + 1);

const namedSessions = 'SELECT value FROM json_each(:sessions)';

/**
 * Computes the sums of sessions again. Only sessions with new calls are passed, because a copy of a call in another session may have changed nothing.
 */
export function sumSessions(chain: WriteChain, sessions: readonly string[]): void {
  noteChangedCalls(chain);
  const named = { project: chain.project, sessions: JSON.stringify(sessions) };
  for (const table of ['usageQuarter', 'usageSum'])
    chain.db.run(`DELETE FROM ${table} WHERE project = :project AND session IN (${namedSessions})`, named);
  chain.db.run(
    `INSERT INTO usageQuarter (${modelKey}, quarter, ${sums.join(', ')})
     SELECT project, ${nameIn('u.session')}, ${nameIn('u.agent')}, ${nameIn('u.subagent')}, IFNULL(${nameIn('u.model')}, ''), at / ${quarterMs}, ${sumsOfCalls}
       FROM usageCall u WHERE project = :project AND session IN ${numbersOf(namedSessions)} AND ${isCounted} GROUP BY 1, 2, 3, 4, 5, 6`,
    named,
  );
  chain.db.run(
    `INSERT INTO usageSum (${modelKey}, first, quarter, ${sums.join(', ')})
     SELECT ${modelKey}, MIN(quarter), MAX(quarter), ${sumsOfSums('q')} FROM usageQuarter q WHERE project = :project AND session IN (${namedSessions}) GROUP BY 1, 2, 3, 4, 5`,
    named,
  );
}
