import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { MessagePort } from 'node:worker_threads';
import { type WebSocket, WebSocketServer } from 'ws';
import { maxFrameBytes } from '../launch/index.js';

/** The most bytes of answers that wait for a slow client. */
const maxBacklog = 256 * 1024 * 1024;

/** Makes a server for WebSockets whose callers are authenticated already. */
export function openSockets() {
  const server = new WebSocketServer({ noServer: true, maxPayload: maxFrameBytes, perMessageDeflate: false });
  return {
    /** Upgrades a request that was let in and carries its frames to the port of an engine. */
    accept: (request: IncomingMessage, socket: Duplex, head: Buffer, connect: () => Promise<MessagePort>): void =>
      server.handleUpgrade(request, socket, head, (ws) => {
        // `ws` emits this if frames break the protocol, and closes the connection itself.
        ws.on('error', () => ws.terminate());
        // Keeps frames that arrive before the engine is ready.
        ws.pause();
        connect().then(
          (port) => {
            pipe(ws, port);
            ws.resume();
          },
          (error: Error) => end(ws, 1011, `The engine did not start: ${error.message}`),
        );
      }),
    close: (): void => {
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

/** Passes frames in both directions without reading them, so that a new procedure needs no change here. */
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

/** Closes a connection, by force if the client does not respond. */
function end(ws: WebSocket, code: number, reason: string): void {
  // A reason holds 123 bytes at most.
  ws.close(code, reason.replace(/[^\x20-\x7e]/g, '?').slice(0, 123));
  setTimeout(() => ws.terminate(), 2_000).unref();
}
