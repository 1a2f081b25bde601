import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { Engine, EngineOptions } from '../../core/project/index.js';
import type { FromEngine, ToEngine } from '../launch/index.js';
import { type Port, serveConnection } from './connection.js';
import { startEngine } from './start.js';
import { updatesOver } from './updates.js';
import { vaultOver } from './vault.js';

/**
 * Answers the messages of a host. `say` sends messages back. `ended` is called once, after the engine has closed its projects; then the process may
 * end.
 */
export function engineBehind(say: (message: FromEngine) => void, ended: () => void): (message: ToEngine, port?: Port) => void {
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
          engine = startEngine(message.options, message.desktop && { ...message.desktop, vault: keys.vault, checkForUpdates: updates.check });
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
        if (engine) serveConnection(engine, port ?? relay(message.connection), message.caller);
        return;
      case 'frame':
        relayed.get(message.connection)?.postMessage(message.frame);
        return;
      case 'close': {
        const end = relayed.get(message.connection);
        relayed.delete(message.connection);
        end?.close();
        return;
      }
      case 'stop':
        engine?.close();
        engine = undefined;
        ended();
    }
  };
}
