import { availableParallelism } from 'node:os';
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { systemClock } from '../base/index.js';
import { type AheadOrder, type FilesAhead, type FoundFile, type ReadAhead, readAhead, sentBytes } from '../import/index.js';

/** What a thread is given that reads files ahead. */
export interface AheadThread {
  readonly kind: 'ahead';
  readonly orders: readonly AheadOrder[];
  readonly port: MessagePort;
  /** The numbers that the threads share, at the positions named below (`nextOrder` and so on). */
  readonly shared: SharedArrayBuffer;
}

/** The next order that no thread has begun. */
const nextOrder = 0;
/** The orders before this one may be read: the writer has taken enough of the earlier ones. */
const endOfRoom = 1;
/** The number of answers so far. */
const answers = 2;
/** The number of threads that have begun. */
const begun = 3;
const numbers = 4;

interface Answer {
  readonly path: string;
  readonly read: ReadAhead | undefined;
}

/** One core writes. On two cores, a second thread would take memory and help little. */
const mostThreads = Math.min(4, Math.max(1, availableParallelism() - 1));

/** The bytes of files that are read and not stored yet. A large file is held without its bytes: it counts as a part. */
const mostBytes = 16 * 1024 * 1024;
const weightOf = ({ bytes }: Pick<AheadOrder, 'bytes'>): number => (bytes > sentBytes ? bytes / 8 : bytes);

/** The milliseconds that the writer waits for the answer to a file, and one more for each of so many bytes. */
const patienceMs = 20_000;
const bytesPerMs = 256;
/** The milliseconds that it waits for a thread to begin. */
const startMs = 5_000;

/** A thread discards most objects soon, as the writer does (worker.ts). */
const resourceLimits = { maxYoungGenerationSizeMb: 16 };

/**
 * Threads that read files before their turn. The writer is synchronous: it waits for answers without returning to its event loop. So do the threads.
 * The writer waits only for files that are being read: before that, it reads the next ones itself.
 * @param script the built `main/engine/work.ts`.
 */
export function filesAhead(script: string, orders: readonly AheadOrder[]): FilesAhead {
  const shared = new Int32Array(new SharedArrayBuffer(numbers * 4));
  const places = new Map(orders.map(({ path }, place) => [path, place]));
  const read = new Map<string, ReadAhead | undefined>();
  const taken = new Set<string>();
  const startsUntil = systemClock() + startMs;
  let [weight, room] = [0, 0];
  let isBroken = false;
  /** Lets the threads read as many orders as fit beside those that are not taken yet. Waking a thread costs time, so it is done for several. */
  const makeRoom = (): void => {
    if (room > 0 && weight > mostBytes * 0.8 && room - taken.size > mostThreads) return;
    for (let order = orders[room]; order && (weight < mostBytes || room - taken.size <= mostThreads); order = orders[++room])
      weight += weightOf(order);
    Atomics.store(shared, endOfRoom, room);
    Atomics.notify(shared, endOfRoom);
  };
  makeRoom();
  const threads = Array.from({ length: mostThreads }, () => {
    const { port1: port, port2 } = new MessageChannel();
    const workerData: AheadThread = { kind: 'ahead', orders, port: port2, shared: shared.buffer as SharedArrayBuffer };
    const worker = new Worker(script, { name: 'stemma-ahead', workerData, transferList: [port2], resourceLimits });
    worker.on('error', () => {
      isBroken = true;
    });
    worker.unref();
    return { worker, port };
  });
  const receive = (): void => {
    for (const { port } of threads)
      for (let got = receiveMessageOnPort(port); got; got = receiveMessageOnPort(port)) {
        const answer = got.message as Answer;
        read.set(answer.path, answer.read);
      }
  };
  const readNext = (): boolean => {
    const place = Atomics.load(shared, nextOrder);
    const order = place < room && Atomics.compareExchange(shared, nextOrder, place, place + 1) === place ? orders[place] : undefined;
    if (order) read.set(order.path, readAhead(order));
    return order !== undefined;
  };
  const isAsked = ({ path }: FoundFile): boolean => !taken.has(path) && (places.get(path) ?? room) < room;
  /** Waits for the answer to a file that was asked for, and reads others meanwhile. If none comes, the threads are given up. */
  const wait = (file: FoundFile): void => {
    const until = systemClock() + patienceMs + file.bytes / bytesPerMs;
    while (isAsked(file) && !isBroken && !read.has(file.path)) {
      const before = Atomics.load(shared, answers);
      receive();
      if (read.has(file.path)) return;
      if (readNext()) continue;
      const left = (Atomics.load(shared, begun) === 0 ? startsUntil : until) - systemClock();
      if (left <= 0) isBroken = true;
      else Atomics.wait(shared, answers, before, Math.min(left, 1_000));
    }
  };
  return {
    wait: (files) => files.forEach(wait),
    readNext,
    take(file) {
      if (!isAsked(file)) return undefined;
      wait(file);
      const result = read.get(file.path);
      read.delete(file.path);
      taken.add(file.path);
      weight -= weightOf(orders[places.get(file.path) as number] as AheadOrder);
      makeRoom();
      return result;
    },
    close() {
      // A thread that has not begun finds nothing to do and ends by itself: Node may crash if it is ended while it starts (nodejs/node#56312).
      Atomics.store(shared, nextOrder, orders.length);
      Atomics.store(shared, endOfRoom, orders.length);
      Atomics.notify(shared, endOfRoom);
      const haveBegun = Atomics.load(shared, begun) === threads.length;
      for (const { worker, port } of threads) {
        port.close();
        if (haveBegun) void worker.terminate();
      }
    },
  };
}

/** Reads files on this thread until all are read. The writer ends the thread when it needs no more. */
export function answerAhead({ orders, port, shared: buffer }: AheadThread): void {
  const shared = new Int32Array(buffer);
  Atomics.add(shared, begun, 1);
  Atomics.notify(shared, answers);
  for (;;) {
    const place = Atomics.add(shared, nextOrder, 1);
    const order = orders[place];
    if (!order) return;
    for (let room = Atomics.load(shared, endOfRoom); room <= place; room = Atomics.load(shared, endOfRoom)) Atomics.wait(shared, endOfRoom, room);
    const read = readAhead(order);
    port.postMessage({ path: order.path, read } satisfies Answer, read?.bytes ? [read.bytes.buffer as ArrayBuffer] : []);
    Atomics.add(shared, answers, 1);
    Atomics.notify(shared, answers);
  }
}
