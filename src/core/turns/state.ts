import { badRequest, type ContextId, type EntryKey, notFound } from '../base/index.js';
import { type Chain, commitOf } from '../chain/index.js';
import type { Entry, KnownFile, MomentState, ReplayStep } from '../contract/index.js';
import { type Recording, recordingOf } from './recording.js';
import { deltaEntries } from './turns.js';

/** A moment of a chain: after an entry, after so many steps, or at its end. */
export interface Moment {
  readonly id: ContextId;
  readonly entry?: EntryKey | undefined;
  readonly step?: number | undefined;
}

/** Every entry of a chain in the order in which it came, through every compaction. @throws NOT_FOUND */
export const replaySteps = (chain: Chain, id: ContextId): { steps: ReplayStep[] } => ({
  steps: [...recordingOf(chain, commitOf(chain, id)).steps],
});

/** A range of the steps with their content: only the turns that the range touches are read. @throws NOT_FOUND */
export function stepEntries(
  chain: Chain,
  query: { readonly id: ContextId; readonly offset?: number | undefined; readonly limit?: number | undefined },
): { total: number; entries: Entry[] } {
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
 * What the agent had in front of it at a moment: the window, open calls, files as it knew them, its list of tasks.
 * What a compaction took out of the window is still known of the files.
 * @throws NOT_FOUND where the chain has no such entry; BAD_REQUEST for a step that it does not have.
 */
export function stateAt(chain: Chain, moment: Moment): MomentState {
  const recording = recordingOf(chain, commitOf(chain, moment.id));
  return recording.stateAfter(stepsUpTo(recording, moment));
}

/** One file as the conversation knew it at a moment. @throws NOT_FOUND where nothing had touched it by then. */
export function fileAt(chain: Chain, moment: Moment & { readonly path: string }): KnownFile {
  const recording = recordingOf(chain, commitOf(chain, moment.id));
  const file = recording.fileAfter(stepsUpTo(recording, moment), moment.path);
  if (!file) throw notFound(moment.path, `nothing in ${moment.id} had read or written ${moment.path} by then`);
  return file;
}

function stepsUpTo(recording: Recording, { id, entry, step }: Moment): number {
  const { length } = recording.steps;
  if (step !== undefined && step > length) throw badRequest('step', `${id} has ${length} steps: there is no step ${step}`);
  if (entry === undefined) return step ?? length;
  const number = recording.stepOf(entry);
  if (number === undefined) throw notFound(entry, `no entry ${entry} is in ${id} or before it`);
  return number + 1;
}
