import { Worker } from 'node:worker_threads';
import type { Settled } from '../../core/base/index.js';
import type { CacheSize, ReadPlace } from '../../core/project/index.js';
import { built, type Frame } from '../launch/index.js';
import { answeredBy, beginsStream, brokenStream, type CallFrame, continued, eventIn, stoppedBy } from './frames.js';
import { type Aid, type FromReader, mostReaders, type ReaderOrder, type ToReader } from './pool.js';

export type Readers = ReturnType<typeof openReaders>;

export interface ReadersOptions extends Omit<ReaderOrder, 'kind'> {
  answer(connection: number, frame: Frame): void;
  ask(aid: Aid): void;
  /** Takes a call whose threads ended twice without an answer. */
  giveUp(connection: number, frame: Frame): void;
}

/** A thread ends after this time without a call. The first one stays while the project is open. */
const idleMs = 60_000;

/** Another thread starts when a call has waited this many milliseconds. Most calls end before a thread has started, which takes half a second of CPU. */
const patienceMs = 50;

interface Open {
  readonly connection: number;
  /** The call, and what its caller sent after it while it waited. */
  readonly frames: Frame[];
  readonly call: CallFrame;
  /** The threads that ended while they carried it out. */
  readonly lost: number;
  /** For a stream that has begun, its latest event. A thread that ends takes no stream with it: another one continues it. */
  readonly stream?: { latest: Frame | undefined };
}

interface Reader {
  readonly number: number;
  readonly worker: Worker;
  readonly open: Map<string, Open>;
  readonly streams: Map<string, Open & Required<Pick<Open, 'stream'>>>;
  isReady: boolean;
  left: PromiseWithResolvers<void> | undefined;
  cache: CacheSize | undefined;
  idle: NodeJS.Timeout | undefined;
}

/** Opens the threads that read a project. None starts before the first call. Long because all of it concerns the same list of threads. */
export function openReaders(options: ReadersOptions) {
  const { answer, ask, giveUp } = options;
  let { place, projects } = options;
  let tips: readonly string[] = [];
  let readers: Reader[] = [];
  /** The calls that no thread has taken yet, in their order. */
  let waiting: Open[] = [];
  let patience: NodeJS.Timeout | undefined;
  let started = 0;
  let isClosed = false;
  let isLeft = false;
  let hasLoaded = false;

  const say = ({ worker }: Reader, message: ToReader): void => worker.postMessage(message);
  const all = (message: ToReader): void => readers.forEach((reader) => void say(reader, message));

  function start(): Reader {
    const { dataDir, agentRoots } = options;
    const worker = new Worker(built('engine', 'work.js'), {
      name: 'stemma-reader',
      workerData: { kind: 'reader', dataDir, agentRoots, place, projects } satisfies ReaderOrder,
    });
    const reader: Reader = {
      number: ++started,
      worker,
      open: new Map(),
      streams: new Map(),
      isReady: false,
      left: undefined,
      cache: undefined,
      idle: undefined,
    };
    worker.on('message', (message: FromReader) => hear(reader, message));
    worker.on('error', () => {});
    worker.once('exit', () => lose(reader));
    if (tips.length > 0) say(reader, { kind: 'live', tips });
    readers = [...readers, reader];
    return reader;
  }

  function hear(reader: Reader, message: FromReader): void {
    if (message.kind === 'ready') {
      reader.isReady = true;
      hasLoaded = true;
      giveNext();
    } else if (message.kind === 'left') reader.left?.resolve();
    else if (message.kind === 'ended') {
      reader.cache = message.size;
      // A call that its caller stopped gets no answer.
      if (!reader.open.delete(`${message.connection} ${message.call}`)) return;
      giveNext();
      rest(reader);
    } else if (message.kind === 'ask')
      ask({ reader: reader.number, number: message.number, connection: message.connection, question: message.question });
    else {
      const id = answeredBy(message.frame);
      if (id !== undefined) answered(reader, message.connection, id, message.frame);
      else {
        noteEvent(reader, message.connection, message.frame);
        answer(message.connection, message.frame);
      }
      if (id !== undefined) giveNext();
      rest(reader);
    }
  }

  /** Passes the answer of a call on. A stream that another thread continues has been answered already. */
  function answered(reader: Reader, connection: number, id: string, frame: Frame): void {
    const name = `${connection} ${id}`;
    const call = reader.open.get(name);
    reader.open.delete(name);
    const begins = beginsStream(frame);
    if (call && begins) reader.streams.set(name, { ...call, lost: 0, stream: call.stream ?? { latest: undefined } });
    if (!call?.stream) answer(connection, frame);
    else if (!begins) answer(connection, brokenStream(id));
  }

  function noteEvent(reader: Reader, connection: number, frame: Frame): void {
    const event = eventIn(frame);
    const name = `${connection} ${event?.id}`;
    const found = event && reader.streams.get(name);
    if (found && event.isLast) reader.streams.delete(name);
    else if (found) found.stream.latest = frame;
  }

  function rest(reader: Reader): void {
    clearTimeout(reader.idle);
    if (reader === readers[0]) return;
    reader.idle = setTimeout(() => {
      if (reader.open.size === 0 && reader.streams.size === 0) forget(reader);
    }, idleMs).unref();
  }

  function forget(reader: Reader): void {
    readers = readers.filter((each) => each !== reader);
    void reader.worker.terminate();
  }

  /** A thread ended. Its calls only read, so another thread carries them out again; after two losses the writer does. */
  function lose(reader: Reader): void {
    readers = readers.filter((each) => each !== reader);
    reader.left?.resolve();
    if (isClosed) return;
    for (const each of reader.streams.values()) waiting.push({ ...each, frames: each.frames.map((frame) => continued(frame, each.stream.latest)) });
    for (const open of reader.open.values())
      if (open.lost === 0) waiting.push({ ...open, lost: 1 });
      else for (const frame of open.frames) giveUp(open.connection, frame);
    giveNext();
  }

  /** Gives the calls that wait to threads that are free, and watches that the rest does not wait long. */
  function giveNext(): void {
    if (isLeft) return;
    waiting = waiting.filter((open) => {
      const reader = free(open.call.about);
      if (reader) give(reader, open);
      return reader === undefined;
    });
    if (waiting.length > 0) patience ??= setTimeout(startAnother, patienceMs).unref();
  }

  function give(reader: Reader, open: Open): void {
    const { connection, call, frames } = open;
    clearTimeout(reader.idle);
    reader.open.set(`${connection} ${call.id}`, open);
    for (const [at, frame] of frames.entries()) say(reader, { kind: 'frame', connection, frame, call: at === 0 ? call.id : undefined });
  }

  /** Calls about the same context prefer the same thread, whose caches know it, unless it is busy. */
  function free(about: string): Reader | undefined {
    if (readers.length === 0) return start();
    const isFree = ({ isReady, open }: Reader): boolean => isReady && open.size === 0;
    const preferred = readers[hashText(about) % mostReaders];
    const idle = preferred && isFree(preferred) ? preferred : readers.find(isFree);
    if (idle || readers.length < mostReaders) return idle;
    const ready = readers.filter(({ isReady }) => isReady);
    return ready.length > 0 ? ready.reduce((least, reader) => (reader.open.size < least.open.size ? reader : least)) : undefined;
  }

  function startAnother(): void {
    patience = undefined;
    if (isLeft) return;
    if (waiting.length > 0 && readers.every(({ isReady }) => isReady)) start();
    giveNext();
  }

  return {
    /** Passes a call to a free thread. If none is free for a moment, another starts; at `mostReaders`, the one with the fewest calls takes it. */
    call: (connection: number, call: CallFrame, frame: Frame): void => {
      waiting.push({ connection, frames: [frame], call, lost: 0 });
      giveNext();
    },
    /** Passes on a message that belongs to an earlier call. */
    continue: (connection: number, frame: Frame): void => {
      const stopped = stoppedBy(frame);
      if (stopped !== undefined) for (const { streams } of readers) streams.delete(`${connection} ${stopped}`);
      for (const open of waiting) if (open.connection === connection) open.frames.push(frame);
      all({ kind: 'frame', connection, frame });
    },
    /** Starts the first thread, so that the first call finds it running. */
    wake: (): void => {
      if (readers.length === 0 && !isLeft) start();
    },
    end: (connection: number): void => {
      waiting = waiting.filter((open) => open.connection !== connection);
      for (const { open, streams } of readers)
        for (const calls of [open, streams]) for (const [name, call] of calls) if (call.connection === connection) calls.delete(name);
      all({ kind: 'end', connection });
      giveNext();
    },
    /** Tells the threads that the project is elsewhere now, or that its access changed. Calls that wait after `leave` are answered. */
    move: (to: ReadPlace | undefined): void => {
      place = to;
      isLeft = false;
      all({ kind: 'place', place });
      giveNext();
    },
    live: (now: readonly string[]): void => {
      tips = now;
      all({ kind: 'live', tips });
    },
    aided: (reader: number, number: number, given: Settled): void => {
      const asked = readers.find((each) => each.number === reader);
      if (asked) say(asked, { kind: 'aided', number, answer: given });
    },
    /** Resolves when every thread has closed the project. Calls wait until `move`. */
    leave: async (): Promise<void> => {
      isLeft = true;
      await Promise.all(
        readers.map((reader) => {
          reader.left = Promise.withResolvers<void>();
          say(reader, { kind: 'leave' });
          return reader.left.promise;
        }),
      );
    },
    /** Says how many projects have threads for reading, which share the memory for caches. */
    share: (given: number): void => {
      if (given !== projects) all({ kind: 'share', projects: given });
      projects = given;
    },
    /** Whether a thread has loaded since the project was opened, or the calls must wait for its file. */
    haveLoaded: (): boolean => hasLoaded || isLeft,
    isStarting: (): boolean => readers.some(({ isReady }) => !isReady),
    caches: (): CacheSize[] => readers.flatMap(({ cache }) => cache ?? []),
    close: (): void => {
      isClosed = true;
      clearTimeout(patience);
      for (const reader of readers) forget(reader);
    },
  };
}

const hashText = (text: string): number => [...text].reduce((sum, character) => (sum * 31 + character.charCodeAt(0)) % 65_521, 0);
