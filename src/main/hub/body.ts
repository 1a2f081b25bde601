import type { IncomingMessage } from 'node:http';
import { badRequest, StemmaError, unavailable } from '../../core/base/index.js';
import { endIfSlow } from '../connections/index.js';
import { excessIn } from '../team/index.js';

/**
 * The most bytes of a call with a parcel and of any other call; the most parts of a form; the most levels and values of its JSON. `atOnce` and
 * `unpacked`: the most bytes of the bodies that are read, and of the parcels that are unpacked, over all calls. `ofToken`: of the bodies of one token,
 * so that whoever sends slowly leaves room for others.
 */
const most = {
  parcel: 64 * 1024 * 1024,
  other: 8 * 1024 * 1024,
  parts: 8,
  json: { levels: 32, members: 2_000_000 },
  atOnce: 256 * 1024 * 1024,
  ofToken: 128 * 1024 * 1024,
  unpacked: 256 * 1024 * 1024,
};

/** Bytes of bodies that have arrived and are not answered yet. */
let held = 0;
const heldBy = new Map<string, number>();
const hold = (token: string, bytes: number): void => {
  held += bytes;
  const own = (heldBy.get(token) ?? 0) + bytes;
  if (own > 0) heldBy.set(token, own);
  else heldBy.delete(token);
};
/** Shorter bodies are read at any time. */
const smallBytes = 64 * 1024;

/**
 * Reads the body of a call, whose length must be announced. Call `release` when the call has ended.
 * @throws BAD_REQUEST with a `status`; UNAVAILABLE if too many are being read
 */
export async function readBody(request: IncomingMessage, hasParcel: boolean, token: string) {
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
    hold(token, -own);
    own = 0;
  };
  const stop = endIfSlow(request, length);
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      const isFull = held + chunk.length > most.atOnce || (heldBy.get(token) ?? 0) + chunk.length > most.ofToken;
      if (length > smallBytes && isFull) throw unavailable('The hub reads too many calls at the moment. Try again.', { retryAfterMs: 1_000 });
      hold(token, chunk.length);
      own += chunk.length;
      chunks.push(chunk);
    }
    if (own < length) throw badRequest('body', `The body ended after ${own} of ${length} bytes.`);
    const bytes = Buffer.concat(chunks);
    const excess = excessIn(bytes, request.headers['content-type'] ?? '', most);
    if (excess !== undefined) throw badRequest('body', `The hub does not read this body: ${excess}.`);
    return { bytes, release };
  } catch (error) {
    release();
    if (error instanceof StemmaError) throw error;
    throw badRequest('body', 'The body did not arrive completely.');
  } finally {
    stop();
  }
}

const refused = (status: number, field: string, message: string): StemmaError => badRequest(field, message, { status });

/** Bytes of unpacked parcels that are not stored yet. */
let unpacked = 0;

/** Counts an unpacked parcel until the returned function is called. A single one always fits. @throws UNAVAILABLE if others take the memory */
export function holdUnpacked(bytes: number): () => void {
  if (unpacked > 0 && unpacked + bytes > most.unpacked)
    throw unavailable('The hub stores too many parcels at the moment. Try again.', { retryAfterMs: 1_000 });
  unpacked += bytes;
  let isHeld = true;
  return () => {
    if (isHeld) unpacked -= bytes;
    isHeld = false;
  };
}
