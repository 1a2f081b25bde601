import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { ORPCError } from '@orpc/server';
import type { UpdateCheck } from '../../core/contract/index.js';
import type { Engine, EngineOptions, ReadingThreads, Session } from '../../core/project/index.js';
import type { FromEngine, ToEngine } from '../launch/index.js';
import { type Port, serveConnection } from './connection.js';
import { type Handlers, handle, openQuestions } from './messages.js';
import { startEngine } from './start.js';

/** What the thread that writes tells the threads that read. */
export interface PoolSide extends ReadingThreads {
  connected(connection: number, session: Session): void;
  /** A connection works in the project of this folder from now on. */
  using(connection: number, dir: string): void;
  ended(connection: number): void;
}

/** Answers the messages of a host with `say`. `ended` is called once, after the engine has closed its projects: the process may then end. */
export function engineBehind(say: (message: FromEngine) => void, ended: () => void, pool?: PoolSide): (message: ToEngine, port?: Port) => void {
  let engine: Engine | undefined;
  let options: { startup: EngineOptions['startup'] } | undefined;
  const relayed = new Map<number, MessagePort>();
  /** What only the host can ask of the operating system and of the app. */
  const secrets = openQuestions<string>();
  const updates = openQuestions<UpdateCheck>();
  const askFor = (act: 'seal' | 'unseal') => (text: string) => secrets.ask((number) => say({ kind: 'vault', number, act, text }));
  const vault = { seal: askFor('seal'), unseal: askFor('unseal') };
  const checkForUpdates = (): Promise<UpdateCheck> => updates.ask((number) => say({ kind: 'update', number }));

  /** Makes a port for a connection whose frames arrive as messages, so that it is served like every other connection. */
  function relay(connection: number): Port {
    const { port1, port2 } = new MessageChannel();
    relayed.set(connection, port2);
    port2.on('message', (frame) => say({ kind: 'frame', connection, frame }));
    port2.on('close', () => {
      if (relayed.delete(connection)) say({ kind: 'close', connection });
    });
    return port1;
  }

  const asked: Handlers<ToEngine, [port: Port | undefined]> = {
    start: (message) => {
      try {
        engine = startEngine({ ...message.options, readers: pool }, message.desktop && { ...message.desktop, vault, checkForUpdates });
        options = engine.options;
        say({ kind: 'ready' });
      } catch (error) {
        say({ kind: 'failed', message: error instanceof Error ? error.message : String(error) });
        ended();
      }
    },
    startup: ({ startup }) => {
      if (options) options.startup = startup;
    },
    vault: ({ number, text, problem = 'The operating system cannot store secrets here.' }) => {
      const question = secrets.take(number);
      if (text !== undefined) question?.resolve(text);
      else question?.reject(new ORPCError('UNAVAILABLE', { message: problem, status: 503 }));
    },
    update: ({ number, result }) => updates.take(number)?.resolve(result),
    connect: ({ connection, caller }, port) => {
      if (!engine) return;
      const session = serveConnection(engine, port ?? relay(connection), caller, ({ dir }) => pool?.using(connection, dir));
      pool?.connected(connection, session);
    },
    frame: ({ connection, frame }) => relayed.get(connection)?.postMessage(frame),
    close: ({ connection }) => {
      const end = relayed.get(connection);
      relayed.delete(connection);
      pool?.ended(connection);
      end?.close();
    },
    stop: () => {
      // A port that stays open keeps the thread alive.
      for (const port of relayed.values()) port.close();
      relayed.clear();
      engine?.close();
      engine = undefined;
      ended();
    },
  };
  return (message, port) => handle(asked, message, port);
}
