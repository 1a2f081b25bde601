import { createORPCClient } from '@orpc/client';
import { RPCLink } from '@orpc/client/message-port';
import { createRouterClient } from '@orpc/server';
import { createSession, type EngineOptions } from '../../core/project/index.js';
import { router } from '../../core/router/index.js';
import { startEngine } from '../engine/index.js';
import type { ContractClient } from '../launch/index.js';
import { engineOptions, startWorker } from '../launch/index.js';

/** The contract, answered by an engine in this process. */
export interface Connection {
  client: ContractClient;
  close(): void | Promise<void>;
}

/** A command waits for its import anyway, and ends when it is done: another thread would only cost its start. */
const options = (performs = false): EngineOptions => ({ ...engineOptions(), worker: undefined, performs });

/** Starts an engine on this thread. The caller closes it. */
export function connect(): Connection {
  const engine = startEngine(options());
  const client = createRouterClient(router, { context: { session: createSession(engine) } }) as ContractClient;
  return { client, close: () => engine.close() };
}

/**
 * Starts an engine on a thread of its own, so that this thread hears signals whatever the engine does. The caller closes it. With `performs`,
 * the engine does what is due, and starts what policies allow.
 */
export async function connectThread(performs = false): Promise<Connection> {
  const engine = await startWorker(options(performs));
  const port = engine.connect('script');
  port.start();
  const client: ContractClient = createORPCClient(new RPCLink({ port: port as never }));
  const close = async (): Promise<void> => {
    port.close();
    await engine.close();
  };
  return { client, close };
}
