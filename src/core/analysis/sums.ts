import type { ReadChain, WriteChain } from '../chain/index.js';
import { dayMs } from '../usage/index.js';
import { agentOfTemplate } from './views.js';

/** The sums of all calls and tool calls by session, day, agent, model and tool: an `AnalysisSums` as JSON, stored or written now. */
export const packedSums = (chain: ReadChain): string => storedSums(chain) ?? writtenSums(chain);

const storedSums = ({ db, project }: ReadChain): string | undefined =>
  db.one<{ data: string }>('SELECT data FROM usagePacked WHERE project = ?', project)?.data;

/** Whether the text of the sums is not stored. */
export const sumsAreDue = ({ db, project }: ReadChain): boolean => db.one('SELECT 1 FROM usagePacked WHERE project = ?', project) === undefined;

/** Stores the text of the sums, if one of them has changed. */
export function storeSums(chain: WriteChain): void {
  if (!sumsAreDue(chain)) return;
  chain.db.transaction(() => chain.db.run('INSERT INTO usagePacked (project, data) VALUES (?, ?)', chain.project, writtenSums(chain)));
}

/**
 * The sums are kept, so that nothing is added up from single calls. Only the tool calls of commits that name no session themselves are. The text is
 * written row by row, because a large project has many.
 */
function writtenSums({ db, project }: ReadChain): string {
  const names: string[] = [];
  const numbers = new Map<string, number>();
  const numberOf = (name: string): number => {
    const known = numbers.get(name);
    if (known !== undefined) return known;
    numbers.set(name, names.length);
    return names.push(name) - 1;
  };
  const days = new Map<number, number>();
  const numberOfDay = (day: number): number => {
    const known = days.get(day) ?? numberOf(new Date(day * dayMs).toISOString().slice(0, 10));
    days.set(day, known);
    return known;
  };
  /** Rows whose first column is a day, and the next ones are names. */
  const packed = (rows: readonly SumRow[], named: number): string => {
    const texts = rows.map((row) => {
      let text = `[${numberOfDay(row[0])}`;
      for (let at = 1; at < row.length; at++) text += at < named ? `,${numberOf(row[at] as string)}` : `,${row[at]}`;
      return `${text}]`;
    });
    return `[${texts.join(',')}]`;
  };
  const sessions = db.rows<(string | null)[]>(
    'SELECT session, title, repository, person, agent, tip, parent, branch FROM usageSession WHERE project = :project',
    { project },
  );
  const shown = new Set(sessions.map(([session]) => session));
  const calls = db.rows<SumRow>(
    `SELECT day, session, agent, model, SUM(calls), SUM(input), SUM(cacheRead), SUM(cacheWrite), SUM(output), SUM(cost), SUM(calls - priced),
            SUM(calls - inputs), SUM(calls - outputs), SUM(misses), SUM(lostCost), SUM(waitMs)
       FROM usageSlice WHERE project = :project GROUP BY session, day, agent, model`,
    { project },
  );
  const tools = db.rows<SumRow>(
    `SELECT day, session, agent, model, name, calls, results, errors, ms FROM usageToolSlice WHERE project = :project
     UNION ALL
     SELECT t.at / ${dayMs}, k.session, ${agentOfTemplate}, IFNULL(t.model, ''), t.name, COUNT(*), COUNT(t.isError), IFNULL(SUM(t.isError), 0),
            IFNULL(SUM(MAX(t.endedAt - t.at, 0)), 0)
       FROM usageCommit k JOIN context c ON c.seq = k.context JOIN usageTool t ON t.context = c.seq
      WHERE c.project = :project AND k.session IS NOT NULL AND IFNULL(c.sessionId, '') = '' GROUP BY 1, 2, 3, 4, 5`,
    { project },
  );
  const ofShown = tools.filter((row) => shown.has(row[1]));
  const [callsText, toolsText] = [packed(calls, 4), packed(ofShown, 5)];
  return `{"names":${JSON.stringify(names)},"sessions":${JSON.stringify(sessions)},"calls":${callsText},"tools":${toolsText}}`;
}

type SumRow = readonly [day: number, session: string, ...rest: (string | number)[]];
