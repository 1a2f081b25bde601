import type { ReadChain, WriteChain } from '../chain/index.js';
import { derivedProgressOf, setDerivedProgress } from '../store/index.js';
import { dayMs } from '../usage/index.js';
import { agentOfTemplate, callsOfCommit, isShown, isTurnOfProject, sessionOfCommit } from './views.js';

/** The sums of all calls and tool calls by session, day, agent, model and tool: an `AnalysisSums` as JSON, stored or written now. */
export const packedSums = (chain: ReadChain): string => storedSums(chain) ?? writtenSums(chain);

/** Increase this number when the text changes its form, so that a stored one is written again. */
const packedVersion = 2;
const progress = 'usage packed';

const isStored = (chain: ReadChain): boolean => derivedProgressOf(chain, progress) === packedVersion;

const storedSums = (chain: ReadChain): string | undefined =>
  isStored(chain) ? chain.db.one<{ data: string }>('SELECT data FROM usagePacked WHERE project = ?', chain.project)?.data : undefined;

/** Whether the text of the sums is not stored. */
export const sumsAreDue = (chain: ReadChain): boolean =>
  !isStored(chain) || chain.db.one('SELECT 1 FROM usagePacked WHERE project = ?', chain.project) === undefined;

/** Stores the text of the sums, if one of them has changed. */
export function storeSums(chain: WriteChain): void {
  if (!sumsAreDue(chain)) return;
  chain.db.transaction(() => {
    chain.db.run('INSERT OR REPLACE INTO usagePacked (project, data) VALUES (?, ?)', chain.project, writtenSums(chain));
    setDerivedProgress(chain, progress, packedVersion);
  });
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
  /** Numbers for the day and the names with which a row begins. */
  const placeOf = ([day, ...named]: readonly [number, ...string[]]): string => [numberOfDay(day), ...named.map(numberOf)].join(',');
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
  const rows: string[] = [];
  const rowOf = new Map<string, number>();
  const addRow = (place: string, counts: string): number => {
    rowOf.set(place, rows.length);
    return rows.push(`[${place},${counts}]`) - 1;
  };
  for (const [day, session, agent, model, ...counts] of calls) addRow(placeOf([day, session, agent, model]), counts.join(','));
  const none = Array(12).fill(0).join(',');
  const toolRows = tools.flatMap(([day, session, agent, model, tool, ...counts]) => {
    if (!shown.has(session)) return [];
    const place = placeOf([day, session, agent, model]);
    return `[${rowOf.get(place) ?? addRow(place, none)},${numberOf(String(tool))},${counts.join(',')}]`;
  });
  const events = (of: readonly EventRow[]): string => JSON.stringify(of.map(([day, ...row]) => [new Date(day).toISOString().slice(0, 10), ...row]));
  return `{"names":${JSON.stringify(names)},"sessions":${JSON.stringify(sessions)},"calls":[${rows.join(',')}],"tools":[${toolRows.join(',')}],"forks":${events(
    db.rows<EventRow>(
      `SELECT c.createdAt, ${sessionOfCommit}, c.id, (SELECT COUNT(*) ${callsOfCommit}), IFNULL((SELECT SUM(u.cost) ${callsOfCommit}), 0) FROM context c
        WHERE c.forked AND ${isTurnOfProject} ORDER BY c.createdAt DESC`,
      { project },
    ),
  )},"compactions":${events(
    db.rows<EventRow>(
      `SELECT c.createdAt, ${sessionOfCommit}, c.id FROM context c WHERE c.project = :project AND c.type = 'compaction' AND c.entries > 0 AND ${isShown}
        ORDER BY c.createdAt DESC`,
      { project },
    ),
  )}}`;
}

type EventRow = readonly [at: number, session: string | null, commit: string, ...numbers: number[]];
type SumRow = readonly [day: number, session: string, agent: string, model: string, ...rest: (string | number)[]];
