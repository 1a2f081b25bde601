import { zstdDecompressSync } from 'node:zlib';
import { attempt, decodeText, defined, isObject, type JsonObject, parseJson, stringAt } from '../../base/index.js';
import type { ColumnValue, DatabaseReader, DatabaseRows } from '../format.js';
import { byNumber, has, lastIds, readRows } from '../mapped/rows.js';
import { type ExpansionLimit, expandsTooMuch, expansionLimit } from '../shared/expansion.js';
import { parseShallow, writeLines } from '../shared/jsonl.js';

export const formatId = 'openclaw-v1';

const ownName = /^openclaw[\w.-]*\.sqlite$/;
const maxEventBytes = 64 * 1024 ** 2;

/** OpenClaw's database. Each window is a source: a rewind repeats rows in a new one. The file is not kept: it holds memory and traces. */
export const database: DatabaseReader = {
  mayBe: (name) => ownName.test(name),
  isFollowed: (name) => ownName.test(name),
  keeps: { not: 'The database also holds the memory and the traces of the agent. Stemma keeps each session instead.' },
  recognize: (tables) => has(tables, 'transcript_events', ['session_id', 'seq', 'event_json']),
  *members(rows) {
    const limit = expansionLimit();
    const nodes = nodesOf(rows);
    // A rewind and a fork repeat the entries of an older session, which comes first. What cannot be read is reported by `lines`.
    const timeOf = (id: string): string => attempt(() => stringAt(readEvents(rows, id, limit, { seq: '0' })[0], 'timestamp')) ?? '';
    const all = [...lastIds(rows, 'transcript_events', 'seq')].map(([id, stamp]) => ({ id, stamp, begun: `${timeOf(id)} ${id}` }));
    for (const { id, stamp } of all.sort((a, b) => (a.begun < b.begun ? -1 : 1)))
      yield { id, stamp, lines: () => writeLines(readEvents(rows, id, limit)), ...defined({ title: titleOf(nodes.get(id)) }) };
  },
};

function nodesOf(rows: DatabaseRows): ReadonlyMap<string, JsonObject> {
  const columns = ['current_session_id', 'entry_json'];
  if (!has(rows.tables, 'session_nodes', columns)) return new Map();
  return new Map(
    readRows(rows, 'session_nodes', columns).flatMap((row) => {
      const entry = typeof row.entry_json === 'string' ? parseJson(row.entry_json) : undefined;
      return isObject(entry) ? [[String(row.current_session_id), entry] as const] : [];
    }),
  );
}

const titleOf = (node: JsonObject | undefined): string | undefined => stringAt(node, 'title') ?? stringAt(node, 'displayName');

/** @throws CORRUPT if the events expand beyond the limit. */
function readEvents(rows: DatabaseRows, id: string, limit: ExpansionLimit, where: { seq?: string } = {}): readonly JsonObject[] {
  const found = readRows(rows, 'transcript_events', ['seq', 'event_json', 'event_zstd'], { session_id: id, ...where });
  return found.sort(byNumber('seq')).map((row): JsonObject => {
    const value = parseShallow(textIn(row.event_json) ?? expanded(row.event_zstd, limit) ?? '');
    return isObject(value) ? value : { row: { seq: Number(row.seq) } };
  });
}

const textIn = (value: ColumnValue | undefined): string | undefined =>
  typeof value === 'string' && value !== '' ? value : value instanceof Uint8Array && value.length > 0 ? decodeText(value) : undefined;

/** An event that OpenClaw has compressed; undefined if it is damaged. @throws CORRUPT if it expands beyond the limit. */
function expanded(value: ColumnValue | undefined, limit: ExpansionLimit): string | undefined {
  if (!(value instanceof Uint8Array)) return undefined;
  const most = Math.min(maxEventBytes, limit.roomFor(value.length));
  try {
    const bytes = zstdDecompressSync(value, { maxOutputLength: Math.max(1, most) });
    limit.expanded(value.length, bytes.length);
    return decodeText(bytes);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw expandsTooMuch('an event of it', value.length, most);
    return undefined;
  }
}
