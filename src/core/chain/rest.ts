import { type CommitSeq, StemmaError } from '../base/index.js';
import { readerOf } from '../formats/index.js';
import type { Chain } from './chain.js';
import { commitAt } from './find.js';
import { keepInSteps, keptResults } from './materialize.js';
import { walk } from './walk.js';

/** From so many commits on a walk is long, and from so many tokens on what it gives is. */
export interface RestLimits {
  readonly commits: number;
  readonly tokens: number;
}
const usual: RestLimits = { commits: 1_024, tokens: 4 * 1024 * 1024 };

/** Fewer new commits are not looked at for their own sake. */
const worthALook = 64;

/** How far commits have been looked at, as the `progress` table names it. */
const progress = 'rest';

/** Whether so much was committed since the last time that it is to be looked at for places to rest. */
export const restIsDue = (chain: Chain): boolean => lastCommit(chain) - looked(chain) >= worthALook;

/**
 * Keeps what a walk gives at the places to rest of what was committed since the last time (C23), so that whoever reads a long chain, or a
 * fork of it, goes on from there. In steps between which others may work; returns how many were kept.
 */
export function* keepRestPoints(chain: Chain, limits = usual): Generator<undefined, number> {
  let kept = 0;
  const until = lastCommit(chain);
  for (const seq of placesToRest(chain, limits)) {
    if (yield* keepAt(chain, seq, limits)) kept += 1;
    setLooked(chain, seq);
    yield;
  }
  setLooked(chain, until);
  return kept;
}

/** Twice as far each time, so that all the results that are kept of a chain weigh at most twice its longest. */
const placesToRest = (chain: Chain, limits: RestLimits): CommitSeq[] =>
  chain.db
    .all<{ seq: CommitSeq }>(
      `SELECT seq FROM context WHERE seq > ? AND project = ?
          AND ((depth >= ? AND depth & (depth - 1) = 0)
            OR (contextTokens >= ? AND type = 'delta' AND tokenCount > 0
                AND CAST(log2(contextTokens) AS INTEGER) > IFNULL(CAST(log2(contextTokens - tokenCount) AS INTEGER), 0)))
        ORDER BY seq`,
      looked(chain),
      chain.project,
      limits.commits,
      limits.tokens,
    )
    .map(({ seq }) => seq);

/** False where the walk is short (a compaction is near), kept already, or none that is put together delta by delta. */
function* keepAt(chain: Chain, seq: CommitSeq, limits: RestLimits): Generator<undefined, boolean> {
  const tip = commitAt(chain, seq);
  const isKept = chain.db.one(`SELECT 1 FROM ${keptResults} WHERE context = ? AND stop = 'compaction' AND format = ?`, seq, tip.format);
  const way = walk(chain, tip);
  if (isKept || (way.contributing.length < limits.commits && tip.contextTokens < limits.tokens)) return false;
  try {
    return yield* keepInSteps(chain, way, readerOf(tip.format));
  } catch (error) {
    // What is damaged or elsewhere is told to whoever asks for it.
    if (error instanceof StemmaError) return false;
    throw error;
  }
}

const lastCommit = (chain: Chain): number =>
  chain.db.one<{ seq: number }>('SELECT seq FROM context WHERE project = ? ORDER BY seq DESC LIMIT 1', chain.project)?.seq ?? 0;

const looked = (chain: Chain): number =>
  chain.db.one<{ value: number }>('SELECT value FROM progress WHERE project = ? AND name = ?', chain.project, progress)?.value ?? 0;

const setLooked = (chain: Chain, seq: number): void =>
  void chain.db.run(
    'INSERT INTO progress (project, name, value) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = max(value, excluded.value)',
    chain.project,
    progress,
    seq,
  );
