import { type ContextId, firstWhere, type KnownFile, type ReplayStep, type TurnRow } from '../../../core/contract/index.js';
import type { EntryBlock } from '../../parts';

/** The steps that are loaded first, because a long chain has hundreds of thousands. */
export const firstSteps = 500;

/** The steps of a chain up to a commit, as far as they are loaded. */
export interface ShownSteps {
  readonly project: string;
  readonly commit: ContextId;
  /** The number of earlier steps, which are still loading. */
  readonly before: number;
  readonly steps: readonly ReplayStep[];
}

type TurnPlace = Pick<TurnRow, 'first' | 'entries'>;

/** The turn that contains the step at a place, by its place among the turns. */
export function turnAt(turns: readonly TurnPlace[], place: number): number {
  const at = turns.findLastIndex((turn) => turn.first <= place && turn.entries > 0);
  return Math.max(0, at);
}

/** The step that "next turn" (1) or "previous turn" (-1) leads to. Inside a turn, "previous" leads to its own start first. */
export function placeOfTurn(turns: readonly TurnPlace[], stepCount: number, place: number, by: 1 | -1): number {
  const current = turnAt(turns, place);
  const target = by < 0 && place > (turns[current]?.first ?? place) ? current : current + by;
  if (target >= turns.length) return stepCount - 1;
  return turns[Math.max(0, target)]?.first ?? place;
}

/** The number of blocks that have begun at a step. A late result belongs to its call's block, so later blocks may come before it. */
export const blocksUpTo = (blocks: readonly Pick<EntryBlock, 'first'>[], place: number): number =>
  firstWhere(0, blocks.length, (at) => (blocks[at]?.first ?? 0) > place);

/** The step of the last change up to a step; of the last read if nothing was changed. */
export function lastChange(touches: KnownFile['touches'], step: number): number {
  const earlier = touches.filter((touch) => touch.step <= step);
  return (earlier.findLast(({ how }) => how !== 'read') ?? earlier.at(-1))?.step ?? step;
}
