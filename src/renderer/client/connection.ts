import type { ClientContext, ClientLink } from '@orpc/client';
import { createORPCClient } from '@orpc/client';
import type { ContractRouterClient } from '@orpc/contract';
import { create } from 'zustand';
import type { Contract } from '../../core/contract/index.js';
import type { Carrier, Line } from './carriers';

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
 * Every call of the window goes through here. A call that is made while there is no line waits for the next one;
 * a call that is under way when the line breaks is rejected, and whoever made it shows that.
 */
export const api: Client = createORPCClient<Client>({
  call: async (path, input, options) => (await opened.promise).call(path, input, options),
});

/** What has to be done on each new line before any other call goes out: opening the project of the address again. */
export function onNewLine(action: (client: Client) => Promise<void>): void {
  prepare = action;
}

/** Keeps one line open for as long as the window lives. */
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

async function serve(line: Line): Promise<void> {
  // A project that cannot be opened again is no reason to stay offline: the view that needs it says why.
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
