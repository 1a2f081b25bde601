import { Worker } from 'node:worker_threads';
import type { AgentRoot, ReadPlace } from '../../core/project/index.js';
import { built, type Frame } from '../launch/index.js';
import { answeredBy, type CallFrame } from './frames.js';
import { type Aid, type AidAnswer, type FromReader, mostReaders, type ReaderOrder, type ToReader } from './pool.js';

/** The threads that read one project. */
export interface Readers {
  /** Passes a call to a thread that is free, or else to the one with the fewest calls. */
  call(connection: number, call: CallFrame, frame: Frame): void;
  /** Passes on a message that belongs to an earlier call. */
  continue(connection: number, frame: Frame): void;
  /** Starts the first thread, so that the first call finds it running. */
  wake(): void;
  end(connection: number): void;
  /** Tells the threads that the project is elsewhere now, or that its access changed. */
  move(place: ReadPlace | undefined): void;
  live(tips: readonly string[]): void;
  aided(reader: number, number: number, answer: AidAnswer): void;
  /** Resolves when every thread has closed the project. The next call opens it again. */
  leave(): Promise<void>;
  close(): void;
}

export interface ReadersOptions {
  readonly dataDir: string;
  readonly agentRoots: readonly AgentRoot[];
  readonly place: ReadPlace | undefined;
  answer(connection: number, frame: Frame): void;
  ask(aid: Aid): void;
  /** Takes a call whose threads ended twice without an answer. */
  giveUp(connection: number, frame: Frame): void;
}

/** A thread ends after this time without a call. The first one stays while the project is open. */
const idleMs = 60_000;

interface Open {
  readonly connection: number;
  readonly frame: Frame;
  readonly call: CallFrame;
  /** The threads that ended while they carried it out. */
  readonly lost: number;
}

interface Reader {
  readonly number: number;
  readonly worker: Worker;
  /** The calls without an answer, by connection and number. */
  readonly open: Map<string, Open>;
  left: PromiseWithResolvers<void> | undefined;
  idle: NodeJS.Timeout | undefined;
}

/** Opens the threads that read a project. None starts before the first call. Long because all of it concerns the same list of threads. */
export function openReaders(options: ReadersOptions): Readers {
  const { answer, ask, giveUp } = options;
  let { place } = options;
  let tips: readonly string[] = [];
  let readers: Reader[] = [];
  let started = 0;
  let isClosed = false;

  const say = ({ worker }: Reader, message: ToReader): void => worker.postMessage(message);
  const all = (message: ToReader): void => readers.forEach((reader) => void say(reader, message));

  function start(): Reader {
    const { dataDir, agentRoots } = options;
    const worker = new Worker(built('engine', 'work.js'), {
      name: 'stemma-reader',
      workerData: { kind: 'reader', dataDir, agentRoots, place } satisfies ReaderOrder,
    });
    const reader: Reader = { number: ++started, worker, open: new Map(), left: undefined, idle: undefined };
    worker.on('message', (message: FromReader) => hear(reader, message));
    worker.on('error', () => {});
    worker.once('exit', () => lose(reader));
    if (tips.length > 0) say(reader, { kind: 'live', tips });
    readers = [...readers, reader];
    return reader;
  }

  function hear(reader: Reader, message: FromReader): void {
    if (message.kind === 'left') reader.left?.resolve();
    else if (message.kind === 'ask')
      ask({ reader: reader.number, number: message.number, connection: message.connection, question: message.question });
    else {
      const id = answeredBy(message.frame);
      if (id !== undefined) reader.open.delete(`${message.connection} ${id}`);
      answer(message.connection, message.frame);
      rest(reader);
    }
  }

  /** Ends a further thread after an idle time. */
  function rest(reader: Reader): void {
    clearTimeout(reader.idle);
    if (reader === readers[0]) return;
    reader.idle = setTimeout(() => {
      if (reader.open.size === 0) forget(reader);
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
    for (const { connection, frame, call, lost } of reader.open.values())
      if (lost > 0) giveUp(connection, frame);
      else give(connection, call, frame, lost + 1);
  }

  function give(connection: number, call: CallFrame, frame: Frame, lost = 0): void {
    const reader = chosen(call.about);
    clearTimeout(reader.idle);
    reader.open.set(`${connection} ${call.id}`, { connection, frame, call, lost });
    say(reader, { kind: 'frame', connection, frame });
  }

  /** Calls about the same context prefer the same thread, whose caches know it, unless it is busy. */
  function chosen(about: string): Reader {
    const preferred = readers[sumOf(about) % mostReaders];
    if (preferred?.open.size === 0) return preferred;
    const free = readers.find(({ open }) => open.size === 0);
    if (free) return free;
    if (readers.length < mostReaders) return start();
    return readers.reduce((least, reader) => (reader.open.size < least.open.size ? reader : least));
  }

  return {
    call: (connection, call, frame) => give(connection, call, frame),
    continue: (connection, frame) => all({ kind: 'frame', connection, frame }),
    wake: () => {
      if (readers.length === 0) start();
    },
    end: (connection) => {
      for (const reader of readers) for (const [name, call] of reader.open) if (call.connection === connection) reader.open.delete(name);
      all({ kind: 'end', connection });
    },
    move: (to) => {
      place = to;
      all({ kind: 'place', place });
    },
    live: (now) => {
      tips = now;
      all({ kind: 'live', tips });
    },
    aided: (reader, number, given) => {
      const asked = readers.find((each) => each.number === reader);
      if (asked) say(asked, { kind: 'aided', number, answer: given });
    },
    leave: async () => {
      await Promise.all(
        readers.map((reader) => {
          reader.left = Promise.withResolvers<void>();
          say(reader, { kind: 'leave' });
          return reader.left.promise;
        }),
      );
    },
    close: () => {
      isClosed = true;
      for (const reader of readers) forget(reader);
    },
  };
}

const sumOf = (text: string): number => [...text].reduce((sum, character) => (sum * 31 + character.charCodeAt(0)) % 65_521, 0);
