import { availableParallelism } from 'node:os';
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import type { Clock } from '../base/index.js';
import type { ReadCalls } from '../requests/index.js';
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
  /** Nobody will take the answer. */
  drop(): void;
}

/** A file with its commits, which come once, in order, as far as the thread is ahead. @throws PlanLost where no more come of them. */
export interface Planned extends PlannedFile {
  readonly commits: Iterable<SentCommit>;
  /** What was read of it here meanwhile. */
  readonly calls?: ReadCalls | undefined;
  /** Lets go of commits that nobody took, and of the thread that makes them. */
  close(): void;
}

/** A thread said how a file begins, and went away. */
export class PlanLost extends Error {}

/** What a thread says of a file. Nothing for what is no plain file of a known format: whoever asked looks at it, and says what is wrong. */
export interface PlanAnswer {
  readonly id: number;
  readonly planned?: { readonly file: PlannedFile; readonly commits: MessagePort; readonly taken: Int32Array<SharedArrayBuffer> } | undefined;
}

/** What a file's port brings: commits, and how they end. Of these messages, `taken` counts those that were. */
export type Said = readonly SentCommit[] | 'whole' | 'broken';

/** Two files at a time: a third thread would mostly wait for the one that stores, and each holds what it reads. */
const mostThreads = 2;
/** Who asks nothing for so long needs no threads. */
const idleMs = 10_000;
/** A start or a plan that takes longer is not waited for: the thread may be gone without a word. */
const startMs = 10_000;
const planMs = 60_000;
/** Nor is a thread that has begun with a file and says no more of it. */
const silentMs = 20_000;
/** So many messages count as taken where nobody wants any more. */
const all = 2 ** 30;
/**
 * What a thread may allocate: more would only let more garbage lie. A file for which this is too little ends the thread, and is planned by
 * who stores it.
 */
const memory = { maxYoungGenerationSizeMb: 48, maxOldGenerationSizeMb: 512 };

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
  const dropped = new Set<number>();
  let crew: Thread[] = [];
  let lastId = 0;
  let idle: NodeJS.Timeout | undefined;

  const end = (): void => {
    clearTimeout(idle);
    for (const thread of crew) {
      thread.isGone = true;
      thread.port.close();
      void thread.worker.terminate();
    }
    crew = [];
    answers.clear();
    dropped.clear();
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
        const planned = plannedIn(message);
        if (dropped.delete(message.id)) planned?.close();
        else answers.set(message.id, planned);
      }
  };

  const plannedIn = ({ planned }: PlanAnswer): Planned | undefined => {
    if (!planned) return undefined;
    const { file, commits: port, taken } = planned;
    const take = (count: number): void => {
      Atomics.add(taken, 0, count);
      Atomics.notify(taken, 0);
    };
    const close = (): void => {
      take(all);
      port.close();
    };
    return { ...file, commits: commitsFrom(port, take), close };
  };

  function* commitsFrom(port: MessagePort, take: (count: number) => void): Generator<SentCommit> {
    for (let said = next(port); said !== 'whole'; said = next(port)) {
      if (said === 'broken') throw new PlanLost();
      take(1);
      yield* said;
    }
  }

  const next = (port: MessagePort): Said => {
    for (const until = clock() + silentMs; ; ) {
      const before = Atomics.load(signal, 0);
      const said = receiveMessageOnPort(port)?.message as Said | undefined;
      idle?.refresh();
      if (said !== undefined) return said;
      if (clock() > until) throw new PlanLost();
      Atomics.wait(signal, 0, before, silentMs);
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
        drop() {
          listen();
          answers.get(id)?.close();
          if (!answers.delete(id)) dropped.add(id);
        },
      };
    },
    close: end,
  };
}
