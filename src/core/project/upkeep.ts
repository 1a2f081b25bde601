import { analysisIsDue, catchUpAnalysis, storeSums, sumsAreDue } from '../analysis/index.js';
import {
  graphMapIsDue,
  keepRestPoints,
  listIsDue,
  listPrincipals,
  type ReadChain,
  restIsDue,
  runSumsAreDue,
  storeGraphMap,
  storeRunSums,
  type WriteChain,
} from '../chain/index.js';
import { catchUpAnswers, pendingAnswers } from '../requests/index.js';
import { indexInPieces, pendingOf } from '../search/index.js';
import { pageIsDue, storeFirstPage } from '../sessions/index.js';
import { catchUpMeasures, contextsAreDue, pendingCommits } from '../usage/index.js';

/** Background work on an idle store: repacks older objects, caches results of long chains, and fills the tables that are derived from commits. */
export interface Upkeep {
  /** Reports a call. Work waits for the next idle time. */
  wake(): void;
  /** Continues the work that an earlier engine left, such as an index that is not complete. */
  resume(): void;
  /** Begins no work until it is resumed, and asks work in a thread to end. That thread has the project open until `isIdle`. */
  pause(): { readonly isIdle: () => boolean; readonly resume: () => void };
  /** Whether a thread works on the project. */
  isRunning(): boolean;
  close(): void;
}

export interface UpkeepTimes {
  /** Idle time before the work starts, and between its steps, in milliseconds. */
  readonly quiet: number;
  readonly between: number;
  /** How long after a call the derived tables of new commits are filled, in milliseconds, even if more calls follow. In a thread only. */
  readonly soon: number;
}

/** What a thread does: all of the work, or only the derived tables, which lists and searches wait for. */
export type UpkeepPart = 'upkeep' | 'derive';

/** Work for a project on which all upkeep is done, in another process. */
export interface IdleWork {
  isDue(): boolean;
  /** Does the work until the signal is aborted. */
  run(signal: AbortSignal): Promise<void>;
}

const defaultTimes: UpkeepTimes = { quiet: 10_000, between: 50, soon: 10_000 };
/** Minimum number of new objects. A block of few small objects saves little. */
const worthIt = { objects: 256, bytes: 4_000_000 };
/** Minimum age of objects, because a running turn gets more neighbors soon. */
const settledMs = 10_000;

/** Does the work in steps. With `shrink`, also returns free pages of the database to the disk, in one step that takes long. */
export function* tidyUp(chain: WriteChain, { shrink }: { readonly shrink: boolean }): Generator<undefined, void> {
  // Lists and searches wait for derived data, and nothing waits for the rest.
  yield* derive(chain);
  if (isWorthIt(chain)) yield* chain.artifacts.repack({ olderThanMs: settledMs, shrink });
  yield* keepRestPoints(chain);
  chain.db.shortenLogs();
}

/**
 * Fills the tables that are derived from commits: the sums of runs, the graph, the list by principal, the facts of usage, the search index, the
 * answers, the measures of contexts, and the first page of the graph.
 */
export function* derive(chain: WriteChain): Generator<undefined, void> {
  yield* storeRunSums(chain);
  yield* storeGraphMap(chain);
  if (listIsDue(chain)) chain.db.transaction(() => listPrincipals(chain));
  for (const _ of catchUpAnalysis(chain)) yield;
  storeSums(chain);
  yield;
  yield* indexInPieces(chain);
  for (const _ of catchUpAnswers(chain)) yield;
  for (const _ of catchUpMeasures(chain)) yield;
  storeFirstPage(chain);
}

const isDue = (chain: ReadChain): boolean =>
  isWorthIt(chain) ||
  restIsDue(chain) ||
  listIsDue(chain) ||
  runSumsAreDue(chain) ||
  graphMapIsDue(chain) ||
  pageIsDue(chain) ||
  isBehind(chain) ||
  analysisIsDue(chain) ||
  sumsAreDue(chain) ||
  contextsAreDue(chain);

/** Whether commits are not counted, indexed or listed yet. */
const isBehind = (chain: ReadChain): boolean => pendingCommits(chain, 1) > 0 || pendingOf(chain, 1) > 0 || pendingAnswers(chain, 1) > 0;

/** Whether an earlier engine, perhaps of another version, left something to derive. */
const isLeftOver = (chain: ReadChain): boolean =>
  isBehind(chain) || contextsAreDue(chain) || (sumsAreDue(chain) && chain.db.one('SELECT 1 FROM commits LIMIT 1') !== undefined);

function isWorthIt(chain: ReadChain): boolean {
  const { objects, bytes } = chain.artifacts.loose(worthIt.objects);
  return objects >= worthIt.objects || bytes >= worthIt.bytes;
}

/** Runs one part of the work elsewhere at a time. */
function openElsewhere<Part>(closed: AbortSignal, start: ((part: Part, signal: AbortSignal) => Promise<unknown>) | undefined, ended: () => void) {
  let running: AbortController | undefined;
  return {
    isRunning: () => running !== undefined,
    /** Asks the work to end after its current step. */
    stop: () => running?.abort(),
    run: (part: Part) => {
      const own = new AbortController();
      running = own;
      // The disk is full, or the work did not start: the next idle time tries again.
      void start?.(part, AbortSignal.any([closed, own.signal]))
        .then(ended, () => undefined)
        .finally(() => {
          running = undefined;
        });
    },
  };
}

/** Calls a function a time after the first request, and then after the next one, until it is closed. */
function delayed(ms: number, closed: AbortSignal, what: () => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  closed.addEventListener('abort', () => clearTimeout(timer), { once: true });
  const call = (): void => {
    timer = undefined;
    what();
  };
  return () => {
    if (!closed.aborted) timer ??= setTimeout(call, ms).unref();
  };
}

/** How long work waits while another process writes, in milliseconds. */
const againMs = 1_000;

type InThread = (part: UpkeepPart, signal: AbortSignal) => Promise<unknown>;

/**
 * Creates the upkeep of a project. Nothing runs before `wake`.
 * @param inThread runs `tidyUp` or `derive` in another thread. Without it, this thread runs it step by step.
 * @param last what is done when nothing else is left.
 */
export function openUpkeep(chain: WriteChain, times: UpkeepTimes = defaultTimes, inThread?: InThread, last?: IdleWork): Upkeep {
  const closing = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let work: Generator<undefined, unknown> | undefined;
  let isPaused = false;
  const plan = (ms: number, what: () => void): void => {
    clearTimeout(timer);
    if (closing.signal.aborted) return;
    timer = setTimeout(what, ms).unref();
  };
  const thread = openElsewhere(closing.signal, inThread, () => ended());
  const idle = openElsewhere(closing.signal, last && ((work: IdleWork, signal) => work.run(signal)), () => {
    // Another process was writing.
    if (last?.isDue()) plan(times.quiet, begin);
  });
  const begin = (): void => {
    if (thread.isRunning() || isPaused || chain.db.readonly) return;
    if (!isDue(chain)) {
      if (last?.isDue() && !idle.isRunning()) idle.run(last);
    } else if (inThread) thread.run('upkeep');
    else {
      work = tidyUp(chain, { shrink: false });
      step();
    }
  };
  /** A person who keeps working sees new commits in lists and searches, too. */
  const deriveLater = delayed(times.soon, closing.signal, () => {
    if (!thread.isRunning() && !isPaused && !chain.db.readonly && isBehind(chain)) thread.run('derive');
  });
  const deriveSoon = inThread ? deriveLater : () => {};
  const step = (): void => {
    try {
      // Another process writes: waiting for its lock would block this thread.
      if (!chain.db.isFree()) plan(againMs, step);
      else if (work?.next().done === false) plan(times.between, step);
      else ended();
    } catch {
      // The disk is full, or another process holds a transaction. The next idle time tries again.
      work = undefined;
    }
  };
  /** The remaining objects are too young. Try again when they are old enough. */
  const ended = (): void => {
    work = undefined;
    if (closing.signal.aborted) return;
    if (isWorthIt(chain)) plan(settledMs, begin);
    else if (last?.isDue()) plan(times.between, begin);
  };
  const resume = (): void => {
    if (chain.db.readonly) return;
    // What is due is asked then: it takes longer than a project should take to open.
    plan(times.quiet, () => void ((isLeftOver(chain) || last?.isDue()) && begin()));
    deriveSoon();
  };
  return {
    wake: () => {
      plan(times.quiet, work ? step : begin);
      deriveSoon();
    },
    resume,
    isRunning: thread.isRunning,
    pause: () => {
      isPaused = true;
      thread.stop();
      idle.stop();
      return {
        isIdle: () => !thread.isRunning() && !idle.isRunning(),
        resume: () => {
          isPaused = false;
          resume();
        },
      };
    },
    close: () => {
      closing.abort();
      clearTimeout(timer);
    },
  };
}
