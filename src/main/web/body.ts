import type { IncomingMessage } from 'node:http';
import { ORPCError } from '@orpc/client';
import { endIfSlow } from '../connections/index.js';
import { maxFrameBytes } from '../launch/index.js';

const refuse = (message: string, status = 400): ORPCError<'BAD_REQUEST', { field: string }> =>
  new ORPCError('BAD_REQUEST', { message, status, data: { field: 'input' } });

/** Reads the JSON input of a request; undefined if empty. @throws BAD_REQUEST: too large (413), another type (415), or not JSON in UTF-8 */
export async function readInput(request: IncomingMessage): Promise<unknown> {
  const type = request.headers['content-type'];
  const bytes = await readBytes(request);
  if (bytes.length === 0) return undefined;
  if (type !== undefined && !/^application\/json\s*(;|$)/i.test(type))
    throw refuse('Send the input as JSON, with Content-Type: application/json.', 415);
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw refuse(`The body is not JSON in UTF-8: ${(error as Error).message}`);
  }
}

async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const tooLarge = (size: number): Error =>
    refuse(`The body has ${size} bytes or more, and ${maxFrameBytes} are allowed. Larger content goes in through the stemma command.`, 413);
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > maxFrameBytes) throw tooLarge(announced);
  const chunks: Buffer[] = [];
  let size = 0;
  // The request stays open on a refusal, so that the refusal can still be sent.
  const stop = endIfSlow(request, announced);
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxFrameBytes) throw tooLarge(size);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } finally {
    stop();
  }
}
