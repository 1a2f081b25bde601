import { createHash } from 'node:crypto';
import type { JsonObject } from '../../base/index.js';
import type { SessionOptions } from '../format.js';
import { encodeLines } from '../shared/jsonl.js';
import { readMessages } from './parse.js';
import { scanValues } from './parse-values.js';
import { historyIn, isContext, isMessage } from './schema.js';

/**
 * A session that `gemini --resume` accepts, from the records of one context in order: a session line with the new id, then the messages and the
 * histories of compressions. Lines that were imported in parts are joined again. The contexts from starts of the agent are dropped, because the agent
 * sends them again. An unchanged file stays unchanged.
 */
export function writeSession(delta: Uint8Array, { sessionId, now, cwd, isUnchanged }: SessionOptions): Uint8Array {
  if (isUnchanged) return delta;
  const { pieces } = scanValues(delta);
  const lines: JsonObject[] = [];
  let open: (typeof pieces)[number][] = [];
  const close = (): void => {
    for (const { message } of readMessages(open)) if (!isContext(message)) lines.push(message);
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
  };
  return encodeLines([header, ...lines]);
}
