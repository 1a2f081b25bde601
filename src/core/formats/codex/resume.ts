import { isObject, type JsonObject } from '../../base/index.js';
import type { SessionOptions } from '../format.js';
import { encodeLines } from '../shared/jsonl.js';
import { readLine, scanLines } from './schema.js';

/** The version that the lines imitate, for a history that Codex did not write. */
const writtenAs = '0.169.0';

/** Fields of a session line that name the original's origin or are valid for the original only. */
const originalOnly = ['forked_from_id', 'forked_from_ordinal_exclusive', 'history_base', 'parent_thread_id', 'session_id', 'context_window', 'git'];
/** Lines that are valid for one process or one screen only. */
const left = new Set(['token_usage_record', 'security_risk_score', 'realtime_item', 'inter_agent_communication_metadata']);

/**
 * A file that `codex resume` accepts, from the lines of one context in order: a session line with the new id, then the history. A file that is one
 * unchanged chain stays unchanged. The context contains neither turns that were taken back nor the line that takes them back. Items keep their ids.
 * The flat form of 2025 becomes today's form.
 */
export function writeSession(delta: Uint8Array, options: SessionOptions): Uint8Array {
  if (options.isUnchanged) return delta;
  const records = scanLines(delta).pieces.flatMap(({ record }) => (record ? [record] : []));
  const lines = records.map((record) => ({ record, line: readLine(record) }));
  const first = lines.find(({ line }) => line.sort === 'meta');
  const meta = sessionLine(
    first && !first.line.flat ? first.line.payload : {},
    lines.find(({ line }) => line.sort === 'context')?.line.payload,
    options,
  );
  const history = lines.flatMap(({ record, line }): JsonObject[] => {
    if (line.sort === 'meta' || left.has(String(record.type)) || record.record_type !== undefined) return [];
    if (line.sort === 'event' && !isKept(line.payload)) return [];
    const { ordinal: _, ...own } = line.flat ? { type: line.sort === 'compacted' ? 'compacted' : 'response_item', payload: line.payload } : record;
    return [{ timestamp: line.at ?? options.now, ...own } as JsonObject];
  });
  const all = [{ timestamp: options.now, type: 'session_meta', payload: meta }, ...history];
  const isNumbered = meta.history_mode === 'paginated';
  return encodeLines(all.map(({ timestamp, ...line }, ordinal) => ({ timestamp, ...(isNumbered && { ordinal }), ...line })));
}

/** The events that the screen shows when a history is resumed. */
const isKept = (event: JsonObject): boolean =>
  event.type !== 'thread_rolled_back' && event.type !== 'token_count' && event.type !== 'thread_name_updated';

function sessionLine(meta: JsonObject, context: JsonObject | undefined, { sessionId, now, cwd }: SessionOptions): JsonObject {
  const own = Object.fromEntries(Object.entries(meta).filter(([key]) => !originalOnly.includes(key)));
  return {
    ...own,
    id: sessionId,
    timestamp: now,
    cwd: cwd ?? own.cwd ?? (typeof context?.cwd === 'string' ? context.cwd : '/'),
    originator: own.originator ?? 'stemma',
    cli_version: own.cli_version ?? writtenAs,
    source: isObject(own.source) ? 'cli' : (own.source ?? 'cli'),
    // The agent refuses a session without a provider, and reports an error for a session of a provider that it is not configured for.
    model_provider: own.model_provider ?? 'openai',
  };
}
