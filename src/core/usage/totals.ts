import type { ReadChain, WriteChain } from '../chain/index.js';
import { besidePrefix, type CallCount, type CallTerms } from '../formats/index.js';
import { bare, type Carried, type Counted, carriedInto, isListed, isSummed, sumOf } from './carried.js';
import { nameIn, numberNames, numberOf, numbersOf } from './names.js';

/** A sum that an agent wrote, beside the sum of the calls that it covers, whose counts begin with `own`. */
interface Compared extends Readonly<Record<Count | `own${Capitalize<Count>}`, number>> {
  readonly session: string;
  /** Null for a sum over all models of a session that has several. */
  readonly model: string | null;
  /** The name of the model without its date; empty for a sum over all models. */
  readonly bare: string;
  readonly context: number;
  readonly key: string;
  readonly agent: string;
  readonly at: number;
  /** Cache writes for an hour, and searches, that the calls do not have. Null where the agent did not write how long its writes are kept. */
  readonly longWrites: number | null;
  readonly searches: number;
  /** Calls whose output was not recorded. */
  readonly unknown: number;
}

type Count = 'input' | 'cacheRead' | 'cacheWrite' | 'output';

/** Keeps the sum that an agent wrote of a session's calls of a model. A later record replaces an earlier one. */
export function storeTotal(
  chain: WriteChain,
  context: number,
  session: string,
  { model, input, cacheRead, cacheWrite, cacheWrite1h, output, total }: CallCount,
): void {
  const counts = [input, cacheRead, cacheWrite, output, total?.cost ?? null, cacheWrite1h, total?.webSearch ?? null];
  chain.db.run(
    `INSERT INTO usageTotal (project, session, model, context, input, cacheRead, cacheWrite, output, cost, cacheWrite1h, webSearch)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET context = excluded.context, input = excluded.input, cacheRead = excluded.cacheRead, cacheWrite = excluded.cacheWrite,
       output = excluded.output, cost = excluded.cost, cacheWrite1h = excluded.cacheWrite1h, webSearch = excluded.webSearch WHERE excluded.context >= context`,
    [chain.project, session, model ?? '', context],
    counts,
  );
}

const totalId = (session: string, model: string): string => `${besidePrefix}total:${session}:${model}`;

/** Calls up to the record of the sum, without the one that this file adds. */
const covered = `u.project = t.project AND u.session = ${numberOf('t.session')} AND ${isListed} AND u.at <= t.at`;

/** The flaw of a call that has the output of other calls too. */
const sharedOutput = 'the agent recorded the output of this call and of calls before it together';

/**
 * A sum of just these calls tells the output that was not recorded for some of them. It is added to the last one, so that the sums are right. Returns
 * whether a call was changed.
 */
function addOutput(chain: WriteChain, total: Compared): boolean {
  const { session, bare: model, output, ownOutput, at, unknown } = total;
  const isOfThese = total.input === total.ownInput && total.cacheRead === total.ownCacheRead && total.cacheWrite === total.ownCacheWrite;
  if (unknown === 0 || !isOfThese || output <= ownOutput) return false;
  const added = chain.db.run(
    `UPDATE usageCall SET output = :rest, flaw = IIF(:unknown > 1, :flaw, flaw), cost = NULL, priced = NULL WHERE no =
       (SELECT u.no FROM usageCall u, (SELECT :session AS session, :at AS at, :project AS project) t
         WHERE ${covered} AND u.output IS NULL AND (:model = '' OR ${bare(nameIn('u.model'))} = :model) ORDER BY u.subagent = ${numberOf("''")} DESC, u.at DESC, u.no DESC LIMIT 1)`,
    { rest: output - ownOutput, unknown, flaw: sharedOutput, session, at, project: chain.project, model },
  );
  return added.changes > 0;
}

/** The sums to compare with: those of each model, or where an agent wrote none of them, that over all models. */
const chosen = `t.project = :project AND t.session IN (SELECT value FROM json_each(:sessions)) AND (t.model <> '' OR NOT EXISTS
  (SELECT 1 FROM usageTotal o WHERE o.project = t.project AND o.session = t.session AND o.model <> ''))`;

/** Takes shared output back from its calls, because a later sum divides it anew. Returns the sessions of these calls. */
function divideAnew({ db }: WriteChain, named: { readonly project: number; readonly sessions: string }): Set<string> {
  const shared = `project = :project AND session IN ${numbersOf('SELECT value FROM json_each(:sessions)')} AND flaw = '${sharedOutput}'`;
  const sessions = new Set(db.column<string>(`SELECT DISTINCT ${nameIn('u.session')} FROM usageCall u WHERE ${shared}`, named));
  if (sessions.size > 0) db.run(`UPDATE usageCall SET output = NULL, flaw = NULL, cost = NULL, priced = NULL WHERE ${shared}`, named);
  return sessions;
}

const own = { input: 'ownInput', cacheRead: 'ownCacheRead', cacheWrite: 'ownCacheWrite', output: 'ownOutput' } as const;
const countNames = Object.keys(own) as readonly Count[];

/** What a sum counts beyond the session's own calls. */
const beyond = (total: Compared, count: Count): number => total[count] - total[own[count]];

/** The sums without the calls of earlier sessions, if they are large enough to include those. The sums of a session that began anew are not. */
function ofOwnCalls(chain: ReadChain, totals: readonly Compared[]): readonly (Compared & { readonly beside?: Counted })[] {
  for (const isLine of [false, true]) {
    const carried = totals[0] && carriedInto(chain, totals[0].session, totals[0].context, isLine);
    if (!carried) return totals;
    const hasAll = carried.listed.every(({ model }) => totals.some(({ bare }) => bare === '' || bare === model));
    const hasRoom = totals.every((total) => countNames.every((count) => beyond(total, count) >= sumOf(carried.listed, total.bare)[count]));
    if (hasAll && hasRoom) return totals.map((total) => withoutCarried(total, carried));
  }
  return totals;
}

function withoutCarried(total: Compared, carried: Carried): Compared & { readonly beside: Counted } {
  const [listed, beside] = [sumOf(carried.listed, total.bare), sumOf(carried.beside, total.bare)];
  return {
    ...total,
    ...(Object.fromEntries(countNames.map((count) => [count, total[count] - listed[count]])) as Record<Count, number>),
    longWrites: total.longWrites === null ? null : total.longWrites - listed.cacheWrite1h - beside.cacheWrite1h,
    searches: total.searches - listed.searches - beside.searches,
    beside,
  };
}

/**
 * Adds a call for what an agent's own sum of a model counts beyond the calls in the lines of a session, such as those of helpers. Returns the sessions
 * whose sums changed.
 */
export function settleTotals(chain: WriteChain, sessions: ReadonlySet<string>): readonly string[] {
  // Most projects and sessions have none, and the comparison is dear.
  if (!chain.db.one('SELECT 1 FROM usageTotal WHERE project = ? LIMIT 1', chain.project)) return [];
  const withTotals = 'SELECT DISTINCT session FROM usageTotal WHERE project = ? AND session IN (SELECT value FROM json_each(?))';
  const summed = chain.db.column<string>(withTotals, chain.project, JSON.stringify([...sessions]));
  if (summed.length === 0) return [];
  const named = { project: chain.project, sessions: JSON.stringify(summed) };
  const changed = divideAnew(chain, named);
  const totals = chain.db.all<Compared>(
    `WITH s AS (SELECT project, session, ${bare('model')} AS bare, MAX(model) AS model, MAX(context) AS context, SUM(input) AS input,
                       SUM(cacheRead) AS cacheRead, SUM(cacheWrite) AS cacheWrite, SUM(output) AS output,
                       SUM(cacheWrite1h) AS cacheWrite1h, SUM(webSearch) AS webSearch
                  FROM usageTotal t WHERE ${chosen} AND t.input IS NOT NULL GROUP BY project, session, ${bare('model')}),
          t AS (SELECT *, (SELECT MAX(u.at) FROM usageCall u WHERE u.project = s.project AND u.session = ${numberOf('s.session')}
                             AND u.subagent = ${numberOf("''")} AND u.context <= s.context) AS at FROM s)
     SELECT t.session, IIF(t.bare <> '', t.model, IIF(MIN(u.model) = MAX(u.model), MAX(${nameIn('u.model')}), NULL)) AS model, t.bare, t.context,
            IFNULL(t.at, 0) AS at, t.input, IFNULL(t.cacheRead, 0) AS cacheRead, IFNULL(t.cacheWrite, 0) AS cacheWrite, IFNULL(t.output, 0) AS output,
            IFNULL((SELECT u.key FROM usageCall u WHERE ${covered} ORDER BY u.at DESC LIMIT 1), '') AS key,
            IFNULL((SELECT ${nameIn('u.agent')} FROM usageCall u WHERE ${covered} LIMIT 1), '') AS agent,
            IFNULL(SUM(u.input), 0) AS ownInput, IFNULL(SUM(u.cacheRead), 0) AS ownCacheRead, IFNULL(SUM(u.cacheWrite), 0) AS ownCacheWrite,
            IFNULL(SUM(u.output), 0) AS ownOutput, t.cacheWrite1h - IFNULL(SUM(u.cacheWrite1h), 0) AS longWrites,
            IFNULL(t.webSearch - IFNULL(SUM(json_extract(u.terms, '$.serverTools.webSearch')), 0), 0) AS searches, COUNT(u.no) - COUNT(u.output) AS unknown
       FROM t LEFT JOIN usageCall u ON ${covered} AND (t.bare = '' OR ${bare(nameIn('u.model'))} = t.bare)
      GROUP BY t.session, t.bare ORDER BY IFNULL(MIN(u.at), t.at)`,
    named,
  );
  const numbered = numberNames(chain);
  // A fork begins after the session that it continues, whose rest is settled by then.
  for (const total of Map.groupBy(totals, ({ session }) => session)
    .values()
    .flatMap((some) => ofOwnCalls(chain, some))) {
    if (addOutput(chain, total)) changed.add(total.session);
    const id = totalId(total.session, total.bare);
    // The sum of an earlier import may have named the model otherwise, or none.
    const earlier = JSON.stringify([id, totalId(total.session, total.model ?? ''), totalId(total.session, '')]);
    const removal = 'DELETE FROM usageCall WHERE project = ? AND call IN (SELECT value FROM json_each(?))';
    const removed = chain.db.run(removal, chain.project, earlier).changes;
    const rest = countNames.map((count) => {
      // The output of replies that were only seen streaming is part of the agent's sum, and of no call.
      const more = count === 'output' && total.unknown > 0 ? 0 : beyond(total, count);
      return more > 0 ? Math.max(0, more - (total.beside?.[count] ?? 0)) : more;
    });
    const isMore = rest.every((count) => count >= 0) && (rest.some((count) => count > 0) || total.searches > 0) && total.key !== '';
    const longWrites = total.longWrites === null ? null : Math.min(Math.max(total.longWrites, 0), rest[2] ?? 0);
    const terms = total.searches > 0 ? JSON.stringify({ serverTools: { webSearch: total.searches } } satisfies CallTerms) : null;
    if (isMore)
      chain.db.run(
        `INSERT INTO usageCall (project, call, context, key, session, agent, subagent, model, at, prompt, input, cacheRead, cacheWrite, output,
                                cacheWrite1h, terms)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'calls that stand in no line', ?, ?, ?, ?, ?, ?)`,
        ...[
          chain.project,
          id,
          total.context,
          total.key,
          ...[total.session, total.agent, ''].map(numbered),
          numbered(total.model),
          total.at,
          ...rest,
          longWrites,
          terms,
        ],
      );
    if (isMore || removed > 0) changed.add(total.session);
  }
  return [...changed];
}

/** The tokens of a session by the agent's own sums, and by its calls. */
export interface Drift {
  readonly recorded: number;
  readonly counted: number;
  readonly unit: 'tokens' | 'USD';
}

/** The sessions, of these, whose calls do not add up to the sum that their agent wrote. */
export function driftsOf(chain: ReadChain, sessions: readonly string[]): ReadonlyMap<string, Drift> {
  const rows = chain.db.all<{
    session: string;
    context: number;
    recorded: number | null;
    counted: number;
    cost: number | null;
    ownCost: number | null;
  }>(
    `WITH t AS (SELECT session, SUM(input + IFNULL(cacheRead, 0) + IFNULL(cacheWrite, 0) + IFNULL(output, 0)) AS recorded, SUM(cost) AS cost,
                       MAX(context) AS context FROM usageTotal t WHERE ${chosen} GROUP BY session),
          a AS (SELECT t.*, (SELECT MAX(u.at) FROM usageCall u WHERE u.project = :project AND u.session = ${numberOf('t.session')} AND u.subagent = ${numberOf("''")}
                               AND u.context <= t.context) AS at FROM t)
     SELECT a.session, a.context, a.recorded, a.cost, IFNULL(SUM(u.input), 0) + IFNULL(SUM(u.cacheRead), 0) + IFNULL(SUM(u.cacheWrite), 0) + IFNULL(SUM(u.output), 0)
              AS counted, IIF(COUNT(u.no) = COUNT(u.cost), SUM(u.cost), NULL) AS ownCost
       FROM a LEFT JOIN usageCall u ON u.project = :project AND u.session = ${numberOf('a.session')} AND ${isSummed} AND u.at <= a.at GROUP BY a.session`,
    { project: chain.project, sessions: JSON.stringify(sessions) },
  );
  const drifts = new Map<string, Drift>();
  for (const { session, context, recorded, counted: own, cost, ownCost } of rows) {
    const counted = recorded === null || recorded <= own ? own : own + tokensBefore(chain, session, context, recorded - own);
    if (recorded !== null && recorded !== counted) drifts.set(session, { recorded, counted, unit: 'tokens' });
    else if (recorded === null && cost !== null && ownCost !== null && Math.abs(cost - ownCost) > cost * sameCost)
      drifts.set(session, { recorded: cost, counted: ownCost, unit: 'USD' });
  }
  return drifts;
}

/** The tokens of the calls before a session that its sum includes. `room` is what the sum has beyond the session's own calls. */
function tokensBefore(chain: ReadChain, session: string, context: number, room: number): number {
  for (const isLine of [false, true]) {
    const carried = carriedInto(chain, session, context, isLine);
    const [listed, beside] = [carried?.listed ?? [], carried?.beside ?? []].map((rows) => {
      const sums = sumOf(rows, '');
      return countNames.reduce((sum, count) => sum + sums[count], 0);
    }) as [number, number];
    if (listed <= room) return listed + Math.min(beside, room - listed);
  }
  return 0;
}

/** A cost within this share of the agent's own is the same: agents round, and prices change. */
const sameCost = 0.01;
