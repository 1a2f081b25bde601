import type { ReadChain } from '../chain/index.js';
import type { AnalysisSums } from '../contract/index.js';
import { dayMs } from '../usage/index.js';
import { agentOfTemplate } from './views.js';

/**
 * The sums of all calls and tool calls by session, day, agent, model and tool. They are kept, so that nothing is added up from single calls. Only the
 * tool calls of commits that name no session themselves are.
 */
export function analysisSums({ db, project }: ReadChain): AnalysisSums {
  const names: string[] = [];
  const numbers = new Map<string | number, number>();
  const numberOf = (name: string | number, text = (): string => String(name)): number => {
    const known = numbers.get(name);
    if (known !== undefined) return known;
    numbers.set(name, names.length);
    return names.push(text()) - 1;
  };
  const dayOf = (day: number): number => numberOf(day, () => new Date(day * dayMs).toISOString().slice(0, 10));
  const sessions = db.rows<(string | null)[]>(
    'SELECT session, title, repository, person, agent, tip, parent, branch FROM usageSession WHERE project = :project',
    { project },
  );
  const shown = new Set(sessions.map(([session]) => session));
  const calls = db.rows<[string, number, string, string, ...number[]]>(
    `SELECT session, day, agent, model, SUM(calls), SUM(input), SUM(cacheRead), SUM(cacheWrite), SUM(output), SUM(cost), SUM(calls - priced),
            SUM(calls - inputs), SUM(calls - outputs), SUM(misses), SUM(lostCost), SUM(waitMs)
       FROM usageSlice WHERE project = :project GROUP BY session, day, agent, model`,
    { project },
  );
  const tools = db.rows<[string, number, string, string, string, ...number[]]>(
    `SELECT session, day, agent, model, name, calls, results, errors, ms FROM usageToolSlice WHERE project = :project
     UNION ALL
     SELECT k.session, t.at / ${dayMs}, ${agentOfTemplate}, IFNULL(t.model, ''), t.name, COUNT(*), COUNT(t.isError), IFNULL(SUM(t.isError), 0),
            IFNULL(SUM(MAX(t.endedAt - t.at, 0)), 0)
       FROM usageCommit k JOIN context c ON c.seq = k.context JOIN usageTool t ON t.context = c.seq
      WHERE c.project = :project AND k.session IS NOT NULL AND IFNULL(c.sessionId, '') = '' GROUP BY 1, 2, 3, 4, 5`,
    { project },
  );
  return {
    names,
    sessions,
    calls: calls.map(([session, day, agent, model, ...sums]) => [dayOf(day), ...[session, agent, model].map((name) => numberOf(name)), ...sums]),
    tools: tools
      .filter(([session]) => shown.has(session))
      .map(([session, day, agent, model, tool, ...sums]) => [dayOf(day), ...[session, agent, model, tool].map((name) => numberOf(name)), ...sums]),
  };
}
