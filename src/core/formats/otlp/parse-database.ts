import { isObject, type Json, type JsonObject, parseJson } from '../../base/index.js';
import type { ColumnValue, DatabaseReader, DatabaseRows } from '../format.js';
import { readMembers } from './parse-conversation.js';
import { withDetails } from './parse-sent.js';
import type { ReadSpan } from './parse-spans.js';

const columns = ['span_id', 'trace_id', 'parent_span_id', 'name', 'start_time_ms', 'end_time_ms', 'status_code', 'status_message'];

/** The store in which Copilot Chat for VS Code keeps its spans. */
export const database: DatabaseReader = {
  mayBe: (name) => /traces?[\w.-]*\.(?:db|sqlite)$/.test(name),
  keeps: { not: 'The database also holds the hooks and settings of the editor. Stemma keeps each session instead.' },
  recognize: (tables) =>
    columns.every((column) => tables.get('spans')?.includes(column)) && (tables.get('span_attributes')?.includes('key') ?? false),
  members: (rows) => readMembers(spansIn(rows).map(withDetails)),
};

function spansIn(rows: DatabaseRows): readonly ReadSpan[] {
  const attributes = new Map<string, { [name: string]: Json }>();
  for (const row of rows.each('span_attributes', ['span_id', 'key', 'value'])) {
    const id = toText(row.span_id);
    const own = attributes.get(id) ?? {};
    own[toText(row.key)] = attributeValue(toText(row.key), row.value);
    attributes.set(id, own);
  }
  return [...rows.each('spans', columns)].map((row): ReadSpan => {
    const id = toText(row.span_id);
    const own: JsonObject = attributes.get(id) ?? {};
    return {
      traceId: toText(row.trace_id),
      spanId: id,
      parentSpanId: toText(row.parent_span_id) || undefined,
      name: toText(row.name),
      start: Math.floor(Number(row.start_time_ms)) || 0,
      end: Math.floor(Number(row.end_time_ms)) || 0,
      attributes: own,
      events: [],
      failed: Number(row.status_code) === 2 ? toText(row.status_message) || 'error' : undefined,
    };
  });
}

const toText = (value: ColumnValue | undefined): string => (value === null || value === undefined ? '' : String(value));

/** Attributes are stored as texts. Counts are numbers again; lists of messages stay texts, as other tools write them. */
function attributeValue(name: string, value: ColumnValue | undefined): Json {
  const text = toText(value);
  if (!/^gen_ai\.usage\./.test(name)) return text;
  const number = parseJson(text);
  return isObject(number) || number === undefined ? text : number;
}
