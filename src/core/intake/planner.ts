import { availableParallelism } from 'node:os';
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import type { Clock } from '../base/index.js';
import type { PlannedFile, PlanRequest, SentCommit } from './planning.js';

/**
 * Threads that read and plan files while this one stores those before them. A thread that does not start, or breaks, is as if there were
 * none: whoever asked plans by himself.
 */
export interface Planner {
  /** Hands a file to a thread; undefined where there is none any more. The first question starts them. */
  ask(request: Omit<PlanRequest, 'id'>): Asked | undefined;
  close(): void;
}

export interface Asked {
  /** Waits for the answer, but no longer than so many milliseconds: then it is `pending`. Undefined where no plan comes of it. */
  answer(ms: number): Planned | 'pending' | undefined;
}

/** A file with its commits, which are there once, in order. */
export interface Planned extends PlannedFile {
  readonly commits: Iterable<SentCommit>;
  /** Lets go of commits that nobody took. */
  close(): void;
}

/** What a thread says of a file. Nothing for what is no plain file of a known format: whoever asked looks at it, and says what is wrong. */
interface PlanAnswer {
  readonly id: number;
  readonly file?: PlannedFile;
  readonly commits?: MessagePort;
}

/** Two files at a time: a third thread would mostly wait for the one that stores, and each holds what it reads. */
const mostThreads = 2;
/** Who asks nothing for so long needs no threads. */
const idleMs = 10_000;
/** A start or a plan that takes longer is not waited for: the thread may be gone without a word. */
const startMs = 10_000;
const planMs = 60_000;
/**
 * What a thread may allocate: more would only let more garbage lie. A file for which this is too little ends the thread, and is planned by
 * who stores it.
 */
const memory = { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 512 };

interface Thread {
  readonly worker: Worker;
  readonly port: MessagePort;
  readonly open: Set<number>;
  isReady: boolean;
  isGone: boolean;
  readonly begunAt: number;
}

/** `entry` is the built `plan-worker.ts`. Nothing runs before the first question. */
export function openPlanner(entry: string, clock: Clock, threads = Math.min(mostThreads, availableParallelism())): Planner {
  const signal = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const answers = new Map<number, Planned | undefined>();
  let crew: Thread[] = [];
  let lastId = 0;
  let idle: NodeJS.Timeout | undefined;

  const end = (): void => {
    clearTimeout(idle);
    for (const { worker, port } of crew) {
      port.close();
      void worker.terminate();
    }
    crew = [];
  };

  const begin = (): Thread => {
    const { port1: port, port2 } = new MessageChannel();
    const worker = new Worker(entry, { name: 'stemma-planner', resourceLimits: memory });
    const thread: Thread = { worker, port, open: new Set(), isReady: false, isGone: false, begunAt: clock() };
    const leave = (): void => {
      thread.isGone = true;
    };
    worker.on('error', leave);
    worker.on('exit', leave);
    worker.unref();
    port.unref();
    worker.postMessage({ port: port2, signal }, [port2]);
    return thread;
  };

  /** Takes what the threads have said, without turning the event loop. */
  const listen = (): void => {
    for (const thread of crew)
      for (let said = receiveMessageOnPort(thread.port); said; said = receiveMessageOnPort(thread.port)) {
        const message = said.message as 'ready' | PlanAnswer;
        if (message === 'ready') {
          thread.isReady = true;
          continue;
        }
        thread.open.delete(message.id);
        answers.set(message.id, plannedIn(message));
      }
  };

  return {
    ask(request) {
      clearTimeout(idle);
      idle = setTimeout(end, idleMs).unref();
      listen();
      // Another thread is worth its start only where those that there are have something to do.
      if (crew.length < threads && crew.every(({ open, isGone }) => open.size > 0 && !isGone)) crew.push(begin());
      const thread = crew.filter(({ isGone }) => !isGone).toSorted((a, b) => a.open.size - b.open.size)[0];
      if (!thread) return undefined;
      const id = ++lastId;
      const until = clock() + planMs;
      thread.open.add(id);
      thread.port.postMessage({ ...request, id } satisfies PlanRequest);
      return {
        answer(ms) {
          const before = Atomics.load(signal, 0);
          listen();
          if (!answers.has(id) && !thread.isGone) {
            Atomics.wait(signal, 0, before, ms);
            listen();
          }
          if (answers.has(id)) {
            const file = answers.get(id);
            answers.delete(id);
            return file;
          }
          idle?.refresh();
          const now = clock();
          if (now > until || (!thread.isReady && now > thread.begunAt + startMs)) thread.isGone = true;
          return thread.isGone ? undefined : 'pending';
        },
      };
    },
    close: end,
  };
}

const plannedIn = ({ file, commits }: PlanAnswer): Planned | undefined =>
  file && commits && { ...file, commits: commitsFrom(commits), close: () => commits.close() };

function* commitsFrom(port: MessagePort): Generator<SentCommit> {
  for (let said = receiveMessageOnPort(port); said; said = receiveMessageOnPort(port)) yield* said.message as readonly SentCommit[];
}
