import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { MessagePort } from 'node:worker_threads';
import { type WebSocket, WebSocketServer } from 'ws';
import { built, type EngineOptions, startWorker, type WorkerEngine } from '../launch/index.js';
import { type Answer, answerFor, plain, securityHeaders } from '../window/index.js';
import { cookieName, type Door, foreign, isKnown, same } from './doorkeeper.js';
import { turnAway } from './turned-away.js';

/** A running web host. */
export interface Host {
  /** The address with the token, to be opened once. */
  url: string;
  port: number;
  token: string;
  close(): Promise<void>;
}

export const isLoopback = (address: string): boolean => address === 'localhost' || address === '::1' || /^127(\.\d{1,3}){3}$/.test(address);

/** The largest frame that a window may send: a file put as an artifact travels in one. */
const maxFrameBytes = 256 * 1024 * 1024;

/**
 * Serves the window and the contract on loopback. `port` 0 takes any free one. Rejects for an address that is not
 * loopback, a port that is taken, and an engine that does not start.
 */
export async function startHost(options: EngineOptions, version: string, port = 0, address = '127.0.0.1'): Promise<Host> {
  if (!isLoopback(address)) throw new Error(`Stemma serves on loopback only; ${address} is not a loopback address (127.0.0.1, ::1, localhost).`);

  let engine: Promise<WorkerEngine> | undefined;
  /** The engine, started again on the next connection where it ended by itself. */
  const running = (): Promise<WorkerEngine> => {
    if (engine) return engine;
    const starting = startWorker(options);
    engine = starting;
    const forget = (error: unknown): void => {
      if (error) console.error(`Stemma: the engine ended: ${error instanceof Error ? error.message : String(error)}`);
      if (engine === starting) engine = undefined;
    };
    starting.then((started) => started.ended.then(forget), forget);
    return starting;
  };
  const door: Door = { port, token: randomBytes(32).toString('base64url'), session: randomBytes(32).toString('base64url') };
  const link = { used: false };
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      console.error('Stemma:', error);
      if (!response.headersSent) send(request, response, plain(500, 'Stemma met an error of its own; it stands in the terminal.'));
      else response.destroy();
    });
  });
  const sockets = new WebSocketServer({ noServer: true, maxPayload: maxFrameBytes, perMessageDeflate: false });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const refusal = foreign(request.headers, door);
    if (refusal) return send(request, response, plain(403, refusal));
    const url = new URL(request.url ?? '/', 'http://host');
    const code = url.searchParams.get('token');
    const known = isKnown(request.headers, door);
    if (code !== null && url.pathname === '/' && request.method === 'GET' && (known || (!link.used && same(code, door.token)))) {
      link.used = true;
      url.searchParams.delete('token');
      const cookie = `${cookieName(door)}=${door.session}; Path=/; HttpOnly; SameSite=Strict`;
      return send(request, response, {
        ...plain(303, ''),
        headers: { ...securityHeaders, 'set-cookie': cookie, location: `/${url.search}`, 'cache-control': 'no-store' },
      });
    }
    if (!known) {
      const why = code === null ? 'no link' : link.used && same(code, door.token) ? 'used link' : 'other link';
      return send(request, response, turnAway(why, request.headers.accept));
    }
    if (url.pathname === '/api/openapi.json') {
      const { openApi } = await import('./api.js');
      return send(request, response, json(await openApi(version)));
    }
    if (url.pathname.startsWith('/api/') || url.pathname.startsWith('/projects/')) {
      const { answerApi } = await import('./api.js');
      for (const [name, value] of Object.entries(securityHeaders)) response.setHeader(name, value);
      return answerApi(request, response, (await running()).connect(), options.startup.project);
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') return send(request, response, plain(405, 'Only GET is answered here.'));
    send(request, response, await answerFor(built('renderer'), url.pathname));
  }

  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const isRefused = foreign(request.headers, door) !== undefined || !isKnown(request.headers, door);
    const isRpc = new URL(request.url ?? '/', 'http://host').pathname === '/rpc';
    if (isRefused || !isRpc) {
      socket.end(`HTTP/1.1 ${isRefused ? 403 : 404} Refused\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    sockets.handleUpgrade(request, socket, head, (ws) => {
      running().then(
        (started) => pipe(ws, started.connect()),
        (error: Error) => ws.close(1011, error.message.slice(0, 100)),
      );
    });
  });

  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(error.code === 'EADDRINUSE' ? new Error(`Port ${port} is taken; --port names another one, 0 takes any.`) : error),
    );
    server.listen(port, address, resolve);
  });
  door.port = (server.address() as AddressInfo).port;

  async function close(): Promise<void> {
    for (const ws of sockets.clients) ws.close(1001, 'The web host ends.');
    server.close();
    server.closeAllConnections();
    await (await engine)?.close();
  }
  // An engine that cannot start is said at once, not to the first window.
  await running().catch(async (error: unknown) => {
    await close().catch(() => undefined);
    throw error;
  });

  return {
    url: `http://${address === '::1' ? '[::1]' : address}:${door.port}/?token=${door.token}`,
    port: door.port,
    token: door.token,
    close,
  };
}

const json = (text: string): Answer => ({
  status: 200,
  headers: { ...securityHeaders, 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' },
  body: new TextEncoder().encode(text),
});

function send(request: IncomingMessage, response: ServerResponse, { status, headers, body }: Answer): void {
  response.writeHead(status, { ...headers, 'content-length': body.byteLength });
  response.end(request.method === 'HEAD' ? undefined : body);
}

/** Frames of the window's socket and of the engine's port are the same; they only change vehicles here. */
function pipe(ws: WebSocket, port: MessagePort): void {
  ws.on('message', (data: Buffer, isBinary) => port.postMessage(isBinary ? new Uint8Array(data) : data.toString('utf8')));
  ws.on('close', () => port.close());
  ws.on('error', () => ws.terminate());
  port.on('message', (frame: string | Uint8Array) => ws.send(frame));
  port.on('close', () => ws.close(1012, 'The engine process ended.'));
}
