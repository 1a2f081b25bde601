import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { SupportedMessagePort } from '@orpc/client/message-port';
import { RPCHandler } from '@orpc/server/message-port';
import { createSession, type Engine, type EngineOptions } from '../../core/project/index.js';
import { router } from '../../core/router.js';
import type { FromEngine, ToEngine } from '../launch/index.js';
import { startEngine } from './start.js';
import { vaultOver } from './vault.js';

/** A port as each carrier has its own: Electron's, Node's, the browser's. */
type Port = SupportedMessagePort & { start?: () => void; close?: () => void };

const handler = new RPCHandler(router);

/** One connection: a session of its own on the engine, for as long as the port is open. */
function serve(engine: Engine, port: Port): void {
  const session = createSession(engine);
  handler.upgrade(port, { context: { session } });
  port.start?.();
}

/**
 * Answers a host's messages with an engine. `say` carries messages back; `ended` is called once when the engine has
 * closed its projects and the process may end.
 */
export function engineBehind(say: (message: FromEngine) => void, ended: () => void): (message: ToEngine, port?: Port) => void {
  let engine: Engine | undefined;
  let options: { startup: EngineOptions['startup'] } | undefined;
  const relayed = new Map<number, MessagePort>();
  const keys = vaultOver(say);

  /** A connection whose frames come as messages: given a port here, so that it is served like every other. */
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
          engine = startEngine(message.options, message.keepsKeys && keys.vault);
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
      case 'connect':
        if (engine) serve(engine, port ?? relay(message.connection));
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
