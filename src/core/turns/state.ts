import { badRequest, type ContextId, type EntryKey, notFound } from '../base/index.js';
import { type ContextRow, commitAt, deltaEntries, findCommit, kept, type ReadChain, stretchOf, summedContext } from '../chain/index.js';
import type { Entry, InputOf, KnownFile, MomentState, ReplayStep, TurnRow } from '../contract/index.js';
import { isTurn, turnSumsOf } from '../usage/index.js';
import { type Recording, recordingOf, stateAfter, taped } from './recording.js';
import { listLastTurns, listTurns } from './turns.js';
import { turnsIn, turnsTo } from './turns-along.js';

/** A moment of a chain: after an entry, after a number of steps, or at its end. */
export interface Moment {
  readonly id: ContextId;
  readonly entry?: EntryKey | undefined;
  readonly step?: number | undefined;
}

/** The steps of a chain's replay and its turns, or the last of them. `total` counts all steps. */
export interface Replay {
  readonly total: number;
  readonly steps: ReplayStep[];
  readonly turns: TurnRow[];
}

/** All entries of a chain in order, across compactions; or the last turns of a long one, with at least `last` entries. @throws NOT_FOUND */
export function replaySteps(chain: ReadChain, id: ContextId, last?: number): Replay {
  const tip = findCommit(chain, id);
  const part = last === undefined ? undefined : lastSteps(chain, tip, last);
  if (part) return part;
  const { steps } = recordingOf(chain, tip);
  return { total: steps.length, steps, turns: listTurns(chain, { id }) };
}

const bytesPerStep = 500;

/** The last steps from the sums that are stored before them. Undefined if the window since the last compaction has no more steps, or no sums. */
function lastTape(chain: ReadChain, tip: ContextRow, last: number) {
  const sums = summedContext(chain, tip);
  if (!sums) return undefined;
  const { steps: commits, before, isFirst } = stretchOf(chain, sums, { from: sums.entries - last, to: sums.entries });
  if (isFirst) return undefined;
  const { turns, turnEntries: total } = turnSumsOf(chain, tip);
  return kept(
    chain,
    'last steps',
    `${tip.id} ${last}`,
    '',
    () => ({ commits, tape: taped(chain, commits, before), total, turns }),
    ({ tape }) => tape.steps.length * bytesPerStep,
  );
}

function lastSteps(chain: ReadChain, tip: ContextRow, last: number): Replay | undefined {
  const found = lastTape(chain, tip, last);
  if (!found) return undefined;
  const { commits, total } = found;
  const steps = [...found.tape.steps];
  const turns = listLastTurns(chain, tip, commits, { turns: found.turns - commits.length, steps: total - steps.length });
  return turns && { total, steps, turns };
}

/** A range of steps with their content. It reads only the turns of the range. @throws NOT_FOUND */
export function stepEntries(chain: ReadChain, { id, offset = 0, limit }: InputOf<'turn.entries'>): { total: number; entries: Entry[] } {
  const tip = findCommit(chain, id);
  const part = limit === undefined ? undefined : stretchWith(chain, tip, offset, limit);
  const turns = part?.turns.map(placeOf) ?? placesTo(chain, tip);
  const last = turns.at(-1);
  const total = part?.total ?? (last ? last.first + last.count : 0);
  const to = Math.min(total, offset + (limit ?? total));
  const touched = turns.filter(({ first, count }) => first < to && first + count > offset);
  const found = touched.flatMap(({ seq, first, count }) =>
    deltaEntries(chain, commitAt(chain, seq)).slice(Math.max(0, offset - first), Math.min(count, to - first)),
  );
  return { total, entries: found };
}

const placeOf = ({ step, first, said }: ReturnType<typeof turnsTo>[number]) => ({ seq: step.seq, first, count: said.entries });

const bytesPerPlace = 64;

/** The place of each turn among the steps of a chain. It is kept, because a replay asks for it at every step (row P1 of the bench). */
const placesTo = (chain: ReadChain, tip: ContextRow): readonly ReturnType<typeof placeOf>[] =>
  kept(
    chain,
    'places of turns',
    tip.id,
    '',
    () => turnsTo(chain, tip).map(placeOf),
    (places) => places.length * bytesPerPlace,
  );

/** The turns around a range of steps, if the window since the last compaction has it and has sums. */
function stretchWith(chain: ReadChain, tip: ContextRow, offset: number, limit: number) {
  const sums = summedContext(chain, tip);
  if (!sums) return undefined;
  const total = turnSumsOf(chain, tip).turnEntries;
  const start = total - sums.entries;
  if (offset < start) return undefined;
  const { steps, before } = stretchOf(chain, sums, { from: offset - start, to: offset - start + limit });
  // A snapshot repeats earlier entries, which are steps already.
  return steps.every(isTurn) ? { total, turns: turnsIn(chain, steps, start + before.entries) } : undefined;
}

/**
 * The agent's state at a moment: its context window, open calls, known files and to-do list. Knowledge of files survives a
 * compaction. With `last`, the state at one of the last steps of a long chain is read from these steps alone.
 * @throws NOT_FOUND for an unknown entry; BAD_REQUEST for a step beyond the end.
 */
export function stateAt(chain: ReadChain, moment: Moment & { readonly last?: number | undefined }): MomentState {
  const { last, step } = moment;
  const part = last !== undefined && step !== undefined ? lastTape(chain, findCommit(chain, moment.id), last) : undefined;
  const before = part ? part.total - part.tape.steps.length : 0;
  if (part && step !== undefined && step > before && step <= part.total)
    return { ...stateAfter(part.tape, step - before, before), steps: part.total };
  const recording = recordingOf(chain, findCommit(chain, moment.id));
  return recording.stateAfter(stepsUpTo(recording, moment));
}

/** A file as the conversation knew it at a moment. @throws NOT_FOUND if no call had touched it. */
export function fileAt(chain: ReadChain, moment: Moment & { readonly path: string }): KnownFile {
  const recording = recordingOf(chain, findCommit(chain, moment.id));
  const file = recording.fileAfter(stepsUpTo(recording, moment), moment.path);
  if (!file) throw notFound(moment.path, `No call in ${moment.id} had read or written ${moment.path} at this moment.`);
  return file;
}

function stepsUpTo(recording: Recording, { id, entry, step }: Moment): number {
  const { length } = recording;
  if (step !== undefined && step > length) throw badRequest('step', `${id} has ${length} steps, so step ${step} does not exist.`);
  if (entry === undefined) return step ?? length;
  const number = recording.stepOf(entry);
  if (number === undefined) throw notFound(entry, `The chain of ${id} has no entry ${entry}.`);
  return number + 1;
}
