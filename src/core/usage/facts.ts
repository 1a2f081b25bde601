import type { Chain, ContextRow } from '../chain/index.js';
import type { CallCount } from '../formats/index.js';

/** A stored commit with the calls whose replies it contains. */
export interface CountedCommit {
  readonly row: Pick<ContextRow, 'seq' | 'id' | 'sessionId' | 'template' | 'createdAt'>;
  readonly calls: readonly CallCount[];
}

const columns =
  'call, context, key, session, subagent, agent, model, at, endedAt, askedAt, input, cacheRead, cacheWrite, cacheWrite1h, output, reasoning, flaw, prompt, does';

const counted = ['input', 'cacheRead', 'cacheWrite', 'cacheWrite1h', 'output', 'reasoning'];
/** Of two counts of one call, the larger: a shorter one was written earlier. So the order of imports makes no difference. */
const larger = counted.map((name) => `${name} = COALESCE(max(${name}, excluded.${name}), ${name}, excluded.${name})`).join(', ');
const contradiction = ['input', 'cacheRead', 'cacheWrite'].map((name) => `${name} <> excluded.${name}`).join(' OR ');

/** Calls per INSERT. SQLite prepares a savepoint for each statement, so few large statements are cheaper. */
const callsPerInsert = 32;
const insertCalls = (calls: number): string => /* sql */ `
INSERT INTO usageCall (project, ${columns})
VALUES ${Array(calls)
  .fill(`(?, ${columns.replaceAll(/\w+/g, '?')})`)
  .join(', ')}
ON CONFLICT (project, call) DO`;
const insertNewCalls = (calls: number): string => `${insertCalls(calls)} NOTHING`;
const insertOne = insertNewCalls(1);
const insertMany = insertNewCalls(callsPerInsert);
const joinOne = /* sql */ `${insertCalls(1)} UPDATE SET ${larger},
  flaw = CASE WHEN ${contradiction} THEN 'files record different counts of this call' ELSE COALESCE(flaw, excluded.flaw) END,
  cost = NULL, priced = NULL,
  prompt = COALESCE(prompt, excluded.prompt), does = COALESCE(does, excluded.does)
RETURNING no, context`;

/** The program that wrote a commit, and the kind of its subagent, by the commit's template. */
export function agentOf(template: string): { readonly agent: string; readonly subagent: string } {
  const slash = template.indexOf('/');
  return slash < 0 ? { agent: template, subagent: '' } : { agent: template.slice(0, slash), subagent: template.slice(slash + 1) || 'agent' };
}

/** A call as it is stored, and the commit that contains its reply. */
interface Placed {
  readonly context: number;
  readonly call: CallCount;
  readonly sum: Sum;
  readonly facts: readonly (string | number | null)[];
}

/** Stores the calls of commits. Call it inside a transaction. A known call is not counted again. */
export function recordCalls(chain: Chain, commits: Iterable<CountedCommit>): void {
  const added = new Map<string, Sum>();
  const stale = new Set<string>();
  let batch: Placed[] = [];
  for (const { row, calls } of commits) {
    const { agent, subagent } = agentOf(row.template);
    const session = row.sessionId ?? '';
    for (const call of calls) {
      const { id, key, model, input, cacheRead, cacheWrite, cacheWrite1h, output, reasoning, flaw = null, prompt = null, does = null } = call;
      const at = timeOf(call.at) ?? row.createdAt;
      const times = [at, timeOf(call.endedAt), timeOf(call.askedAt)];
      const counts = [input, cacheRead, cacheWrite, cacheWrite1h, output, reasoning];
      const facts = [chain.project, id, row.seq, key, session, subagent, agent, model, ...times, ...counts, flaw, prompt, does];
      const sum = sumAt(added, session, [chain.project, session, agent, subagent, model ?? ''], Math.trunc(at / quarterMs));
      batch.push({ context: row.seq, call, sum, facts });
      if (batch.length < callsPerInsert) continue;
      insert(chain, insertMany, batch, stale);
      batch = [];
    }
  }
  for (const each of batch) insert(chain, insertOne, [each], stale);
  if (stale.size > 0) sumSessions(chain, [...stale]);
  for (const sum of added.values()) if (sum.counts[0] !== 0 && !stale.has(sum.session)) storeSum(chain, sum);
}

/**
 * Stores calls. A batch that is new adds to the sums. Otherwise a commit may have a copy of a call that an earlier commit has: this is noted,
 * and the sums of its session are stale.
 */
function insert(chain: Chain, sql: string, batch: readonly Placed[], stale: Set<string>): void {
  if (chain.db.run(sql, ...batch.flatMap(({ facts }) => facts)).changes === batch.length) {
    for (const { sum, call } of batch) addCall(sum, call);
    return;
  }
  for (const { context, call, sum, facts } of batch) {
    stale.add(sum.session);
    const row = chain.db.one<{ no: number; context: number }>(joinOne, ...facts);
    if (row && row.context !== context)
      chain.db.run('INSERT OR IGNORE INTO usageCopy (context, call, key) VALUES (?, ?, ?)', context, row.no, call.key);
  }
}

const timeOf = (at: string | undefined): number | null => (at === undefined ? null : Date.parse(at));

/** A quarter of an hour in milliseconds: time zones differ by multiples of it. */
export const quarterMs = 900_000;

/** The columns of a sum, after those that name what is summed. */
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

/** The calls of a session in one quarter of an hour that an import adds. The counts are in the order of `sums`. */
interface Sum {
  readonly session: string;
  readonly keys: readonly (string | number)[];
  readonly quarter: number;
  readonly counts: number[];
}

function sumAt(added: Map<string, Sum>, session: string, keys: Sum['keys'], quarter: number): Sum {
  const name = `${keys.join('\n')}\n${quarter}`;
  const known = added.get(name);
  if (known) return known;
  const sum = { session, keys, quarter, counts: Array<number>(sums.length).fill(0) };
  added.set(name, sum);
  return sum;
}

/** Adds a call, which has no price yet. */
function addCall({ counts }: Sum, { input, cacheRead, cacheWrite, output }: CallCount): void {
  const add = (at: number, count: number): void => {
    counts[at] = (counts[at] ?? 0) + count;
  };
  add(0, 1);
  for (const [at, tokens] of [input, cacheRead, cacheWrite, output].entries()) {
    if (tokens === null) continue;
    add(1 + at, tokens);
    add(5 + at, 1);
  }
}

const addSums = (table: string, names: string, keys: string, edges = ''): string => /* sql */ `
INSERT INTO ${table} (${names}, ${sums.join(', ')}) VALUES (${`${names}, ${sums.join(', ')}`.replaceAll(/\w+/g, '?')})
ON CONFLICT (${keys}) DO UPDATE SET ${edges}${sums.map((name) => `${name} = ${name} + excluded.${name}`).join(', ')}`;
const addToQuarter = addSums(
  'usageQuarter',
  'project, session, agent, subagent, model, quarter',
  'project, quarter, session, agent, subagent, model',
);
const addToSession = addSums(
  'usageSum',
  'project, session, agent, subagent, model, first, quarter',
  'project, session, agent, subagent, model',
  'first = min(first, excluded.first), quarter = max(quarter, excluded.quarter), ',
);

function storeSum({ db }: Chain, { keys, quarter, counts }: Sum): void {
  db.run(addToQuarter, ...keys, quarter, ...counts);
  db.run(addToSession, ...keys, quarter, quarter, ...counts);
}

/** The sums of calls, as columns of a SELECT from `usageCall`. */
export const sumsOfCalls =
  'COUNT(*) AS calls, IFNULL(SUM(input), 0) AS input, IFNULL(SUM(cacheRead), 0) AS cacheRead, IFNULL(SUM(cacheWrite), 0) AS cacheWrite, ' +
  'IFNULL(SUM(output), 0) AS output, COUNT(input) AS inputs, COUNT(cacheRead) AS cacheReads, COUNT(cacheWrite) AS cacheWrites, ' +
  'COUNT(output) AS outputs, COUNT(cost) AS priced, IFNULL(SUM(cost), 0) AS cost';

/** The sums of sums, as columns of a SELECT from `usageSum` or `usageQuarter`. */
export const sumsOfSums = (table: string): string => sums.map((name) => `SUM(${table}.${name}) AS ${name}`).join(', ');

const ofSessions = 'project = :project AND session IN (SELECT value FROM json_each(:sessions))';

/** Computes the sums of sessions anew. A copy of a call in another session may have moved nothing, so only sessions with new calls are given. */
export function sumSessions(chain: Chain, sessions: readonly string[]): void {
  const named = { project: chain.project, sessions: JSON.stringify(sessions) };
  for (const table of ['usageQuarter', 'usageSum']) chain.db.run(`DELETE FROM ${table} WHERE ${ofSessions}`, named);
  chain.db.run(
    `INSERT INTO usageQuarter (project, session, agent, subagent, model, quarter, ${sums.join(', ')})
     SELECT project, session, agent, subagent, IFNULL(model, ''), at / ${quarterMs}, ${sumsOfCalls}
       FROM usageCall WHERE ${ofSessions} GROUP BY 1, 2, 3, 4, 5, 6`,
    named,
  );
  chain.db.run(
    `INSERT INTO usageSum (project, session, agent, subagent, model, first, quarter, ${sums.join(', ')})
     SELECT project, session, agent, subagent, model, MIN(quarter), MAX(quarter), ${sumsOfSums('q')} FROM usageQuarter q WHERE ${ofSessions} GROUP BY 1, 2, 3, 4, 5`,
    named,
  );
}
