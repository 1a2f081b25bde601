import { type CommitSeq, StemmaError } from '../base/index.js';
import { findReader } from '../formats/index.js';
import { readProgress } from '../store/index.js';
import type { ReadChain, WriteChain } from './chain.js';
import { commitAt, lastOfProject } from './find.js';
import { keepInSteps, keptResults } from './materialize.js';
import { walk } from './walk.js';

/** The number of commits and tokens from which a walk result is worth caching. */
const defaultLimits = { commits: 1_024, tokens: 4 * 1024 * 1024 };
type RestLimits = typeof defaultLimits;

/** The number of new commits that makes a scan worthwhile. */
const scanAfter = 64;

/** The row of the `progress` table with the last scanned commit. */
const progress = 'rest';

/** Whether enough commits are new to scan them for results worth caching. */
export const restIsDue = (chain: ReadChain): boolean => lastOfProject(chain) - readProgress(chain, progress) >= scanAfter;

/**
 * Caches walk results at intervals along long chains (C23), so that reading a later commit or a fork starts from there.
 * It yields between steps, so that other work can run. Returns the number of results that it cached.
 */
export function* keepRestPoints(chain: WriteChain, limits = defaultLimits): Generator<undefined, number> {
  let kept = 0;
  const until = lastOfProject(chain);
  for (const seq of placesToRest(chain, limits)) {
    if (yield* keepAt(chain, seq, limits)) kept += 1;
    setLooked(chain, seq);
    yield;
  }
  setLooked(chain, until);
  return kept;
}

/** Distances double, so that all results of a chain together are at most twice as large as the longest. */
const placesToRest = (chain: ReadChain, limits: RestLimits): CommitSeq[] =>
  chain.db.column(
    `SELECT seq FROM commits WHERE seq > ? AND +project = ?
          AND ((depth >= ? AND depth & (depth - 1) = 0)
            OR (contextTokens >= ? AND type = 'delta' AND tokenCount > 0
                AND CAST(log2(contextTokens) AS INTEGER) > IFNULL(CAST(log2(contextTokens - tokenCount) AS INTEGER), 0)))
        ORDER BY seq`,
    [readProgress(chain, progress), chain.project, limits.commits, limits.tokens],
  );

/** Returns false if the walk is short, is cached already, or cannot be built delta by delta. */
function* keepAt(chain: WriteChain, seq: CommitSeq, limits: RestLimits): Generator<undefined, boolean> {
  const tip = commitAt(chain, seq);
  const isKept = chain.db.one(`SELECT 1 FROM ${keptResults} WHERE context = ? AND stop = 'compaction' AND format = ?`, seq, tip.format);
  const way = walk(chain, tip);
  if (isKept || (way.contributing.length < limits.commits && tip.contextTokens < limits.tokens)) return false;
  try {
    return yield* keepInSteps(chain, way, findReader(tip.format));
  } catch (error) {
    // Damaged or missing content is reported when a user reads it.
    if (error instanceof StemmaError) return false;
    throw error;
  }
}

const setLooked = ({ db, project }: WriteChain, seq: number): void => {
  const insert = 'INSERT INTO progress (project, name, value) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = max(value, excluded.value)';
  db.run(insert, project, progress, seq);
};
