import { bytesOf, type JsonObject, type Timestamp } from '../../base/index.js';
import { scanLines } from './lines.js';
import { isChained, uuidOf } from './record.js';

export interface SessionOptions {
  readonly sessionId: string;
  readonly newId: () => string;
  readonly now: Timestamp;
  readonly cwd?: string;
  readonly title?: string;
}

/**
 * A session file of its own out of the records of a context: one session id, each record hanging on one before it, no
 * request records. Ids of records stay, so that entries keep their keys.
 */
export function writeSession(delta: Uint8Array, options: SessionOptions): Uint8Array {
  const seen = new Set<string>();
  let last: string | null = null;
  const lines = scanLines(delta).pieces.flatMap(({ record }) => {
    if (!record || String(record.type).startsWith('api-request')) return [];
    const own: JsonObject = { ...record, ...('sessionId' in record && { sessionId: options.sessionId }), ...(options.cwd !== undefined && 'cwd' in record && { cwd: options.cwd }) };
    const uuid = uuidOf(record);
    if (uuid === undefined || !isChained(record)) return [JSON.stringify(own)];
    const parent = record.parentUuid;
    const isSound: boolean = parent === null ? last === null || record.subtype === 'compact_boundary' : typeof parent === 'string' && seen.has(parent);
    const linked = isSound ? own : { ...own, parentUuid: last };
    seen.add(uuid);
    last = uuid;
    return [JSON.stringify(linked)];
  });
  return bytesOf(lines.map((line) => `${line}\n`).join(''));
}
