import type { IncomingMessage } from 'node:http';
import { badRequest, StemmaError } from '../../core/base/index.js';

/** The most bytes of a call with a parcel, of any other call, of its fields that are no parcel, and of all bodies that are read at the same time. */
const most = { parcel: 64 * 1024 * 1024, other: 8 * 1024 * 1024, parts: 8, levels: 32, atOnce: 256 * 1024 * 1024 };

/** Bytes of bodies that have arrived and are not answered yet. */
let held = 0;
/** Shorter bodies are read at any time. */
const smallBytes = 64 * 1024;

/** A body in memory. Call `release` when the call has ended. */
export interface Body {
  readonly bytes: Buffer;
  release(): void;
}

/**
 * Reads the body of a call. Its length must be announced, so that a body that is too long is refused before it is read.
 * @throws BAD_REQUEST, with the HTTP status in `status`; UNAVAILABLE if the hub reads too many bodies at the moment.
 */
export async function readBody(request: IncomingMessage, hasParcel: boolean): Promise<Body> {
  const limit = hasParcel ? most.parcel : most.other;
  const announced = request.headers['content-length'];
  const length = Number(announced);
  if (announced === undefined || !Number.isSafeInteger(length) || length < 0)
    throw refused(411, 'content-length', 'The request does not say how long its body is. Send a Content-Length.');
  if (request.headers['content-encoding'] !== undefined)
    throw refused(415, 'content-encoding', 'The hub takes no compressed bodies. Parcels are compressed already.');
  if (length > limit) throw refused(413, 'content-length', `The body has ${length} bytes, and ${limit} are allowed. Send fewer items in one call.`);
  let own = 0;
  const release = (): void => {
    held -= own;
    own = 0;
  };
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      if (length > smallBytes && held + chunk.length > most.atOnce)
        throw new StemmaError('UNAVAILABLE', 'The hub reads too many calls at the moment. Try again.', { retryAfterMs: 1_000 });
      held += chunk.length;
      own += chunk.length;
      chunks.push(chunk);
    }
    if (own < length) throw badRequest('body', `The body ended after ${own} of ${length} bytes.`);
    const bytes = Buffer.concat(chunks);
    requireShallow(bytes, request.headers['content-type'] ?? '');
    return { bytes, release };
  } catch (error) {
    release();
    if (error instanceof StemmaError) throw error;
    throw badRequest('body', 'The body did not arrive completely.');
  }
}

const refused = (status: number, field: string, message: string): StemmaError => badRequest(field, message, { status });

/** @throws BAD_REQUEST for a body with too many parts, or with JSON that is nested too deeply. */
function requireShallow(bytes: Buffer, type: string): void {
  const boundary = /^multipart\/form-data\s*;.*?boundary="?([^";]{1,200})"?/i.exec(type)?.[1];
  if (boundary === undefined) {
    requireLevels(bytes, 0, bytes.length);
    return;
  }
  const mark = Buffer.from(`--${boundary}`);
  const starts: number[] = [];
  for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, at + mark.length)) {
    starts.push(at);
    // The last one ends the body.
    if (starts.length > most.parts + 1) throw badRequest('body', `The body has more than ${most.parts} parts.`);
  }
  for (const [i, start] of starts.entries()) {
    const end = starts[i + 1] ?? bytes.length;
    // A part with a file name is a parcel.
    const head = bytes.toString('latin1', start, Math.min(end, start + 1_024)).split('\r\n\r\n')[0] ?? '';
    if (!/filename/i.test(head)) requireLevels(bytes, start + head.length, end);
  }
}

const [quote, backslash] = [0x22, 0x5c];
const opening = new Set([0x5b, 0x7b]);
const closing = new Set([0x5d, 0x7d]);

/** @throws BAD_REQUEST if brackets outside of strings are nested too deeply: parsing them could exhaust the stack. */
function requireLevels(bytes: Buffer, start: number, end: number): void {
  let levels = 0;
  let isText = false;
  for (let at = start; at < end; at++) {
    const byte = bytes[at] as number;
    if (isText) {
      if (byte === backslash) at += 1;
      else if (byte === quote) isText = false;
    } else if (byte === quote) isText = true;
    else if (opening.has(byte)) levels += 1;
    else if (closing.has(byte)) levels -= 1;
    if (levels > most.levels) throw badRequest('body', `The body is nested more than ${most.levels} levels deep.`);
  }
}
