import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { MessagePort } from 'node:worker_threads';
import { type WebSocket, WebSocketServer } from 'ws';
import { maxFrameBytes } from '../launch/index.js';

/** Bytes of answers that may wait for a client that does not read them. */
const maxBacklog = 256 * 1024 * 1024;

/** The WebSockets of windows and scripts. */
export interface Sockets {
  /** Upgrades a request that was let in and carries its frames to the port of an engine. */
  accept(request: IncomingMessage, socket: Duplex, head: Buffer, connect: () => Promise<MessagePort>): void;
  close(): void;
}

/** A server for WebSockets that the caller has let in already. */
export function openSockets(): Sockets {
  const server = new WebSocketServer({ noServer: true, maxPayload: maxFrameBytes, perMessageDeflate: false });
  return {
    accept: (request, socket, head, connect) =>
      server.handleUpgrade(request, socket, head, (ws) => {
        // `ws` fails a connection whose frames break the protocol, and says so here.
        ws.on('error', () => ws.terminate());
        // Frames that come before the engine is ready must not be lost.
        ws.pause();
        connect().then(
          (port) => {
            pipe(ws, port);
            ws.resume();
          },
          (error: Error) => end(ws, 1011, `The engine did not start: ${error.message}`),
        );
      }),
    close: () => {
      for (const ws of server.clients) end(ws, 1001, 'Stemma stopped.');
    },
  };
}

/** Refuses an upgrade with an HTTP status and closes the connection. */
export function refuseUpgrade(socket: Duplex, status: number, reason: string): void {
  socket.end(
    `HTTP/1.1 ${status} ${reason}\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(reason)}\r\n\r\n${reason}`,
  );
}

/** Carries frames both ways. Nobody here reads them, so that a new procedure never changes this. */
function pipe(ws: WebSocket, port: MessagePort): void {
  if (ws.readyState !== ws.OPEN) {
    port.close();
    return;
  }
  ws.on('message', (data: Buffer, isBinary) => port.postMessage(isBinary ? new Uint8Array(data) : data.toString('utf8')));
  ws.on('close', () => port.close());
  port.on('message', (frame: string | Uint8Array) => {
    if (ws.bufferedAmount > maxBacklog) ws.terminate();
    else ws.send(frame);
  });
  port.on('close', () => end(ws, 1011, 'The engine closed this connection.'));
}

/** Closes a connection, by force where its client does not take part. */
function end(ws: WebSocket, code: number, reason: string): void {
  // A reason holds 123 bytes at most.
  ws.close(code, reason.replace(/[^\x20-\x7e]/g, '?').slice(0, 123));
  setTimeout(() => ws.terminate(), 2_000).unref();
}
