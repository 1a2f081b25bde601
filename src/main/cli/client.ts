import { createORPCClient } from '@orpc/client';
import { RPCLink } from '@orpc/client/message-port';
import { type ContractClient, type EngineOptions, engineOptions, hearDamage, startWorker } from '../launch/index.js';

export interface CliConnection {
  client: ContractClient;
  /** Whether opening a project converts it, for an engine on this thread: it then says nothing until it is done. */
  needsConversion?(dir: string): boolean;
  close(): void | Promise<void>;
}

/** Stores imports on this thread: a command waits for its import anyway, so another thread for that would only cost time. */
const options = (performs = false): EngineOptions => {
  const { worker, ...others } = engineOptions();
  return { ...others, ahead: worker, performs };
};

/** Starts an engine on this thread, which loads it only then. The caller closes it. */
export async function connect(): Promise<CliConnection> {
  const { engineHere } = await import('./own-engine.js');
  return engineHere(options());
}

/** Starts an engine on a thread of its own, so that this one hears signals. With `performs`, it also carries out due work. The caller closes it. */
export async function connectThread(performs = false): Promise<CliConnection> {
  const engine = await startWorker(options(performs));
  const port = engine.connect('script');
  port.start();
  const client: ContractClient = createORPCClient(new RPCLink({ port: port as never, clientInterceptors: [hearDamage] }));
  const close = async (): Promise<void> => {
    port.close();
    await engine.close();
  };
  return { client, close };
}
