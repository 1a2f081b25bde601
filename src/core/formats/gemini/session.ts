import { createHash } from 'node:crypto';
import { bytesOf, type JsonObject } from '../../base/index.js';
import type { SessionOptions } from '../format.js';
import { messagesOf } from './entries.js';
import { historyIn, isContext, isMessage } from './record.js';
import { scanValues } from './values.js';

/**
 * A session that `gemini --resume` takes, from the records of one context in order: one line about the session under its new id, then its
 * messages and the histories that compressions put in place of others. What was taken in line by line is whole again; what starts of
 * the agent left (its context, which it tells anew) stays out. A file that nobody changed stays as it is.
 */
export function writeSession(delta: Uint8Array, { sessionId, now, cwd, title, isUnchanged }: SessionOptions): Uint8Array {
  if (isUnchanged) return delta;
  const { pieces } = scanValues(delta);
  const lines: JsonObject[] = [];
  let open: (typeof pieces)[number][] = [];
  const close = (): void => {
    for (const { message } of messagesOf(open)) if (!isContext(message)) lines.push(message);
    open = [];
  };
  for (const piece of pieces) {
    if (!piece.record) continue;
    if (historyIn(piece.record)?.some((message) => !isContext(message))) {
      close();
      lines.push(piece.record);
    } else if (isMessage(piece.record)) open.push(piece);
  }
  close();
  const header = {
    sessionId,
    projectHash: createHash('sha256')
      .update(cwd ?? '/')
      .digest('hex'),
    startTime: now,
    lastUpdated: now,
    kind: 'main',
    ...(title !== undefined && { summary: title }),
  };
  return bytesOf([header, ...lines].map((line) => `${JSON.stringify(line)}\n`).join(''));
}
