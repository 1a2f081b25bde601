import type { CommitSeq } from '../base/index.js';
import { type ReadChain, runList } from '../chain/index.js';
import type { SessionRow } from '../contract/index.js';
import { callsByCommit, moneyOf, windowOfCall } from '../usage/index.js';
import type { Cluster } from './clusters.js';
import type { Forest } from './forest.js';

/** Figures of the calls of a session. */
type SessionNumbers = Pick<SessionRow, 'peakTokens' | 'limit' | 'cost' | 'drift' | 'models' | 'isOnHub'>;

interface Sum {
  peak: number | null;
  limit: number | null;
  model: string | null;
  cost: number;
  priced: number;
  /** Calls whose whole cost is known. */
  whole: number;
  calls: number;
  readonly models: Set<string>;
}

export const noNumbers: SessionNumbers = { peakTokens: null, limit: null, cost: null, models: [] };

/**
 * The counted peak, window, price and models of each session. The price includes subagents. A session with contents that only the hub holds
 * has no figures, because figures of a part of its calls would be too small.
 */
export function numbersOf(
  chain: ReadChain,
  { families }: Cluster,
  { at, keyOf }: Forest,
  parents: ReadonlyMap<string, string>,
): ReadonlyMap<string, SessionNumbers> {
  const sums = new Map<string, Sum>();
  const sumOf = (key: string): Sum => {
    const sum = sums.get(key) ?? { peak: null, limit: null, model: null, cost: 0, priced: 0, whole: 0, calls: 0, models: new Set<string>() };
    sums.set(key, sum);
    return sum;
  };
  for (const { context, model, peak, limit, priced, outputs, calls, cost } of callsByCommit(chain, families)) {
    const node = at.get(context);
    const key = node && keyOf(node);
    if (key === undefined) continue;
    const own = sumOf(key);
    if (model !== null) own.models.add(model);
    if (peak !== null && (own.peak === null || peak > own.peak)) {
      own.peak = peak;
      own.model = model;
      own.limit = limit;
    }
    for (const one of withStarters(key, parents)) {
      const sum = sumOf(one);
      sum.cost += cost;
      sum.priced += priced;
      sum.whole += Math.min(priced, outputs);
      sum.calls += calls;
    }
  }
  const onHub = new Set<string>();
  for (const seq of commitsOnHub(chain, runList(families))) {
    const node = at.get(seq);
    const key = node && keyOf(node);
    if (key !== undefined) for (const one of withStarters(key, parents)) onHub.add(one);
  }
  for (const key of onHub) sumOf(key);
  return new Map(
    [...sums].map(([key, { peak, limit, model, cost, priced, whole, calls, models }]) => [
      key,
      onHub.has(key)
        ? { ...noNumbers, models: [...models].sort(), isOnHub: true as const }
        : {
            peakTokens: peak,
            limit: windowOfCall(chain, { windowLimit: limit, model }, peak),
            cost: moneyOf(priced > 0 ? cost : null, whole === calls),
            models: [...models].sort(),
          },
    ]),
  );
}

/** A session and those that started it, whose prices include its calls. */
function withStarters(key: string, parents: ReadonlyMap<string, string>): Iterable<string> {
  if (!parents.has(key)) return [key];
  const seen = new Set<string>();
  for (let one: string | undefined = key; one !== undefined && !seen.has(one); one = parents.get(one)) seen.add(one);
  return seen;
}

/** The sessions with contents that only the hub holds, in a project that is open without a clone. */
export const sessionsOnHub = ({ artifacts, db, project }: ReadChain): ReadonlySet<string> =>
  new Set(
    artifacts.copies.expects()
      ? db.column<string>(
          "SELECT DISTINCT c.sessionId FROM artifact a JOIN commits c ON c.artifact = a.no WHERE a.gone = 'evicted' AND c.project = ?",
          project,
        )
      : [],
  );

/** Commits whose contents only the hub holds, in a project that is open without a clone. */
function commitsOnHub({ artifacts, db, project }: ReadChain, runs: string): CommitSeq[] {
  if (!artifacts.copies.expects()) return [];
  const among = 'c.run IN (SELECT value FROM json_each(?)) AND +c.project = ?';
  return db.column(`SELECT c.seq FROM commits c JOIN artifact a ON a.no = c.artifact WHERE ${among} AND a.gone = 'evicted'`, runs, project);
}
