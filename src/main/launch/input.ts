import { readSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';

/** Milliseconds to wait before an empty pipe is read again. */
const pauseMs = 5;

/** Reads standard input to its end, also where a program that shares the pipe made it non-blocking: an empty pipe then fails with EAGAIN. */
export async function readStandardInput(): Promise<string> {
  const parts: Buffer[] = [];
  const room = Buffer.allocUnsafe(65_536);
  for (;;) {
    const length = readInto(room);
    if (length === 0) return Buffer.concat(parts).toString('utf8');
    if (length === undefined) await setTimeout(pauseMs);
    else parts.push(Buffer.from(room.subarray(0, length)));
  }
}

/** The number of bytes read: 0 at the end, undefined if no bytes have arrived yet. */
function readInto(room: Buffer): number | undefined {
  try {
    return readSync(0, room);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EAGAIN') return undefined;
    // Windows reports the end of a pipe as an error.
    if (code === 'EOF') return 0;
    throw error;
  }
}
