import { type JsonObject, stringAt } from '../../base/index.js';
import type { SessionOptions } from '../format.js';
import { encodeLines } from '../shared/jsonl.js';
import { idIn, isChained, isHeader, isSent, nameRecord, readId, readMessage, scanLines } from './schema.js';

type Line = JsonObject & { readonly id: string };

/**
 * A session that `pi --session` resumes, from the records of one context in order. It has a new id, each record is the child of the one before it,
 * and records keep their ids. Kept messages are written once, before their compaction. If the file has other records there, copies follow the
 * compaction, so that the model gets the same messages.
 */
export function writeSession(delta: Uint8Array, { sessionId, newId, now, cwd }: SessionOptions): Uint8Array {
  const { pieces } = scanLines(delta);
  const header = pieces.find(({ record }) => record && isHeader(record))?.record;
  const lines = pieces.flatMap(({ record, range }): Line[] =>
    record && isChained(record) ? [withId(record, nameRecord(record, delta, range))] : [],
  );
  const placed: Line[] = [];
  const at = new Map<string, number>();
  const add = (line: Line): void => {
    at.set(line.id, placed.length);
    placed.push(line);
  };
  for (let next = 0; next < lines.length; next++) {
    const line = lines[next] as Line;
    if (at.has(line.id)) continue;
    if (line.type !== 'compaction') {
      add(line);
      continue;
    }
    const kept: Line[] = [];
    for (let repeated = lines[next + 1]; repeated && at.has(repeated.id); repeated = lines[++next + 1]) kept.push(repeated);
    const first = kept[0];
    const before = first ? placed.slice(at.get(first.id)).filter(isSent) : [];
    if (first && before.length === kept.length && before.every(({ id }, number) => id === kept[number]?.id)) {
      add({ ...line, firstKeptEntryId: first.id });
      continue;
    }
    add({ ...line, firstKeptEntryId: line.id });
    for (const copy of kept) add({ ...copy, id: newId() });
  }
  const head = { type: 'session', version: 3, id: sessionId, timestamp: now, cwd: cwd ?? stringAt(header, 'cwd') ?? '/' };
  const chained = placed.map(({ type, id, parentId: _, timestamp, ...rest }, number) => ({
    type,
    id,
    parentId: placed[number - 1]?.id ?? null,
    timestamp: timestamp ?? now,
    ...rest,
  }));
  return encodeLines([head, ...chained]);
}

/** The record in the current version: with an id, and with extension messages under their newer name. */
function withId(record: JsonObject, name: string): Line {
  const { firstKeptEntryIndex: _, ...rest } = record;
  const message = readMessage(record);
  const line = { ...rest, id: readId(record) ?? idIn(name) };
  return message.role === 'hookMessage' ? { ...line, message: { ...message, role: 'custom' } } : line;
}
