import { onceFor } from '../base/index.js';
import { intactColumn, type ReadChain, type WriteChain } from '../chain/index.js';
import { readDerivedProgress, setDerivedProgress } from '../store/index.js';
import { dayMs } from '../usage/index.js';
import { callsOfCommit, isShown, isTurnOfProject, sessionOfCommit, toolSums } from './views.js';

/** The sums of all calls by session, day, agent and model: an `AnalysisSums` as JSON, stored or written now. */
export function packedSums(chain: ReadChain): string {
  const stored = isStored(chain) ? chain.db.value<string>('SELECT data FROM usagePacked WHERE project = ?', chain.project) : undefined;
  return stored ?? writtenSums(chain);
}

/** Increase this number when the text changes its form, so that a stored one is written again. */
const packedVersion = 4;
const progress = 'usage packed';

const isStored = (chain: ReadChain): boolean => readDerivedProgress(chain, progress) === packedVersion;

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

/** Numbers names in the order in which they occur. A day is given as days since 1970. */
function numbering() {
  const names: string[] = [];
  const numberOf = onceFor((name: string) => names.push(name) - 1);
  const numberOfDay = onceFor((day: number) => numberOf(new Date(day * dayMs).toISOString().slice(0, 10)));
  return { names, numberOf, numberOfDay };
}

/** The columns of rows, because a window reads few long lists faster than many short ones. */
const columnsOf = <Cell>(rows: readonly (readonly Cell[])[], count: number): Cell[][] =>
  Array.from({ length: count }, (_, at) => rows.map((row) => row[at] as Cell));

type Placed = readonly [day: number, session: string, agent: string, model: string];

const noCalls: readonly number[] = Array<number>(12).fill(0);

/** The sums are kept, so that nothing is added up from single calls. Only the tool calls of commits that name no session themselves are. */
function writtenSums({ db, project }: ReadChain): string {
  const { names, numberOf, numberOfDay } = numbering();
  const select = 'SELECT session, title, tip, repository, person, agent, parent, branch FROM usageSession WHERE project = ?';
  const stored = db.rows<[session: string, title: string, tip: string | null, ...places: (string | null)[]]>(select, project);
  const numbers = stored.map(([session, , , ...named]) => [session, ...named].map((name) => numberOf(name ?? '')));
  const [ids, ...places] = columnsOf(numbers, 6);
  const sessions = { ids, titles: stored.map(([, title]) => title), tips: stored.map(([, , tip]) => tip ?? ''), places };
  const calls = db.rows<[...Placed, ...counts: number[]]>(
    `SELECT day, session, agent, model, SUM(calls), SUM(input), SUM(cacheRead), SUM(cacheWrite), SUM(output), SUM(cost), SUM(calls - priced),
            SUM(calls - inputs), SUM(calls - outputs), SUM(misses), SUM(lostCost), SUM(waitMs)
       FROM usageSlice WHERE project = ? GROUP BY session, day, agent, model`,
    project,
  );
  const rows = new Map<string, number[]>();
  /** The row of a day, a session, an agent and a model. Its first numbers are these four. */
  const rowAt = ([day, session, agent, model]: Placed, counts = noCalls): number[] => {
    const place = [numberOfDay(day), numberOf(session), numberOf(agent), numberOf(model)];
    const key = place.join(' ');
    const row = rows.get(key) ?? [...place, ...counts, 0, 0, 0, 0];
    rows.set(key, row);
    return row;
  };
  for (const [day, session, agent, model, ...counts] of calls) rowAt([day, session, agent, model], counts);
  const tools = db.rows<[...Placed, ...counts: number[]]>(
    `SELECT day, session, agent, model, SUM(calls), SUM(results), SUM(errors), SUM(ms) FROM (${toolSums})
      WHERE ${isOfSession} GROUP BY session, day, agent, model`,
    { project },
  );
  for (const [day, session, agent, model, ...counts] of tools) {
    const row = rowAt([day, session, agent, model]);
    row.splice(-counts.length, counts.length, ...counts);
  }
  // A window counts sessions by their beginnings.
  const bySession = [...rows.values()].sort(([, a = 0], [, b = 0]) => a - b);
  return JSON.stringify({ names, sessions, calls: columnsOf(bySession, 20), ...eventsOf(db, project) });
}

/** A deleted session has no tool calls. */
const isOfSession = 'session IN (SELECT s.session FROM usageSession s WHERE s.project = :project)';

/** The sums of all tool calls by session, day, agent, model and tool: an `AnalysisTools` as JSON. */
export function packedTools({ db, project }: ReadChain): string {
  const { names, numberOf, numberOfDay } = numbering();
  const rows = db.rows<[...Placed, tool: string, ...counts: number[]]>(
    `SELECT day, session, agent, model, name, calls, results, errors, ms FROM (${toolSums}) WHERE ${isOfSession}`,
    { project },
  );
  rows.sort((a, b) => (a[1] < b[1] ? -1 : a[1] > b[1] ? 1 : 0));
  const days = rows.map(([day]) => numberOfDay(day));
  const column = (at: number): number[] => rows.map(({ [at]: cell }) => (typeof cell === 'string' ? numberOf(cell) : (cell ?? 0)));
  // The few names of many rows come first, because their numbers are short.
  const [agents = [], models = [], tools = [], sessions = []] = [2, 3, 4, 1].map(column);
  return JSON.stringify({ names, tools: [days, sessions, agents, models, tools, ...[5, 6, 7, 8].map(column)] });
}

/** The turns that were made in Stemma and the compactions, the latest first. A damaged one is left out: it has no place for a mark. */
function eventsOf(db: ReadChain['db'], project: number): Record<'forks' | 'compactions', readonly unknown[]> {
  const read = (columns: string, where: string) =>
    db
      .rows<readonly [at: number, ...rest: unknown[]]>(
        `SELECT c.createdAt, ${sessionOfCommit}, c.id${columns} FROM commits c WHERE ${where} AND (SELECT ${intactColumn}) ORDER BY c.createdAt DESC`,
        { project },
      )
      .map(([at, ...rest]) => [new Date(at).toISOString().slice(0, 10), ...rest]);
  return {
    forks: read(`, (SELECT COUNT(*) ${callsOfCommit}), (SELECT SUM(u.cost) ${callsOfCommit})`, `c.forked AND ${isTurnOfProject}`),
    compactions: read('', `c.project = :project AND c.type = 'compaction' AND c.entries > 0 AND ${isShown}`),
  };
}
