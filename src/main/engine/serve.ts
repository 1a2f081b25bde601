import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { Engine, EngineOptions, ReadingThreads, Session } from '../../core/project/index.js';
import type { FromEngine, ToEngine } from '../launch/index.js';
import { type Port, serveConnection } from './connection.js';
import { startEngine } from './start.js';
import { updatesOver } from './updates.js';
import { vaultOver } from './vault.js';

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
  const keys = vaultOver(say);
  const updates = updatesOver(say);

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

  return (message, port) => {
    switch (message.kind) {
      case 'start': {
        try {
          const desktop = message.desktop && { ...message.desktop, vault: keys.vault, checkForUpdates: updates.check };
          engine = startEngine({ ...message.options, readers: pool }, desktop);
          options = engine.options;
          say({ kind: 'ready' });
        } catch (error) {
          say({ kind: 'failed', message: error instanceof Error ? error.message : String(error) });
          ended();
        }
        return;
      }
      case 'startup':
        if (options) options.startup = message.startup;
        return;
      case 'vault':
        keys.answer(message);
        return;
      case 'update':
        updates.answer(message);
        return;
      case 'connect':
        if (engine) {
          const { connection } = message;
          const session = serveConnection(engine, port ?? relay(connection), message.caller, ({ dir }) => pool?.using(connection, dir));
          pool?.connected(connection, session);
        }
        return;
      case 'frame':
        relayed.get(message.connection)?.postMessage(message.frame);
        return;
      case 'close': {
        const end = relayed.get(message.connection);
        relayed.delete(message.connection);
        pool?.ended(message.connection);
        end?.close();
        return;
      }
      case 'stop':
        // A port that stays open keeps the thread alive.
        for (const port of relayed.values()) port.close();
        relayed.clear();
        engine?.close();
        engine = undefined;
        ended();
    }
  };
}
