import type { Chain } from '../chain/index.js';
import type { FoundFile } from './files.js';
import type { Asked, Planned, Planner } from './planner.js';
import type { PlanRequest } from './planning.js';
import { latestSource } from './sources.js';

/** So many files are with the threads at a time: what they have read waits in memory. */
const mostAhead = 4;
/** Starting threads takes longer than planning so many bytes. */
const leastBytes = 4 * 1024 * 1024;

/** Files that are planned before their turn comes. */
export interface Ahead {
  /** The plan of the file whose turn it is: `pending` while it is made (whoever waits may do other things), undefined where there is none. */
  take(place: number): Planned | 'pending' | undefined;
  /** No more are wanted. */
  close(): void;
}

/** How long one wait is at most, in milliseconds: between two of them the engine hears others. */
const waitMs = 20;

/** Has threads plan the files that are new to the project, so many before each turn. */
export function planAhead(chain: Chain, planner: Planner, files: readonly FoundFile[], how: Pick<PlanRequest, 'format' | 'granularity'>): Ahead {
  const asked = new Map<number, Asked>();
  let next = 0;
  const isWorthIt = files.reduce((sum, { bytes }) => sum + bytes, 0) >= leastBytes;
  const isNew = ({ path, member }: FoundFile): boolean => !member && latestSource(chain, path) === undefined;
  return {
    take(place) {
      next = Math.max(next, place);
      for (; isWorthIt && next < files.length && asked.size < mostAhead; next++) {
        const file = files[next] as FoundFile;
        if (!isNew(file)) continue;
        const question = planner.ask({ path: file.path, ...how });
        if (!question) break;
        asked.set(next, question);
      }
      const answer = asked.get(place)?.answer(waitMs);
      if (answer !== 'pending') asked.delete(place);
      return answer;
    },
    close() {
      for (const question of asked.values()) question.drop();
      asked.clear();
    },
  };
}
