import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { createORPCClient } from '@orpc/client';
import { RPCLink } from '@orpc/client/message-port';
import type { Port } from '../../src/main/engine/connection.js';
import { frontBehind } from '../../src/main/engine/front.js';
import type { ClientKind, ContractClient, EngineOptions } from '../../src/main/launch/index.js';

/** The threads of an engine, whose front runs on this thread. */
export interface Front {
  connect(caller?: ClientKind): ContractClient;
  /** Ends all connections. */
  disconnect(): void;
  /** Ends the engine. Returns its exit code. */
  stop(): Promise<number>;
  readonly ended: Promise<number>;
}

export async function startFront(options: EngineOptions): Promise<Front> {
  const ready = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<number>();
  const ports: { readonly own: MessagePort; readonly other: Port }[] = [];
  const tell = frontBehind(
    (message) => {
      if (message.kind === 'ready') ready.resolve();
      if (message.kind === 'failed') ready.reject(new Error(message.message));
    },
    (code) => {
      // The process or thread of an engine ends now, and its ports with it.
      for (const { other } of ports) other.close?.();
      ended.resolve(code);
    },
  );
  tell({ kind: 'start', options });
  await ready.promise;
  return {
    connect: (caller = 'script') => {
      const { port1, port2 } = new MessageChannel();
      const other = port2 as never as Port;
      ports.push({ own: port1, other });
      tell({ kind: 'connect', connection: ports.length, caller }, other);
      port1.start();
      return createORPCClient(new RPCLink({ port: port1 as never }));
    },
    disconnect: () => {
      for (const { own } of ports) own.close();
    },
    stop: () => {
      tell({ kind: 'stop' });
      return ended.promise;
    },
    ended: ended.promise,
  };
}
