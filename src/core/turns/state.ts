import { badRequest, type ContextId, type EntryKey, notFound } from '../base/index.js';
import { commitOf, type ReadChain } from '../chain/index.js';
import type { Entry, InputOf, KnownFile, MomentState, ReplayStep } from '../contract/index.js';
import { type Recording, recordingOf } from './recording.js';
import { deltaEntries } from './turns.js';

/** A moment of a chain: after an entry, after a number of steps, or at its end. */
export interface Moment {
  readonly id: ContextId;
  readonly entry?: EntryKey | undefined;
  readonly step?: number | undefined;
}

/** All entries of a chain in order, across compactions. @throws NOT_FOUND */
export const replaySteps = (chain: ReadChain, id: ContextId): { steps: ReplayStep[] } => ({
  steps: [...recordingOf(chain, commitOf(chain, id)).steps],
});

/** A range of steps with their content. It reads only the turns of the range. @throws NOT_FOUND */
export function stepEntries(chain: ReadChain, query: InputOf<'turn.entries'>): { total: number; entries: Entry[] } {
  const { steps, turns } = recordingOf(chain, commitOf(chain, query.id));
  const from = query.offset ?? 0;
  const to = Math.min(steps.length, from + (query.limit ?? steps.length));
  const touched = turns.filter((turn) => turn.first < to && turn.first + turn.count > from);
  const found = touched.flatMap(({ turnId, first, count }) =>
    deltaEntries(chain, commitOf(chain, turnId)).slice(Math.max(0, from - first), Math.min(count, to - first)),
  );
  return { total: steps.length, entries: found };
}

/**
 * The agent's state at a moment: its context window, open calls, known files and to-do list. Knowledge of files survives a
 * compaction.
 * @throws NOT_FOUND for an unknown entry; BAD_REQUEST for a step beyond the end.
 */
export function stateAt(chain: ReadChain, moment: Moment): MomentState {
  const recording = recordingOf(chain, commitOf(chain, moment.id));
  return recording.stateAfter(stepsUpTo(recording, moment));
}

/** A file as the conversation knew it at a moment. @throws NOT_FOUND if no call had touched it. */
export function fileAt(chain: ReadChain, moment: Moment & { readonly path: string }): KnownFile {
  const recording = recordingOf(chain, commitOf(chain, moment.id));
  const file = recording.fileAfter(stepsUpTo(recording, moment), moment.path);
  if (!file) throw notFound(moment.path, `No call in ${moment.id} had read or written ${moment.path} at this moment.`);
  return file;
}

function stepsUpTo(recording: Recording, { id, entry, step }: Moment): number {
  const { length } = recording.steps;
  if (step !== undefined && step > length) throw badRequest('step', `${id} has ${length} steps, so step ${step} does not exist.`);
  if (entry === undefined) return step ?? length;
  const number = recording.stepOf(entry);
  if (number === undefined) throw notFound(entry, `The chain of ${id} has no entry ${entry}.`);
  return number + 1;
}
