import { onMessagePortClose, onMessagePortMessage, postMessagePortMessage, type SupportedMessagePort } from '@orpc/client/message-port';
import { ResponseHeadersPlugin } from '@orpc/server/plugins';
import { type MinimalWebsocket, RPCHandler } from '@orpc/server/websocket';
import { createSession, type Engine, type Project, type Session } from '../../core/project/index.js';
import { contextOf, router } from '../../core/router/index.js';
import { type ClientKind, maxFrameBytes } from '../launch/index.js';
import { line, say } from '../terminal/index.js';

/** A message port of Electron, Node or the browser. */
export type Port = SupportedMessagePort & { start?: () => void; close?: () => void };

const handler = new RPCHandler(router, { plugins: [new ResponseHeadersPlugin()] });

/** Serves one connection with its own session while its port is open. A frame that is not a readable call closes this port only. */
export function serveConnection(engine: Engine, port: Port, caller: ClientKind, used?: (project: Project) => void): Session {
  const session = createSession(engine, caller, used);
  const context = contextOf(session);
  // oRPC's handler for message ports drops the promise of each message, so an unhandled rejection would end the engine for all windows. Its handler
  // for sockets returns the promise, and uses only `send` of the socket.
  const socket = { send: (frame: unknown) => postMessagePortMessage(port, frame) } as MinimalWebsocket;
  let isOpen = true;
  const end = (): void => {
    isOpen = false;
    handler.close(socket);
  };
  onMessagePortMessage(port, (frame: unknown) => {
    if (!isOpen) return;
    readCall(frame)
      .then((call) => handler.message(socket, call, { context }))
      .catch((error: unknown) => {
        if (!isOpen) return;
        say(line`Stemma: closed a connection after a frame that cannot be read: ${reasonOf(error)}`);
        end();
        port.close?.();
      });
  });
  onMessagePortClose(port, end);
  port.start?.();
  return session;
}

/** Checks the type and size of a frame for oRPC, because carriers pass on any value that a page posts. */
async function readCall(frame: unknown): Promise<string | ArrayBuffer> {
  if (typeof frame !== 'string' && !(frame instanceof Uint8Array) && !(frame instanceof ArrayBuffer))
    throw new TypeError(`a frame is text or bytes, not ${typeof frame}`);
  const size = typeof frame === 'string' ? frame.length : frame.byteLength;
  if (size > maxFrameBytes) throw new RangeError(`it has ${size} bytes, and at most ${maxFrameBytes} are allowed`);
  return frame as string | ArrayBuffer;
}

/** Escaped, because the message may quote the frame, whose control characters must not reach a terminal. */
const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error)).replace(/[^\x20-\x7e]/g, '?').slice(0, 300);
