import type { ClientContext, ClientLink } from '@orpc/client';
import { RPCLink as PortLink } from '@orpc/client/message-port';
import { RPCLink as SocketLink } from '@orpc/client/websocket';
import { hearDamage } from './damage';

/** One open connection to the engine. `closed` resolves once, when the connection ends, with the reason if it is known. */
export interface EngineLine {
  readonly link: ClientLink<ClientContext>;
  readonly closed: Promise<string | undefined>;
  close(): void;
}

/** Opens a new connection to the engine on each call, and rejects when that fails. */
export type Carrier = () => Promise<EngineLine>;

const openTimeoutMs = 15_000;

/** In the desktop app: a message port from the preload script, identified by our nonce. */
const bridgeCarrier: Carrier = () => {
  const bridge = window.stemma;
  if (!bridge) return Promise.reject(new Error('There is no desktop shell around this window.'));
  const nonce = crypto.randomUUID();
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      window.removeEventListener('message', receive);
      reject(new Error('The engine did not answer within 15 seconds.'));
    }, openTimeoutMs);
    const receive = (event: MessageEvent) => {
      if (event.data !== `stemma-port:${nonce}`) return;
      window.removeEventListener('message', receive);
      clearTimeout(timer);
      const port = event.ports[0];
      if (!port) return reject(new Error('The shell answered without a port.'));
      resolve(portLine(port));
    };
    window.addEventListener('message', receive);
    bridge.requestPort(nonce);
  });
};

function portLine(port: MessagePort): EngineLine {
  const closed = new Promise<string | undefined>((resolve) => {
    port.addEventListener('close', () => resolve('The engine process ended.'), { once: true });
  });
  const link = new PortLink({ port, clientInterceptors: [hearDamage] });
  port.start();
  return { link, closed, close: () => port.close() };
}

/** In a browser: a WebSocket to the page's own origin, with the cookie of the page. */
const socketCarrier: Carrier = () =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(`${location.origin.replace(/^http/, 'ws')}/rpc`);
    socket.binaryType = 'arraybuffer';
    const timer = setTimeout(() => socket.close(), openTimeoutMs);
    const closed = new Promise<string | undefined>((settle) => {
      socket.addEventListener(
        'close',
        (event) => {
          clearTimeout(timer);
          reject(new Error(event.reason || 'The engine does not answer on this address.'));
          settle(event.reason || undefined);
        },
        { once: true },
      );
    });
    // The link is attached before the socket opens, so that no message is missed.
    const link = new SocketLink({ websocket: socket, clientInterceptors: [hearDamage] });
    socket.addEventListener(
      'open',
      () => {
        clearTimeout(timer);
        resolve({ link, closed, close: () => socket.close() });
      },
      { once: true },
    );
  });

/** The carrier of this window: the shell's port in the desktop app, else a WebSocket. */
export const carrierOfThisWindow = (): Carrier => (window.stemma ? bridgeCarrier : socketCarrier);
