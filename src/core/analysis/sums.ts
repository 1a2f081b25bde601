import type { ReadChain, WriteChain } from '../chain/index.js';
import { readDerivedProgress, setDerivedProgress } from '../store/index.js';
import { dayMs } from '../usage/index.js';
import { callsOfCommit, isShown, isTurnOfProject, sessionOfCommit, toolSums } from './views.js';

/** The sums of all calls and tool calls by session, day, agent, model and tool: an `AnalysisSums` as JSON, stored or written now. */
export const packedSums = (chain: ReadChain): string => storedSums(chain) ?? writtenSums(chain);

/** Increase this number when the text changes its form, so that a stored one is written again. */
const packedVersion = 3;
const progress = 'usage packed';

const isStored = (chain: ReadChain): boolean => readDerivedProgress(chain, progress) === packedVersion;

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
 * The sums are kept, so that nothing is added up from single calls. Only the tool calls of commits that name no session themselves are. The text has
 * columns, because a window reads them faster than rows.
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
  const tools = db.rows<SumRow>(toolSums, { project });
  const [callColumns, toolColumns] = [columnsOf(16), columnsOf(6)];
  const rowOf = new Map<string, number>();
  /** The row of calls of a day, a session, an agent and a model. */
  const rowAt = ([day, ...named]: Placed, counts: readonly number[]): number => {
    const place = [numberOfDay(day), ...named.map(numberOf)];
    const key = place.join(' ');
    const known = rowOf.get(key) ?? add(callColumns, [...place, ...counts]);
    rowOf.set(key, known);
    return known;
  };
  for (const [day, session, agent, model, ...counts] of calls) rowAt([day, session, agent, model], counts as number[]);
  const none = Array<number>(12).fill(0);
  for (const [day, session, agent, model, tool, ...counts] of tools)
    if (shown.has(session)) add(toolColumns, [rowAt([day, session, agent, model], none), numberOf(tool as string), ...(counts as number[])]);
  return JSON.stringify({ names, sessions, calls: callColumns, tools: toolColumns, ...eventsOf(db, project) });
}

/** The turns that were made in Stemma and the compactions, the latest first. */
function eventsOf(db: ReadChain['db'], project: number): Record<'forks' | 'compactions', readonly unknown[]> {
  const read = (columns: string, where: string) =>
    db
      .rows<readonly [at: number, ...rest: unknown[]]>(
        `SELECT c.createdAt, ${sessionOfCommit}, c.id${columns} FROM context c WHERE ${where} ORDER BY c.createdAt DESC`,
        { project },
      )
      .map(([at, ...rest]) => [new Date(at).toISOString().slice(0, 10), ...rest]);
  return {
    forks: read(`, (SELECT COUNT(*) ${callsOfCommit}), IFNULL((SELECT SUM(u.cost) ${callsOfCommit}), 0)`, `c.forked AND ${isTurnOfProject}`),
    compactions: read('', `c.project = :project AND c.type = 'compaction' AND c.entries > 0 AND ${isShown}`),
  };
}

const columnsOf = (count: number): number[][] => Array.from({ length: count }, () => []);

/** Adds a row to columns, and returns its number. */
function add(columns: readonly number[][], row: readonly number[]): number {
  for (const [at, column] of columns.entries()) column.push(row[at] ?? 0);
  return (columns[0]?.length ?? 0) - 1;
}

type Placed = readonly [day: number, session: string, agent: string, model: string];
type SumRow = readonly [...Placed, ...rest: (string | number)[]];
