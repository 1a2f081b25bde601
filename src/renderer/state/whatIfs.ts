import type { ContextId, Divergence, DivergenceLimit, WhatIfPart, WhatIfResult } from '../../core/contract/index.js';
import { api } from '../client';
import { refreshProject } from './project';
import { type Sample, samplesAfter, stopped, unbegun } from './samples';
import { type BackgroundJob, backgroundJobs, readStream } from './stream';

/** How a what-if runs: the branch it continues, and the original whose prompts it follows. */
export interface WhatIfInput {
  readonly id: ContextId;
  readonly original: ContextId;
  readonly provider: string;
  readonly model?: string | undefined;
  readonly stopAt: DivergenceLimit;
  readonly unanswered: 'stop' | 'ask';
}

/** The received part of a what-if turn. */
export interface WhatIfTurn {
  readonly turn: number;
  readonly of: ContextId | null;
  readonly text: string;
  readonly sample: Sample;
  readonly divergence?: Divergence | null | undefined;
}

export interface WhatIfJob extends BackgroundJob {
  /** The branch on which the what-if started. Later runs from its tip belong to the same branch. */
  readonly branch: ContextId;
  readonly input: WhatIfInput;
  readonly turns: readonly WhatIfTurn[];
  readonly state: 'running' | 'done' | 'failed';
  readonly result?: WhatIfResult;
}

const { useJobs, begin } = backgroundJobs<WhatIfJob>();
export const useWhatIfs = useJobs;

function turnsAfter(
  turns: readonly WhatIfTurn[],
  { turn, of, kind, text, part, commit, divergence }: WhatIfPart,
  now: number,
): readonly WhatIfTurn[] {
  if (kind === 'begin') return [...turns, { turn, of, text, sample: unbegun }];
  return turns.map((each) => {
    if (each.turn !== turn) return each;
    if (kind === 'end')
      return { ...each, divergence, sample: { ...each.sample, state: 'done', commit, endedAt: now, limit: undefined, question: undefined } };
    return part ? { ...each, sample: samplesAfter([each.sample], part, now)[0] ?? each.sample } : each;
  });
}

/** Runs the prompts of the original on top of a branch. Turns appear in the job as they arrive. */
export async function startWhatIf(project: string, branch: ContextId, input: WhatIfInput): Promise<void> {
  const { change, signal: stop } = begin((own) => ({ ...own, project, branch, input, turns: [], state: 'running' }));
  const { model, ...rest } = input;
  const settled = (turns: readonly WhatIfTurn[], problem?: string): readonly WhatIfTurn[] =>
    turns.map((each) =>
      each.sample.commit ? each : { ...each, sample: problem === undefined ? stopped(each.sample) : { ...each.sample, state: 'failed', problem } },
    );
  const canceled = (): void =>
    change(({ turns, input: { id: from } }) => {
      const commits = turns.flatMap(({ sample }) => sample.commit ?? []);
      const why = { why: 'canceled' as const, turn: turns.length, what: 'it was stopped' };
      return { state: 'done', turns: settled(turns), result: { commits, tip: commits.at(-1) ?? from, left: 1, stopped: why } };
    });
  try {
    const result = await readStream(
      (signal) => api.turn.whatIf({ ...rest, ...(model && { model }) }, { signal }),
      stop,
      (part) => change(({ turns }) => ({ turns: turnsAfter(turns, part, Date.now()) })),
    );
    const problem = result?.stopped?.why === 'failed' ? result.stopped.what : undefined;
    if (result) change(({ turns }) => ({ state: 'done', result, turns: settled(turns, problem) }));
    else canceled();
  } catch (error) {
    change(({ turns }) => ({ state: 'failed', error, turns: settled(turns) }));
  }
  await refreshProject();
}
