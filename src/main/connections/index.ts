// connections: what every server of Stemma allows a connection that does not get ahead. Clients which open many connections, or send a byte
// now and then, would use up what others need. Node bounds the time of a request; it bounds neither the number of silent connections nor
// the speed of a body.
import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, Server } from 'node:http';
import type { AddressInfo, Server as NetServer } from 'node:net';

/** What a server allows a connection that does not get ahead. Times are in milliseconds. */
export interface SlowLimits {
  /** Until all headers of a request have arrived. */
  readonly headersMs: number;
  /** Until a whole request has arrived. */
  readonly requestMs: number;
  /** Between two looks at these times. */
  readonly checkMs: number;
  /** Connections without a request that is being answered. A further one ends the oldest of them. */
  readonly silent: number;
}

/** The limits of a server that anybody can reach. */
export const slowLimits: SlowLimits = { headersMs: 20_000, requestMs: 300_000, checkMs: 5_000, silent: 300 };

/** The options of `createServer` for these limits. */
export const serverOptions = ({ headersMs, requestMs, checkMs }: SlowLimits = slowLimits) => ({
  headersTimeout: headersMs,
  requestTimeout: requestMs,
  connectionsCheckingInterval: checkMs,
});

/**
 * Limits the connections without a request that is being answered: many of them would keep out everybody else. A new connection ends the oldest one,
 * because a client that means it sends its request at once.
 * @param changesProtocol true if the server takes upgrades. A listener on any other server would make Node hand over each connection that asks for
 *   one, and nobody would answer it, end it or notice its errors.
 */
export function limitSilent(server: Pick<Server, 'on'>, { silent: most }: Pick<SlowLimits, 'silent'> = slowLimits, changesProtocol = false): void {
  const silent = new Map<string, { destroy(): unknown }>();
  // With TLS, the connection and the socket of its requests are two objects with one address.
  const remoteName = ({ remoteAddress, remotePort }: Pick<IncomingMessage['socket'], 'remoteAddress' | 'remotePort'>): string =>
    `${remoteAddress} ${remotePort}`;
  const add = (name: string, socket: { destroy(): unknown }): void => {
    silent.set(name, socket);
    for (const [oldest, other] of silent) {
      if (silent.size <= most) break;
      silent.delete(oldest);
      other.destroy();
    }
  };
  server.on('connection', (socket) => {
    const name = remoteName(socket);
    add(name, socket);
    socket.once('close', () => silent.delete(name));
  });
  const answers = ({ socket }: IncomingMessage): string => {
    const name = remoteName(socket);
    silent.delete(name);
    return name;
  };
  server.on('request', (request, response) => {
    const name = answers(request);
    response.once('close', () => {
      if (!request.socket.destroyed) add(name, request.socket);
    });
  });
  if (changesProtocol) server.on('upgrade', answers);
}

/** Milliseconds that any body may take, and bytes that arrive in each further millisecond at least: 16 KiB in a second. */
const slowest = { graceMs: 30_000, bytesPerMs: 16 };

/**
 * Ends a connection whose body arrives more slowly than any network that works. Call it when the body begins to be read, and the returned function
 * when it has been read.
 * @param bytes the announced length of the body, or the most that it may have
 */
export function endIfSlow({ socket }: Pick<IncomingMessage, 'socket'>, bytes: number, { graceMs, bytesPerMs } = slowest): () => void {
  const timer = setTimeout(() => socket.destroy(), graceMs + bytes / bytesPerMs);
  timer.unref();
  return () => clearTimeout(timer);
}

/**
 * Reads the body of a request. The connection stays open on a refusal, so that the refusal can still be sent.
 * @param most the most bytes of the body
 * @param tooLarge makes the error for a larger one, from the bytes that were announced or have arrived
 * @param arrive gets the number of bytes that have arrived, before they are kept
 */
export async function readBody(
  request: IncomingMessage,
  most: number,
  tooLarge: (bytes: number) => Error,
  arrive: (bytes: number) => void = () => {},
): Promise<Buffer> {
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > most) throw tooLarge(announced);
  const chunks: Buffer[] = [];
  let size = 0;
  const stop = endIfSlow(request, announced);
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > most) throw tooLarge(size);
      arrive(chunk.length);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } finally {
    stop();
  }
}

/** The secret that a request sends as a bearer. */
export const bearerIn = ({ authorization = '' }: IncomingHttpHeaders): string | undefined => /^Bearer ([!-~]+)$/i.exec(authorization)?.[1];

/** Compares secrets in a time that does not depend on the number of matching characters. */
export function isSame(given: string, secret: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(secret)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Whether a request comes from a program on this machine. A web page must not be able to write into the project. */
export const isOurs = ({ headers }: IncomingMessage): boolean =>
  headers.origin === undefined && /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/.test(headers.host ?? '');

/** Listens, and resolves with the port. Rejects with the system's error if the port cannot be used. */
export const listen = (server: Pick<NetServer, 'once' | 'listen' | 'address'>, port: number, host: string): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port));
  });

/** Closes a server and all its connections. */
export const closeNow = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
