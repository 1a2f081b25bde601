import type { IncomingMessage, ServerResponse } from 'node:http';
import { readBody } from '../connections/index.js';
import { maxExportBytes, RefusedExport, receivedIn, type Signal } from './decode.js';
import type { Receiver } from './receiver.js';

/** The paths to which exporters send. Metrics are accepted, so that no exporter retries them, and dropped. */
const paths = new Map<string, Signal | undefined>([
  ['/v1/traces', 'spans'],
  ['/v1/logs', 'logs'],
  ['/v1/metrics', undefined],
]);
/** Whether exporters send to this path. */
export const isExportPath = (path: string): boolean => paths.has(path);

/** Answers an export in the encoding of the request. The caller has authenticated the sender. */
export async function answerExport(request: IncomingMessage, response: ServerResponse, path: string, receiver: Receiver): Promise<void> {
  const type = request.headers['content-type'] ?? '';
  const isJson = !/^application\/x-protobuf\b/i.test(type);
  try {
    if (request.method !== 'POST') throw new RefusedExport(405, 'Send exports with POST.');
    const body = await readExport(request);
    const signal = paths.get(path);
    if (signal) receiver.take(signal, ...receivedIn(signal, body, type, request.headers['content-encoding']));
    // An empty message means that everything was accepted.
    response.writeHead(200, { 'content-type': isJson ? 'application/json' : 'application/x-protobuf' }).end(isJson ? '{}' : '');
  } catch (error) {
    if (!(error instanceof RefusedExport)) throw error;
    response.writeHead(error.status, { 'content-type': 'application/json', ...(!request.complete && { connection: 'close' }) });
    response.end(JSON.stringify({ code: 3, message: error.message }));
  }
}

/** The most bytes of all bodies that are read at the same time, and those that have arrived. */
const maxAtOnce = 4 * maxExportBytes;
let held = 0;

async function readExport(request: IncomingMessage): Promise<Buffer> {
  const tooLarge = (): Error => new RefusedExport(413, `The body has more than ${maxExportBytes} bytes.`);
  let own = 0;
  try {
    return await readBody(request, maxExportBytes, tooLarge, (bytes) => {
      if (held + bytes > maxAtOnce) throw new RefusedExport(503, 'Too many exports arrive at the moment. Send this one again later.');
      own += bytes;
      held += bytes;
    });
  } finally {
    held -= own;
  }
}
