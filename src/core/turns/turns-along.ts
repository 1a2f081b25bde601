// The turns of a chain from stored facts about its deltas, without the steps of a recording.
import {
  backwards,
  type ContextRow,
  deltaKey,
  factsAlong,
  lineage,
  outlinesOf,
  type ReadChain,
  readOutline,
  type Step,
  storedFacts,
} from '../chain/index.js';
import type { OutlineEntry } from '../formats/index.js';
import { isTurn, type Lasted, type TurnEntries, type TurnFacts, turnEntriesIn, turnFacts, turnSumsOf } from '../usage/index.js';

/** A commit that is a turn, with the number of steps before it. */
interface CountedTurn {
  readonly step: Step;
  readonly first: number;
  readonly said: TurnEntries;
  /** What is stored of its delta, with its times. */
  readonly stored: TurnFacts | undefined;
}

/** The same with its duration. */
export type TimedTurn = CountedTurn & Lasted;

/** The entries of a commit that a model was sent. */
export const visibleIn = (chain: ReadChain, step: Step): readonly OutlineEntry[] => readOutline(chain, step).entries.filter(({ hidden }) => !hidden);

/** The commits that are turns up to a commit, in order. */
export const turnsTo = (chain: ReadChain, tip: ContextRow): readonly CountedTurn[] => turnsIn(chain, lineage(chain, tip), 0);

/** Those commits among some that are turns. `before`: the number of steps before them. */
export function turnsIn(chain: ReadChain, commits: readonly Step[], before: number): readonly CountedTurn[] {
  const steps = commits.filter(isTurn);
  const stored = storedFacts(chain, turnFacts, steps);
  const missing = steps.filter((step) => !stored.has(deltaKey(step)));
  const outlines = outlinesOf(chain, missing);
  const counted = new Map(missing.map((step, at) => [step.seq, turnEntriesIn(outlines[at] ?? { entries: [] })] as const));
  let first = before;
  return steps.map((step): CountedTurn => {
    const known = stored.get(deltaKey(step));
    const turn = { step, first, said: known ?? (counted.get(step.seq) as TurnEntries), stored: known };
    first += turn.said.entries;
    return turn;
  });
}

/** The last commit that is a turn, and the number of such commits up to it. The others are counted from stored sums. */
export function lastTurn(chain: ReadChain, tip: ContextRow): { readonly turn: CountedTurn; readonly number: number } | undefined {
  for (const step of backwards(chain, tip)) {
    if (!isTurn(step)) continue;
    const { turns, turnEntries } = turnSumsOf(chain, step);
    const said = turnEntriesIn(readOutline(chain, step));
    return { turn: { step, first: turnEntries - said.entries, said, stored: undefined }, number: turns };
  }
  return undefined;
}

/** Turns with their durations. Those that are not stored are read from the contents. */
export function timed(chain: ReadChain, turns: readonly CountedTurn[]): TimedTurn[] {
  const unread = turns.flatMap(({ step, stored }) => (stored ? [] : [step]));
  const read = factsAlong(chain, turnFacts, unread);
  return turns.map((turn) => {
    const { startedAt, endedAt, ms } = turn.stored ?? read(turn.step);
    return { ...turn, startedAt, endedAt, ms };
  });
}
