import type { ContextId } from '../base/index.js';
import type { WriteChain } from '../chain/index.js';
import type { JobEvent, RunLimits } from '../contract/index.js';
import { answerTo, type JobQuestion, type PersonAnswer, storeQuestion } from './asking.js';
import { type Happening, noteEvent, noteProgress } from './jobs.js';
import { type Meter, openMeter } from './limits.js';

/** Stores the events of a job and passes them to followers. */
export interface Diary {
  readonly meter: Meter;
  tell(happening: Happening): void;
  made(commit: ContextId | undefined): void;
  /** Asks a person and waits for the answer, which may come from another process. @throws the signal's reason if it aborts */
  ask(question: JobQuestion): Promise<PersonAnswer>;
  /** Checks for answers that another process has stored, and stores a text that has grown. Call it regularly. */
  look(): void;
  /** True if the process is ending, so that nothing may be written. */
  isClosed(): boolean;
  close(): void;
  save(): void;
  /** Passes on an event without storing it. */
  last(happening: Happening): JobEvent;
}

/** Milliseconds between two writes of an incomplete text, so that every window can show it. A long text is written less often. */
const keepMs = 1_000;
/** A text above this length is written again only after it has grown by a tenth. */
const shortText = 100_000;

interface Of {
  readonly jobId: string;
  readonly limits: RunLimits;
  readonly listeners: ReadonlySet<(event: JobEvent) => void>;
  readonly signal: AbortSignal;
}

/** The questions of a job that wait for a person. `look` checks for stored answers. */
function openWaiting(chain: WriteChain, { jobId, signal }: Of, tell: Diary['tell']): Pick<Diary, 'ask' | 'look'> {
  const waiting = new Map<string, (answer: PersonAnswer) => void>();
  const timesAsked = new Map<string, number>();
  return {
    look() {
      for (const [requestId, resolve] of waiting) {
        const answer = answerTo(chain, jobId, requestId);
        if (answer) resolve(answer);
      }
    },
    async ask(asked) {
      signal.throwIfAborted();
      // An agent chooses its ids: with that of an earlier question, an answer to that one would permit this one.
      const times = (timesAsked.get(asked.requestId) ?? 0) + 1;
      timesAsked.set(asked.requestId, times);
      const requestId = times === 1 ? asked.requestId : `${asked.requestId}#${times}`;
      const { promise, resolve, reject } = Promise.withResolvers<PersonAnswer>();
      const stop = (): void => reject(signal.reason);
      try {
        signal.addEventListener('abort', stop, { once: true });
        waiting.set(requestId, resolve);
        storeQuestion(chain, jobId, { ...asked, requestId });
        tell({ kind: 'question', text: asked.arguments, toolName: asked.toolName, requestId });
        return await promise;
      } finally {
        waiting.delete(requestId);
        signal.removeEventListener('abort', stop);
      }
    },
  };
}

/** Opens the diary of a job. It streams each piece of a text at once, and stores the text as one growing event. */
export function openDiary(chain: WriteChain, of: Of): Diary {
  const { jobId, limits, listeners } = of;
  const meter = openMeter(chain, limits);
  const commits: ContextId[] = [];
  let [number, isClosed] = [0, false];
  let open: Happening | undefined;
  const kept = { at: 0, size: 0 };
  const progress = (): void => noteProgress(chain, jobId, meter.used, commits);
  const shown = (happening: Happening): JobEvent => ({ jobId, number, at: new Date(chain.clock()).toISOString() as JobEvent['at'], ...happening });
  const show = (event: JobEvent): void => {
    for (const listener of listeners) listener(event);
  };
  const keep = (): void => {
    const size = open?.text.length ?? 0;
    if (!open || isClosed || size === kept.size || chain.clock() - kept.at < keepMs || (size > shortText && size < kept.size * 1.1)) return;
    noteEvent(chain, jobId, number, open);
    Object.assign(kept, { at: chain.clock(), size });
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
      if (!open) Object.assign(kept, { at: chain.clock(), size: 0 });
      open = { ...happening, text: (open?.text ?? '') + happening.text };
      keep();
      return;
    }
    const event = chain.db.transaction(() => {
      save();
      progress();
      return noteEvent(chain, jobId, number++, happening);
    });
    show(event);
  };
  const waiting = openWaiting(chain, of, tell);
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
      keep();
      waiting.look();
    },
    ask: waiting.ask,
  };
}
