import { isObject, type Json, type JsonObject, parseJson } from '../../base/index.js';
import type { ColumnValue, DatabaseReader, DatabaseRows } from '../format.js';
import { columnText, has } from '../mapped/rows.js';
import { readMembers } from './parse-conversation.js';
import { withDetails } from './parse-sent.js';
import type { ReadSpan } from './parse-spans.js';

const columns = ['span_id', 'trace_id', 'parent_span_id', 'name', 'start_time_ms', 'end_time_ms', 'status_code', 'status_message'];

/** The store in which Copilot Chat for VS Code keeps its spans. */
export const database: DatabaseReader = {
  mayBe: (name) => /traces?[\w.-]*\.(?:db|sqlite)$/.test(name),
  keeps: { not: 'The database also holds the hooks and settings of the editor. Stemma keeps each session instead.' },
  recognize: (tables) => has(tables, 'spans', columns) && has(tables, 'span_attributes', ['key']),
  members: (rows) => readMembers(spansIn(rows).map(withDetails)),
};

function spansIn(rows: DatabaseRows): readonly ReadSpan[] {
  const attributes = new Map<string, { [name: string]: Json }>();
  for (const row of rows.each('span_attributes', ['span_id', 'key', 'value'])) {
    const id = columnText(row.span_id);
    const own = attributes.get(id) ?? {};
    own[columnText(row.key)] = attributeValue(columnText(row.key), row.value);
    attributes.set(id, own);
  }
  return [...rows.each('spans', columns)].map((row): ReadSpan => {
    const id = columnText(row.span_id);
    const own: JsonObject = attributes.get(id) ?? {};
    return {
      traceId: columnText(row.trace_id),
      spanId: id,
      parentSpanId: columnText(row.parent_span_id) || undefined,
      name: columnText(row.name),
      start: Math.floor(Number(row.start_time_ms)) || 0,
      end: Math.floor(Number(row.end_time_ms)) || 0,
      attributes: own,
      events: [],
      failed: Number(row.status_code) === 2 ? columnText(row.status_message) || 'error' : undefined,
    };
  });
}

/** Attributes are stored as texts. Counts are numbers again; lists of messages stay texts, as other tools write them. */
function attributeValue(name: string, value: ColumnValue | undefined): Json {
  const text = columnText(value);
  if (!/^gen_ai\.usage\./.test(name)) return text;
  const number = parseJson(text);
  return isObject(number) || number === undefined ? text : number;
}
