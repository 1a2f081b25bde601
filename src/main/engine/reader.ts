import { parentPort, workerData } from 'node:worker_threads';
import { ResponseHeadersPlugin } from '@orpc/server/plugins';
import { type MinimalWebsocket, RPCHandler } from '@orpc/server/websocket';
import { errorOf, refusalIn, StemmaError, systemClock } from '../../core/base/index.js';
import {
  cacheShares,
  cacheSize,
  type OpenedForReading,
  openForReading,
  ownUsageSettings,
  type Reading,
  type ReadPlace,
  type ReadProject,
  requireProject,
  shareCaches,
} from '../../core/project/index.js';
import { router } from '../../core/router/index.js';
import type { Frame } from '../launch/index.js';
import { type Handlers, handle, openQuestions } from './messages.js';
import { type AidQuestion, type FromReader, mostReaders, type ReaderOrder, type ToReader } from './pool.js';

/** The most milliseconds that a read waits until the writer has stored the calls of new commits. */
const callsMs = 10;

interface Held extends OpenedForReading {
  calls: number;
}

/**
 * Carries out the calls that read, on a thread of their own whose connection SQLite opened read-only. Long because all messages share the open
 * project and the questions to the writer.
 */
export function readForFront(): void {
  const parent = parentPort;
  if (!parent) return;
  const order = workerData as ReaderOrder;
  const say = (message: FromReader): void => parent.postMessage(message);
  const handler = new RPCHandler(router, { plugins: [new ResponseHeadersPlugin()] });
  const sockets = new Map<number, MinimalWebsocket>();
  const asked = openQuestions<unknown>();
  let { place } = order;
  let opened: Held | undefined;
  /** Until the file of the project is replaced, nothing opens it here: SQLite cannot replace a file that is open. */
  let isLeft = false;
  /** The open project, and earlier ones that calls still read. */
  const all = new Set<Held>();
  let live: ReadonlySet<string> = new Set();
  const share = (projects: number): void => shareCaches(cacheShares.readers / mostReaders / projects);
  share(order.projects);

  const usageSettings = (): string | undefined => ownUsageSettings(order.dataDir);
  const hold = (at: ReadPlace): Held => {
    const held = openForReading(at, { clock: systemClock, usageSettings, live: () => live as ReturnType<ReadProject['live']> });
    const counted = { ...held, calls: 0 };
    all.add(counted);
    return counted;
  };
  /** Ends the use of the open project, unless calls still read it. */
  const leave = (): void => {
    const before = opened;
    opened = undefined;
    if (before?.calls === 0) close(before);
  };
  const close = (held: Held): void => {
    if (all.delete(held)) held.close();
  };
  const ask = (connection: number, question: AidQuestion): Promise<unknown> =>
    asked.ask((number) => say({ kind: 'ask', number, connection, question }));

  function readingFor(connection: number, using: (held: Held) => void): Reading {
    let held: Held | undefined;
    const openProject = (): ReadProject | undefined => {
      if (!place) return undefined;
      if (isLeft) throw new StemmaError('LOCKED', 'This project is being repaired; try again when the repair has ended.');
      // A repair by another process may have put another file in its place.
      if (opened && !opened.project.db.place.isSame()) leave();
      opened ??= hold(place);
      held = opened;
      using(held);
      return held.project;
    };
    return {
      openProject,
      project: () => requireProject(openProject()),
      agentRoots: order.agentRoots,
      checkOutput: async (path) => {
        if (path !== undefined) await ask(connection, { what: 'checkOutput', path });
      },
      prepare: async (derived) => {
        const prepared = ask(connection, { what: 'prepare', derived });
        // Without them, this thread reads the calls that it shows from their commits.
        await (derived === 'calls' ? Promise.race([prepared, new Promise((resolve) => setTimeout(resolve, callsMs))]) : prepared);
      },
      settle: async () => {
        const offers = held?.project.chain.offers.splice(0) ?? [];
        if (offers.length === 0) return;
        const stored = ask(connection, { what: 'keep', offers });
        // The rest only makes later reads faster.
        if (offers.some(({ kind }) => kind === 'object' || kind === 'result')) await stored;
        else stored.catch(() => {});
      },
      fetch: async (refusal) => {
        if (!(refusal instanceof StemmaError && refusal.data.reason === 'elsewhere')) return false;
        return (await ask(connection, { what: 'fetch', refusal: refusalIn(refusal) })) === true;
      },
    };
  }

  function take({ connection, frame, call }: Extract<ToReader, { kind: 'frame' }>): void {
    const socket =
      sockets.get(connection) ?? ({ send: (answer: unknown) => say({ kind: 'frame', connection, frame: answer as Frame }) } as MinimalWebsocket);
    sockets.set(connection, socket);
    const used = new Set<Held>();
    const using = (held: Held): void => {
      if (!used.has(held)) held.calls += 1;
      used.add(held);
    };
    const ended = (): void => {
      for (const held of used) if (--held.calls === 0 && held !== opened) close(held);
      say({ kind: 'ended', connection, call, size: cacheSize() });
    };
    // The engine refuses frames that cannot be read. The thread that answers passes only those of oRPC.
    handler.message(socket, frame as string, { context: { reading: readingFor(connection, using) } }).then(ended, ended);
  }

  const heard: Handlers<ToReader> = {
    frame: take,
    end: ({ connection }) => {
      const socket = sockets.get(connection);
      sockets.delete(connection);
      if (socket) handler.close(socket);
    },
    place: (message) => {
      // Calls that still read end on the connection that they began with.
      leave();
      isLeft = false;
      ({ place } = message);
    },
    live: ({ tips }) => {
      live = new Set(tips);
    },
    aided: ({ number, answer }) => {
      const question = asked.take(number);
      if ('result' in answer) question?.resolve(answer.result);
      else question?.reject(errorOf(answer.refused));
    },
    share: ({ projects }) => share(projects),
    leave: () => {
      // The file is about to be replaced, so nobody reads it any longer.
      isLeft = true;
      opened = undefined;
      for (const held of all) close(held);
      say({ kind: 'left' });
    },
  };
  parent.on('message', (message: ToReader) => handle(heard, message));
  say({ kind: 'ready' });
  // For each call, oRPC asks for the class of forms, with which Node loads its whole HTTP client: before the first call, if it has not come yet.
  setImmediate(() => Reflect.get(globalThis, 'FormData'));
}
