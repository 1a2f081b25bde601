import type { ReadChain } from '../chain/index.js';
import { besidePrefix } from '../formats/index.js';
import { nameIn, numberOf, numbersOf } from './names.js';

const counts = ['input', 'cacheRead', 'cacheWrite', 'output', 'cacheWrite1h', 'searches'] as const;
export type Counted = Readonly<Record<(typeof counts)[number], number>>;

/** Sums of calls of a model. Its name has no date; it is empty for calls without a model. */
type OfModel = Counted & { readonly model: string };

/** The calls before a session that its sum includes: calls with a record of their own (`listed`), and those that only a sum shows (`beside`). */
export interface Carried {
  readonly listed: readonly OfModel[];
  readonly beside: readonly OfModel[];
}

/** The sum of some rows: of a model, or of all. */
export const sumOf = (rows: readonly OfModel[], model: string): Counted => {
  const some = rows.filter((row) => model === '' || row.model === model);
  return Object.fromEntries(counts.map((name) => [name, some.reduce((sum, row) => sum + row[name], 0)])) as unknown as Counted;
};

/** Providers add a date to the name of a model, and Claude Code a mark for the long window. */
export const bare = (column: string): string => {
  const name = `replace(${column}, '[1m]', '')`;
  return `CASE WHEN ${name} GLOB '*[-@]20[0-9][0-9][0-9][0-9][0-9][0-9]' THEN substr(${name}, 1, length(${name}) - 9) ELSE ${name} END`;
};

/** Whether a call stands for what a sum counts beyond the recorded calls. */
const isRest = `u.call GLOB '${besidePrefix}total:*'`;

/** Whether the agent's own sum includes a call of its session. Copilot CLI leaves its compactions out. */
export const isSummed = `u.replayed IS NULL AND (${isRest} OR NOT (u.call GLOB '${besidePrefix}*' AND u.agent IS ${numberOf("'copilot-cli'")}))`;

/** Whether the sum includes the call, and the call has a record of its own. */
export const isListed = `${isSummed} AND NOT ${isRest}`;

/** The commits before a commit in its chain. */
const before = `
  WITH RECURSIVE up(run, depth) AS (
    SELECT run, depth FROM commits WHERE seq = :context
    UNION SELECT c.run, c.depth FROM up JOIN firstParentRun r ON r.no = up.run JOIN commits c ON c.seq = r.origin)`;

/** The other sessions among them. */
const sessionsBefore = `${before}
  SELECT DISTINCT c.sessionId FROM up JOIN commits c ON c.run = up.run AND c.depth <= up.depth WHERE c.sessionId <> :session`;

/**
 * The calls before a session in its chain. When Claude Code forks a session, it continues the sum of that session, so the fork's sum includes them.
 * @param context a commit of the session. @param isLine leaves out the calls of turns that were taken back, as Copilot CLI does in its sums.
 */
export function carriedInto({ db, project }: ReadChain, session: string, context: number, isLine: boolean): Carried | undefined {
  const others = JSON.stringify(db.column<string>(sessionsBefore, { session, context }));
  if (others === '[]') return undefined;
  const rows = db.all<OfModel & { readonly isBeside: 0 | 1 }>(
    `${before}
     SELECT IFNULL(${bare(nameIn('u.model'))}, '') AS model, ${isRest} AS isBeside, IFNULL(SUM(u.input), 0) AS input,
            IFNULL(SUM(u.cacheRead), 0) AS cacheRead, IFNULL(SUM(u.cacheWrite), 0) AS cacheWrite, IFNULL(SUM(u.output), 0) AS output,
            IFNULL(SUM(u.cacheWrite1h), 0) AS cacheWrite1h, IFNULL(SUM(json_extract(u.terms, '$.serverTools.webSearch')), 0) AS searches
       FROM usageCall u
      WHERE u.project = :project AND u.session IN ${numbersOf('SELECT value FROM json_each(:others)')} AND ${isSummed}
        AND (${isRest} OR u.at < (SELECT MIN(u.at) FROM usageCall u WHERE u.project = :project AND u.session = ${numberOf(':session')} AND ${isListed}))
        AND (:isLine = 0 OR ${isRest} OR EXISTS (
          SELECT 1 FROM commits c JOIN firstParentRun r ON r.no = c.run LEFT JOIN up ON up.run = c.run
           WHERE c.seq = u.context AND IIF(up.run IS NULL, r.origin IS NULL, c.depth <= up.depth)))
      GROUP BY 1, 2`,
    { project, session, others, context, isLine: isLine ? 1 : 0 },
  );
  return { listed: rows.filter(({ isBeside }) => !isBeside), beside: rows.filter(({ isBeside }) => isBeside) };
}
