// The turns of a chain from the outlines of its commits, without the steps of a recording.
import {
  backwards,
  type ContextRow,
  keep,
  lineage,
  outlineOf,
  outlinesOf,
  parsedAlong,
  type ReadChain,
  recalled,
  type Step,
} from '../chain/index.js';
import type { OutlineEntry } from '../formats/index.js';
import { isTurn, turnSumsOf } from '../usage/index.js';
import { type Lasted, lastedIn } from './lasted.js';
import type { RecordedTurn as Recorded } from './recorder.js';

/** A commit that is a turn, with the number of steps before it. */
type CountedTurn = Omit<Recorded, keyof Lasted> & { readonly step: Step };

/** The same with its duration. */
export type TimedTurn = CountedTurn & Lasted;

/** The entries of a commit that a model was sent. */
export const visibleIn = (chain: ReadChain, { artifact, format }: Step): readonly OutlineEntry[] =>
  outlineOf(chain, artifact, format).entries.filter(({ hidden }) => !hidden);

/** The commits that are turns up to a commit, in order. */
export function turnsTo(chain: ReadChain, tip: ContextRow): readonly CountedTurn[] {
  const steps = lineage(chain, tip).filter(isTurn);
  const outlines = outlinesOf(chain, steps);
  let first = 0;
  return steps.map((step, at): CountedTurn => {
    const turn = turnIn(step, outlines[at]?.entries.filter(({ hidden }) => !hidden) ?? [], first);
    first += turn.count;
    return turn;
  });
}

function turnIn(step: Step, visible: readonly OutlineEntry[], first: number): CountedTurn {
  const { seq, id: turnId, type, tokenCount: tokens } = step;
  return { seq, turnId, type, first, count: visible.length, errors: visible.filter(({ isError }) => isError).length, tokens, step };
}

/** The last commit that is a turn, and the number of such commits up to it. The others are counted from stored sums. */
export function lastTurn(chain: ReadChain, tip: ContextRow): { readonly turn: CountedTurn; readonly number: number } | undefined {
  for (const step of backwards(chain, tip)) {
    if (!isTurn(step)) continue;
    const { turns, turnEntries } = turnSumsOf(chain, step);
    const turn = turnIn(step, visibleIn(chain, step), 0);
    return { turn: { ...turn, first: turnEntries - turn.count }, number: turns };
  }
  return undefined;
}

/** The number of bytes that a duration takes in memory, about. */
const bytesPerDuration = 200;

/** Turns with their durations, which their content says. Durations are kept, because a chain is listed again after each turn. */
export function timed(chain: ReadChain, turns: readonly CountedTurn[]): TimedTurn[] {
  const nameOf = ({ artifact, format }: Step): string => `${artifact}:${format}`;
  const known = new Map(turns.map(({ step }) => [nameOf(step), recalled<Lasted>(chain, 'duration', nameOf(step))] as const));
  const missing = turns.flatMap(({ step }) => (known.get(nameOf(step)) ? [] : [step]));
  for (const { step, parsed } of parsedAlong(chain, missing)) {
    const lasted = lastedIn(parsed);
    known.set(nameOf(step), lasted);
    keep(chain, 'duration', nameOf(step), lasted, bytesPerDuration);
  }
  return turns.map((turn) => ({ ...turn, ...(known.get(nameOf(turn.step)) as Lasted) }));
}
