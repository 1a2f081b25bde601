import type { ReadChain } from '../chain/index.js';
import type { AnalysisSums } from '../contract/index.js';
import { quarterMs } from '../usage/index.js';
import { agentOfTemplate } from './views.js';

const dayMs = 86_400_000;
const quartersPerDay = dayMs / quarterMs;

type Cell = string | number | null;

/**
 * The sums of all calls and tool calls by session, day, agent, model and tool. They are kept by quarter of an hour, so that nothing is added up from
 * single calls. Only the commits that name no session themselves are.
 */
export function analysisSums({ db, project }: ReadChain): AnalysisSums {
  const days = new Map<Cell | undefined, string>();
  const dayOf = (number: Cell | undefined): string => {
    const known = days.get(number) ?? new Date(Number(number) * dayMs).toISOString().slice(0, 10);
    days.set(number, known);
    return known;
  };
  const read = (sql: string): Cell[][] => db.all<Record<string, Cell>>(sql, { project }).map((row) => Object.values(row));
  const dated = (sql: string): Cell[][] => read(sql).map(([day, ...row]) => [dayOf(day), ...row]);
  return {
    sessions: read('SELECT session, title, repository, person, agent, tip, parent, branch FROM usageSession WHERE project = :project'),
    calls: dated(
      `SELECT quarter / ${quartersPerDay}, session, agent, model, SUM(calls), SUM(input), SUM(cacheRead), SUM(cacheWrite), SUM(output), SUM(cost),
              SUM(calls - priced), SUM(calls - inputs), SUM(calls - outputs), SUM(misses), SUM(lostCost), SUM(waitMs)
         FROM usageSlice WHERE project = :project GROUP BY 1, 2, 3, 4`,
    ),
    tools: dated(
      `SELECT quarter / ${quartersPerDay} AS day, session, agent, model, name, SUM(calls), SUM(results), SUM(errors), SUM(ms) FROM usageToolSlice s
        WHERE project = :project AND EXISTS (SELECT 1 FROM usageSession n WHERE n.project = s.project AND n.session = s.session) GROUP BY 1, 2, 3, 4, 5
       UNION ALL
       SELECT t.at / ${dayMs}, k.session, ${agentOfTemplate}, IFNULL(t.model, ''), t.name, COUNT(*), COUNT(t.isError), IFNULL(SUM(t.isError), 0),
              IFNULL(SUM(MAX(t.endedAt - t.at, 0)), 0)
         FROM usageCommit k JOIN context c ON c.seq = k.context JOIN usageTool t ON t.context = c.seq
        WHERE c.project = :project AND k.session IS NOT NULL AND IFNULL(c.sessionId, '') = '' GROUP BY 1, 2, 3, 4, 5`,
    ),
  };
}
