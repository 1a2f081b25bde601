import { Worker } from 'node:worker_threads';
import { onMessagePortClose, onMessagePortMessage, postMessagePortMessage } from '@orpc/client/message-port';
import type { ReadPlace } from '../../core/project/index.js';
import type { ProcedureKind } from '../../core/router/index.js';
import { built, type ClientKind, type Frame, type FromEngine, maxFrameBytes, type ToEngine } from '../launch/index.js';
import { goFirst } from '../system/index.js';
import type { Port } from './connection.js';
import { readCall } from './frames.js';
import { type Handlers, handle } from './messages.js';
import type { FromWriter, ToWriter } from './pool.js';
import { openReaders, type Readers } from './readers.js';

/**
 * Milliseconds that threads get to close their projects before the engine ends. One that is starting gets more, because Node may crash if it is ended
 * before it has begun (nodejs/node#56312).
 */
const leaveMs = { running: 500, starting: 5_000 } as const;

/** Short reads of the first screen. It need not wait until a thread that reads has loaded, because the writer has. */
const firstScreen = new Set(['context.graph', 'context.show', 'project.info', 'session.list', 'session.place', 'turn.facts']);

/** A connection of a window or a script: where its answers go, and the project that it opened last. */
interface Connection {
  readonly send: (frame: Frame) => void;
  readonly end: () => void;
  dir: string | undefined;
}

/**
 * Answers the messages of a host on a thread that opens no database: it passes each call to a thread that reads or to the one that writes, and
 * the answers back. So it answers whatever an import or a long read is doing (S20, S25). `ended` is called once, after the writer has closed its
 * projects. Long because every message passes through the same connections.
 */
export function frontBehind(say: (message: FromEngine) => void, ended: (code: number) => void): (message: ToEngine, port?: Port) => void {
  const connections = new Map<number, Connection>();
  const readers = new Map<string, Readers>();
  const places = new Map<string, ReadPlace | undefined>();
  let kinds: Readonly<Record<string, ProcedureKind>> = {};
  let options: Extract<ToEngine, { kind: 'start' }>['options'] | undefined;
  let isStopping = false;

  goFirst();
  const writer = new Worker(built('engine', 'work.js'), { name: 'stemma-writer', workerData: { kind: 'writer' } });
  const tell = (message: ToWriter): void => writer.postMessage(message);
  writer.on('message', (message: FromWriter) => handle(heard, message));
  writer.on('error', (error: Error) => say({ kind: 'failed', message: error.message }));
  writer.once('exit', () => {
    for (const each of readers.values()) each.close();
    readers.clear();
    ended(isStopping ? 0 : 1);
  });

  /** The threads that read a project. The empty name stands for the files of this machine, without a project. */
  function readersOf(dir: string): Readers {
    const known = readers.get(dir);
    if (known) return known;
    const { dataDir = '', agentRoots = [] } = options ?? {};
    const made = openReaders({
      dataDir,
      agentRoots,
      place: places.get(dir),
      projects: readers.size + 1,
      answer: (connection, frame) => connections.get(connection)?.send(frame),
      ask: (aid) => tell({ kind: 'aid', dir, aid }),
      giveUp: (connection, frame) => tell({ kind: 'frame', connection, frame }),
    });
    readers.set(dir, made);
    for (const each of readers.values()) each.share(readers.size);
    return made;
  }

  const heard: Handlers<FromWriter> = {
    ready: (message) => {
      kinds = message.kinds;
      say({ kind: 'ready' });
    },
    frame: ({ connection, frame }) => connections.get(connection)?.send(frame),
    close: ({ connection }) => {
      connections.get(connection)?.end();
      connections.delete(connection);
    },
    using: ({ connection: number, dir }) => {
      const connection = connections.get(number);
      if (!connection) return;
      connection.dir = dir;
      if (places.get(dir) && !isStopping) readersOf(dir).wake();
    },
    place: ({ dir, place }) => {
      places.set(dir, place);
      readers.get(dir)?.move(place);
    },
    live: ({ dir, tips }) => readers.get(dir)?.live(tips),
    aided: ({ dir, reader, number, answer }) => readers.get(dir)?.aided(reader, number, answer),
    leave: ({ dir, number }) => (readers.get(dir)?.leave() ?? Promise.resolve()).then(() => tell({ kind: 'left', number })),
    caches: (message) => tell({ ...message, sizes: [...readers.values()].flatMap((each) => each.caches()) }),
    failed: (message) => {
      isStopping = true;
      say(message);
    },
    vault: say,
    update: say,
  };

  function take(connection: number, frame: unknown): void {
    const call = readCall(frame, maxFrameBytes);
    const { dir } = connections.get(connection) ?? {};
    // A message that belongs to an earlier call goes to every thread that may carry that call out.
    if (call === 'continues') {
      for (const each of readers.values()) each.continue(connection, frame as Frame);
      tell({ kind: 'frame', connection, frame: frame as Frame });
      return;
    }
    // No thread starts while the engine ends: the one that writes answers what still comes.
    const kind = call === undefined || isStopping ? undefined : kinds[call.path];
    const isRead = kind === 'reads' && dir !== undefined && places.get(dir) !== undefined;
    const isEarly = isRead && firstScreen.has(call?.path ?? '') && !readersOf(dir).haveLoaded();
    if (call && (isRead || kind === 'scans') && !isEarly)
      readersOf(isRead || (dir !== undefined && places.get(dir)) ? (dir as string) : '').call(connection, call, frame as Frame);
    else tell({ kind: 'frame', connection, frame: frame as Frame });
  }

  function connect(number: number, caller: ClientKind, port: Port | undefined): void {
    const connection: Connection = port
      ? { send: (frame) => postMessagePortMessage(port, frame), end: () => port.close?.(), dir: undefined }
      : { send: (frame) => say({ kind: 'frame', connection: number, frame }), end: () => say({ kind: 'close', connection: number }), dir: undefined };
    connections.set(number, connection);
    tell({ kind: 'connect', connection: number, caller });
    if (!port) return;
    onMessagePortMessage(port, (frame: unknown) => take(number, frame));
    onMessagePortClose(port, () => close(number));
    port.start?.();
  }

  function close(number: number): void {
    if (!connections.delete(number)) return;
    for (const each of readers.values()) each.end(number);
    tell({ kind: 'close', connection: number });
  }

  const asked: Handlers<ToEngine, [port: Port | undefined]> = {
    start: (message) => {
      ({ options } = message);
      tell(message);
    },
    connect: ({ connection, caller }, port) => connect(connection, caller, port),
    frame: ({ connection, frame }) => take(connection, frame),
    close: ({ connection }) => close(connection),
    stop: (message) => {
      isStopping = true;
      // The writer closes last, so that SQLite folds the logs into the files.
      const all = [...readers.values()];
      const time = leaveMs[all.some((each) => each.isStarting()) ? 'starting' : 'running'];
      const over = Promise.withResolvers<void>();
      const timer = setTimeout(over.resolve, time);
      void Promise.race([Promise.all(all.map((each) => each.leave())), over.promise]).then(() => {
        clearTimeout(timer);
        tell(message);
      });
    },
    startup: tell,
    vault: tell,
    update: tell,
  };
  return (message, port) => handle(asked, message, port);
}
