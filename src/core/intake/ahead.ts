import type { Chain } from '../chain/index.js';
import { type ReadCalls, readCalls } from '../requests/index.js';
import { type FoundFile, type OpenFile, openFile, Unreadable } from './files.js';
import type { Asked, Planned, Planner } from './planner.js';
import type { PlanRequest } from './planning.js';
import { headOf, recognized } from './recognize.js';
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

/** What is read of a file while a thread plans it: nothing of most. */
interface Meanwhile {
  readonly calls?: ReadCalls | undefined;
  readonly modifiedAt?: number;
}

function readMeanwhile({ path }: FoundFile, { format: asked }: Pick<PlanRequest, 'format'>): Meanwhile {
  let file: OpenFile | undefined;
  try {
    file = openFile(path, { held: 0 });
    const { bytes, whole, modifiedAt } = file;
    const format = asked ?? recognized(headOf(bytes), path)?.format.id;
    return format === undefined ? {} : { calls: readCalls({ bytes, whole, format }), modifiedAt };
  } catch (error) {
    // The thread says so, too.
    if (error instanceof Unreadable) return {};
    throw error;
  } finally {
    file?.close();
  }
}

/** How long one wait is at most, in milliseconds: between two of them the engine hears others. */
const waitMs = 20;

/** Has threads plan the files that are new to the project, so many before each turn. Who waits for one reads its request records meanwhile. */
export function planAhead(chain: Chain, planner: Planner, files: readonly FoundFile[], how: Pick<PlanRequest, 'format' | 'granularity'>): Ahead {
  const asked = new Map<number, Asked>();
  let next = 0;
  let reading: ({ readonly place: number } & Meanwhile) | undefined;
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
      const question = asked.get(place);
      const isRead = reading?.place === place;
      const answer = question?.answer(isRead ? waitMs : 0);
      if (answer === 'pending') {
        if (!isRead) reading = { place, ...readMeanwhile(files[place] as FoundFile, how) };
        return answer;
      }
      asked.delete(place);
      const { calls, modifiedAt } = reading?.place === place ? reading : {};
      reading = undefined;
      return answer && calls?.file.length === answer.size && modifiedAt === answer.modifiedAt ? { ...answer, calls } : answer;
    },
    close() {
      for (const question of asked.values()) question.drop();
      asked.clear();
    },
  };
}
