import { zstdDecompressSync } from 'node:zlib';
import { decodeText, isObject, type JsonObject, parseJson, stringAt } from '../../base/index.js';
import type { ColumnValue, DatabaseReader, DatabaseRows, Member } from '../format.js';
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
  recognize: (tables) => ['session_id', 'seq', 'event_json'].every((column) => tables.get('transcript_events')?.includes(column)),
  *members(rows) {
    const last = new Map<string, number>();
    const limit = expansionLimit();
    for (const row of rows.each('transcript_events', ['session_id', 'seq'])) {
      const id = String(row.session_id);
      last.set(id, Math.max(last.get(id) ?? 0, Number(row.seq)));
    }
    const nodes = nodesOf(rows);
    for (const [id, seq] of [...last].sort(([a], [b]) => (a < b ? -1 : 1))) yield readMember({ rows, limit, id }, seq, nodes.get(id));
  },
};

function nodesOf(rows: DatabaseRows): ReadonlyMap<string, JsonObject> {
  const columns = ['current_session_id', 'entry_json'];
  if (!columns.every((column) => rows.tables.get('session_nodes')?.includes(column))) return new Map();
  return new Map(
    [...rows.each('session_nodes', columns)].flatMap((row) => {
      const entry = typeof row.entry_json === 'string' ? parseJson(row.entry_json) : undefined;
      return isObject(entry) ? [[String(row.current_session_id), entry] as const] : [];
    }),
  );
}

interface Window {
  readonly rows: DatabaseRows;
  readonly limit: ExpansionLimit;
  readonly id: string;
}

function readMember(window: Window, seq: number, node: JsonObject | undefined): Member {
  const title = stringAt(node, 'title') ?? stringAt(node, 'displayName');
  return { id: window.id, stamp: String(seq), lines: () => writeLines(readEvents(window)), ...(title !== undefined && { title }) };
}

/** @throws CORRUPT if the events expand beyond the limit. */
function readEvents({ rows, limit, id }: Window): readonly JsonObject[] {
  const columns = ['seq', 'event_json', 'event_zstd'].filter((column) => rows.tables.get('transcript_events')?.includes(column));
  const found = [...rows.each('transcript_events', columns, { session_id: id })].sort((a, b) => Number(a.seq) - Number(b.seq));
  return found.map((row): JsonObject => {
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
