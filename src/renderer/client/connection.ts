import type { ClientContext, ClientLink } from '@orpc/client';
import { createORPCClient } from '@orpc/client';
import type { ContractRouterClient } from '@orpc/contract';
import { create } from 'zustand';
import type { Contract } from '../../core/contract/index.js';
import type { Carrier, EngineLine } from './carriers';
import { askToWrite, fileToConfirm } from './write-permission';

export type Client = ContractRouterClient<Contract>;

export type ConnectionState =
  | { readonly phase: 'connecting'; readonly attempt: number }
  | { readonly phase: 'open' }
  | { readonly phase: 'lost'; readonly attempt: number; readonly reason: string; readonly retryAt: number };

export const useConnection = create<{ state: ConnectionState; retry: () => void }>(() => ({
  state: { phase: 'connecting', attempt: 0 },
  retry: () => {},
}));

let opened: PromiseWithResolvers<ClientLink<ClientContext>> = Promise.withResolvers();
let prepare: (client: Client) => Promise<void> = async () => {};

/**
 * The engine's procedures. A call made while the window is disconnected waits for the next connection. A call that is running when the connection
 * breaks is rejected, and its caller shows the error. A call that needs a person's permission to write a file asks for it and is then repeated.
 */
export const api: Client = createORPCClient<Client>({
  call: async (path, input, options) => {
    const link = await opened.promise;
    try {
      return await link.call(path, input, options);
    } catch (error) {
      const file = fileToConfirm(error);
      if (!file) throw error;
      if (!(await askToWrite(file))) throw new Error(`You did not allow Stemma to write ${file.path}.`);
      await link.call(['library', 'allowWrite'], { path: file.path }, options);
      return link.call(path, input, options);
    }
  },
});

/** Sets the function that runs on each new connection before any other call. It opens the project of the address again. */
export function onNewLine(action: (client: Client) => Promise<void>): void {
  prepare = action;
}

/** Keeps one connection open while the window exists, and reconnects with growing pauses. */
export async function connect(carrier: Carrier): Promise<never> {
  for (let attempt = 0; ; attempt++) {
    useConnection.setState({ state: { phase: 'connecting', attempt } });
    const reason = await carrier().then(
      async (line) => {
        await serve(line);
        attempt = 0;
        return line.closed;
      },
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    opened = Promise.withResolvers();
    await pause(reason ?? 'The connection to the engine was closed.', attempt);
  }
}

async function serve(line: EngineLine): Promise<void> {
  // If the project cannot be opened again, the connection stays open and the view shows the reason.
  await prepare(createORPCClient<Client>(line.link)).catch(() => {});
  opened.resolve(line.link);
  useConnection.setState({ state: { phase: 'open' } });
}

function pause(reason: string, attempt: number): Promise<void> {
  const wait = Math.min(15_000, 400 * 2 ** attempt);
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, wait);
    useConnection.setState({
      state: { phase: 'lost', attempt, reason, retryAt: Date.now() + wait },
      retry: () => {
        clearTimeout(timer);
        resolve();
      },
    });
  });
}
