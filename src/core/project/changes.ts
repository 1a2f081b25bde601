import { commitsAfter, type ReadChain } from '../chain/index.js';
import { type Area, areas, type ProjectChange } from '../contract/index.js';

/** Milliseconds between two checks for changes. A check costs some microseconds. */
const lookMs = 300;
const maxAtOnce = 200;

/** SQL for a number per area that changes with each new row and, for turns and jobs, with each change of their state. */
const latest: Readonly<Record<Area, string>> = {
  commits: 'SELECT seq AS no FROM context WHERE +project = :project ORDER BY seq DESC LIMIT 1',
  tickets: `SELECT COALESCE((SELECT no FROM ticketVersion WHERE project = :project ORDER BY no DESC LIMIT 1), 0)
                 + COALESCE((SELECT no FROM ticketAnswer WHERE project = :project ORDER BY no DESC LIMIT 1), 0) AS no`,
  cards: 'SELECT no AS no FROM card WHERE project = :project ORDER BY no DESC LIMIT 1',
  boxes: 'SELECT no AS no FROM box WHERE project = :project ORDER BY no DESC LIMIT 1',
  messages: 'SELECT no AS no FROM spaceMessage WHERE project = :project ORDER BY no DESC LIMIT 1',
  turns: `SELECT 10 * COUNT(*) + TOTAL(CASE status WHEN 'dispatched' THEN 1 WHEN 'running' THEN 2 WHEN 'suspended' THEN 3 ELSE 4 END) AS no
            FROM agentTurn WHERE project = :project`,
  jobs: `SELECT COUNT(*) + COUNT(endedAt)
                + (SELECT COUNT(*) + COUNT(allow) FROM jobQuestion WHERE job IN (SELECT no FROM job WHERE project = :project AND status = 'running'))
                AS no FROM job WHERE project = :project`,
};
type Marks = Readonly<Record<Area, number>>;

/**
 * Streams changes of a project by any process, until the signal aborts. It holds no transaction between two checks, so
 * writers never wait for it.
 */
export async function* changes(chain: ReadChain, after: number | undefined, signal: AbortSignal | undefined): AsyncGenerator<ProjectChange> {
  let state = stateOf(chain);
  let marks = marksOf(chain);
  let cursor = after ?? marks.commits;
  let first = true;
  while (!signal?.aborted) {
    const commits = commitsAfter(chain, cursor, maxAtOnce);
    cursor = commits.at(-1)?.seq ?? cursor;
    const now = marksOf(chain);
    const changed = areas.filter((area) => now[area] !== marks[area] || (area === 'commits' && commits.length > 0));
    marks = now;
    if (first || changed.length > 0) yield { cursor, commits: commits.map(({ commit }) => commit), changed };
    first = false;
    if (commits.length === maxAtOnce) continue;
    while (!signal?.aborted && state === stateOf(chain)) await pause(lookMs, signal);
    state = stateOf(chain);
  }
}

/** A value that changes with each commit: `data_version` for other connections, `total_changes` for this one. */
const stateOf = (chain: ReadChain): string => `${chain.db.version()} ${chain.db.one<{ n: number }>('SELECT total_changes() AS n')?.n}`;

const marksOf = (chain: ReadChain): Marks =>
  Object.fromEntries(
    areas.map((area) => [area, chain.db.one<{ no: number }>(latest[area], { project: chain.project })?.no ?? 0]),
  ) as unknown as Marks;

const pause = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resume) => {
    const timer = setTimeout(done, ms);
    function done(): void {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resume();
    }
    signal?.addEventListener('abort', done);
  });
