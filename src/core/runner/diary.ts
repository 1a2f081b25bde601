import type { ContextId } from '../base/index.js';
import type { Chain } from '../chain/index.js';
import type { JobEvent, RunLimits } from '../contract/index.js';
import { type Answer, answerTo, type Question, storeQuestion } from './asking.js';
import { type Happening, noteEvent, noteProgress } from './jobs.js';
import { type Meter, openMeter } from './limits.js';

/** Writes down what happens in a job, and tells those who follow it. */
export interface Diary {
  readonly meter: Meter;
  tell(happening: Happening): void;
  made(commit: ContextId | undefined): void;
  /** Asks a person. Waits until the answer comes, from this process or from another. @throws what ends the signal */
  ask(question: Question): Promise<Answer>;
  /** Looks for answers that another process has stored. */
  look(): void;
  /** Whether the process ends, so that nothing may be written. */
  isClosed(): boolean;
  close(): void;
  /** Stores what was told but is not complete. */
  save(): void;
  /** An event that is not stored. */
  last(happening: Happening): JobEvent;
}

interface Of {
  readonly jobId: string;
  readonly limits: RunLimits;
  readonly listeners: ReadonlySet<(event: JobEvent) => void>;
  readonly signal: AbortSignal;
}

/** Opens the diary of a job. Pieces of a text are told at once and stored as one event. */
export function openDiary(chain: Chain, { jobId, limits, listeners, signal }: Of): Diary {
  const meter = openMeter(chain, limits);
  const commits: ContextId[] = [];
  const waiting = new Map<string, (answer: Answer) => void>();
  let number = 0;
  let isClosed = false;
  let open: Happening | undefined;
  const progress = (): void => noteProgress(chain, jobId, meter.used, commits);
  const shown = (happening: Happening): JobEvent => ({ jobId, number, at: new Date(chain.clock()).toISOString() as JobEvent['at'], ...happening });
  const show = (event: JobEvent): void => {
    for (const listener of listeners) listener(event);
  };
  const save = (): void => {
    if (!open) return;
    noteEvent(chain, jobId, number++, open);
    open = undefined;
  };
  const tell = (happening: Happening): void => {
    const isPiece = happening.kind === 'text' || happening.kind === 'thinking';
    if (isPiece) {
      if (open?.kind !== happening.kind) save();
      show(shown(happening));
      open = { ...happening, text: (open?.text ?? '') + happening.text };
      return;
    }
    const event = chain.db.transaction(() => {
      save();
      progress();
      return noteEvent(chain, jobId, number++, happening);
    });
    show(event);
  };
  return {
    meter,
    save,
    tell,
    isClosed: () => isClosed,
    close: () => {
      isClosed = true;
    },
    last: shown,
    made(commit) {
      if (commit === undefined || commits.includes(commit)) return;
      commits.push(commit);
      progress();
    },
    look() {
      for (const [requestId, resolve] of waiting) {
        const answer = answerTo(chain, jobId, requestId);
        if (answer) resolve(answer);
      }
    },
    ask: (question) =>
      new Promise((resolve, reject) => {
        const stop = (): void => {
          waiting.delete(question.requestId);
          reject(signal.reason);
        };
        if (signal.aborted) return stop();
        signal.addEventListener('abort', stop, { once: true });
        waiting.set(question.requestId, (answer) => {
          waiting.delete(question.requestId);
          signal.removeEventListener('abort', stop);
          resolve(answer);
        });
        storeQuestion(chain, jobId, question);
        tell({ kind: 'question', text: question.arguments, toolName: question.toolName, requestId: question.requestId });
      }),
  };
}
