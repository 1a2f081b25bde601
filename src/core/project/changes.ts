import { setTimeout } from 'node:timers/promises';
import { commitsAfter, lastOfProject, type ReadChain } from '../chain/index.js';
import { type Area, areas, type ProjectChange } from '../contract/index.js';

/** Milliseconds between two checks for changes. A check costs some microseconds. */
const lookMs = 300;
const maxAtOnce = 200;

/** The number of changes of each area so far. It only grows, so that no two changes cancel out. */
type Marks = Readonly<Partial<Record<string, number>>>;

const isArea = (name: string): name is Area => (areas as readonly string[]).includes(name);

function marksOf({ db, project }: ReadChain): Marks {
  const rows = db.rows<[area: string, changes: number]>('SELECT area, changes FROM areaCount WHERE project = ?', project);
  return Object.fromEntries(rows.filter(([area]) => isArea(area)));
}

/** Where the changes of a project stand, as text. `changes` continues from it. */
export const standOf = (chain: ReadChain): string => writeMarks(marksOf(chain));

const writeMarks = (marks: Marks): string => areas.map((area) => marks[area] ?? 0).join('.');

/** Another text than ours, or one of an earlier version, is older than everything: then every list counts as changed. */
function marksIn(stand: string): Marks {
  const numbers = stand.split('.').map(Number);
  return Object.fromEntries(areas.map((area, at) => [area, numbers[at] ?? -1]));
}

/** Looks that may fail in a row, for example while a repair replaces the database: half a minute. */
const maxFailures = 100;

/**
 * Streams changes of a project by any process, until the signal aborts. It holds no transaction between two checks, so
 * writers never wait for it. `chainNow` returns the chain of the project at each look, because a person may trust, repair or reopen it meanwhile.
 */
export async function* changes(
  chainNow: () => ReadChain,
  { after, since }: { readonly after?: number | undefined; readonly since?: string | undefined },
  signal: AbortSignal | undefined,
): AsyncGenerator<ProjectChange> {
  let chain = chainNow();
  let state = readState(chain);
  let marks = since === undefined ? marksOf(chain) : marksIn(since);
  let cursor = after ?? lastOfProject(chain);
  let first = true;
  let failures = 0;
  const hasChanged = (): boolean => {
    try {
      const now = chainNow();
      const isSame = now === chain && readState(now) === state;
      chain = now;
      failures = 0;
      return !isSame;
    } catch (error) {
      failures += 1;
      if (failures > maxFailures) throw error;
      return false;
    }
  };
  while (!signal?.aborted) {
    const commits = commitsAfter(chain, cursor, maxAtOnce);
    cursor = commits.at(-1)?.seq ?? cursor;
    const now = marksOf(chain);
    const changed = areas.filter((area) => (now[area] ?? 0) !== (marks[area] ?? 0) || (area === 'commits' && commits.length > 0));
    marks = now;
    if (first || changed.length > 0) yield { cursor, commits: commits.map(({ commit }) => commit), changed, stand: writeMarks(now) };
    first = false;
    if (commits.length === maxAtOnce) {
      chain = chainNow();
      continue;
    }
    while (!signal?.aborted && !hasChanged()) await setTimeout(lookMs, undefined, { signal }).catch(() => {});
    state = readState(chain);
  }
}

/** A text that changes with each change of the database: `data_version` for other connections, `total_changes` for this one. */
export const readState = ({ db }: Pick<ReadChain, 'db'>): string => `${db.version()} ${db.value('SELECT total_changes()')}`;
