import { setImmediate } from 'node:timers/promises';
import { StemmaError, systemClock } from '../base/index.js';
import { type ImportInput, importPaths } from '../import/index.js';
import { type LongQuestion, loadTokenizer, longAnswers, readSettingsFrom } from '../usage/index.js';
import { type ReadOnly, requireWrite } from './access.js';
import { openFolder, type ProjectFolder } from './folder.js';
import { tidyUp } from './upkeep.js';

/** Long work in a project, done by a thread of its own. */
export type Work =
  | { readonly kind: 'import'; readonly input: ImportInput }
  | { readonly kind: 'upkeep' }
  /** Answers questions about tokens until it is stopped. */
  | { readonly kind: 'usage' };

/** A question about the tokens of a context. */
export interface Question {
  readonly number: number;
  readonly about: keyof typeof longAnswers;
  readonly question: LongQuestion;
  /** The text of a person's file of prices, limits and budgets. */
  readonly settings: string | undefined;
}

export interface WorkOrder {
  readonly dir: string;
  /** The expected project: another one may be in the folder when the thread opens it. */
  readonly projectId: string;
  readonly work: Work;
  /** The reason if the project is read-only. The thread then reads a copy of its database, too. */
  readonly readOnly?: ReadOnly | undefined;
  /** The folder of such copies. */
  readonly copies?: string | undefined;
}

/** The answer to a question, or the error that refused it. */
export type Answer = { readonly result: unknown } | { readonly refused: Refusal };

type Refusal = Pick<StemmaError, 'code' | 'message' | 'data'>;

/** A message from the thread. `begun` comes first, unless it cannot work at all; `result` or `refused` comes last. */
export type WorkMessage =
  | { readonly kind: 'begun' }
  | { readonly kind: 'event'; readonly event: unknown }
  | { readonly kind: 'answer'; readonly number: number; readonly result: Answer }
  | { readonly kind: 'result'; readonly result: unknown }
  | ({ readonly kind: 'refused' } & Refusal);

/**
 * Does the work on a connection of its own, and reports it. It ends after the current step when `isStopped` returns true. The connection is
 * closed before the last message. @throws any error that is a bug.
 */
export async function doWork(
  { dir, projectId, work, readOnly, copies }: WorkOrder,
  say: (message: WorkMessage) => void,
  isStopped: () => boolean,
  questions: AsyncIterable<Question> = none(),
): Promise<void> {
  say({ kind: 'begun' });
  try {
    const folder = openFolder(dir, systemClock, { copies, ...(readOnly && { restrict: () => readOnly }) });
    let result: unknown;
    try {
      result = await inFolder(folder);
    } finally {
      folder.close();
    }
    say({ kind: 'result', result });
  } catch (error) {
    say({ kind: 'refused', ...refusalIn(error) });
  }

  async function inFolder(folder: ProjectFolder): Promise<unknown> {
    if (folder.projectId !== projectId)
      throw new StemmaError('CONFLICT', `${dir} was replaced by another project. Nothing was written.`, { reason: 'replaced', path: dir });
    if (work.kind === 'usage') return await answerAll(folder, questions, say);
    requireWrite(folder.access);
    const steps = stepsOf(folder, work);
    for (;;) {
      const step = steps.next();
      if (step.done) return step.value;
      if (step.value !== undefined) say({ kind: 'event', event: step.value });
      // Messages are received between two steps.
      await setImmediate();
      if (isStopped()) return steps.return(undefined as never).value;
    }
  }
}

const stepsOf = ({ chain }: ProjectFolder, work: Exclude<Work, { readonly kind: 'usage' }>): Generator<unknown, unknown> =>
  work.kind === 'import' ? importPaths(chain, work.input) : tidyUp(chain, { shrink: true });

/** Converts an error into a message. @throws any error that is a bug. */
function refusalIn(error: unknown): Refusal {
  if (!(error instanceof StemmaError)) throw error;
  const { code, message, data } = error;
  return { code, message, data };
}

async function* none(): AsyncGenerator<Question> {}

async function answerAll({ chain }: ProjectFolder, questions: AsyncIterable<Question>, say: (message: WorkMessage) => void): Promise<void> {
  await loadTokenizer();
  let current: string | undefined;
  readSettingsFrom(chain, () => current);
  for await (const { number, about, question, settings } of questions) {
    current = settings;
    let result: Answer;
    try {
      result = { result: longAnswers[about](chain, question) };
    } catch (error) {
      result = { refused: refusalIn(error) };
    }
    say({ kind: 'answer', number, result });
  }
}
