import { isObject, type Json, type JsonObject, stringAt } from '../../base/index.js';
import type { DatabaseRows } from '../format.js';
import { parseShallow } from '../shared/jsonl.js';

/** The tables of OpenCode 2. It copies the sessions of version 1 with their ids, and writes to the older tables no more. */
export const secondTables: Readonly<Record<string, readonly string[]>> = {
  session_v2: ['id', 'directory', 'title'],
  session_message: ['id', 'session_id', 'type', 'seq', 'data'],
};

/** Whether a database has the tables of version 2. */
export const hasSecond = (tables: DatabaseRows['tables']): boolean =>
  Object.entries(secondTables).every(([table, columns]) => columns.every((column) => tables.get(table)?.includes(column)));

/** A message as version 1 has it, and the rows that are no messages. */
export interface SecondMessages {
  readonly lines: readonly { readonly info: JsonObject; readonly parts: readonly JsonObject[] }[];
  readonly unread: readonly JsonObject[];
}

/** The messages of a session of version 2 in the form of version 1, in order. */
export function secondMessages(rows: DatabaseRows, sessionId: string): SecondMessages {
  const lines: { info: JsonObject; parts: readonly JsonObject[] }[] = [];
  const unread: JsonObject[] = [];
  const columns = ['id', 'type', 'seq', 'time_created', 'data'].filter((column) => rows.tables.get('session_message')?.includes(column));
  const found = [...rows.each('session_message', columns, { session_id: sessionId })].sort((a, b) => Number(a.seq) - Number(b.seq));
  for (const row of found) {
    const id = String(row.id);
    const data = typeof row.data === 'string' ? parseShallow(row.data) : undefined;
    const made = isObject(data) ? messageOf(String(row.type), id, sessionId, data, Number(row.time_created)) : undefined;
    if (made) lines.push(made);
    else unread.push({ row: { table: 'session_message', id, type: String(row.type), data: data ?? String(row.data) } });
  }
  return { lines, unread };
}

function messageOf(type: string, id: string, sessionID: string, data: JsonObject, created: number): SecondMessages['lines'][number] | undefined {
  const time = isObject(data.time) ? data.time : { created };
  const part = (number: number, value: JsonObject): JsonObject => ({ id: `${id}-${number}`, messageID: id, sessionID, ...value });
  const model: JsonObject = isObject(data.model) ? { modelID: data.model.id ?? null, providerID: data.model.providerID ?? null } : {};
  const more: JsonObject = Object.fromEntries(
    ['agent', 'finish', 'cost', 'tokens', 'error'].flatMap((name) => (data[name] === undefined ? [] : [[name, data[name]]])),
  );
  const text = stringAt(data, 'text') ?? '';
  switch (type) {
    case 'user': {
      const files = (Array.isArray(data.files) ? data.files.filter(isObject) : []).map((file, at) => part(at + 1, { type: 'file', ...file }));
      return { info: { id, sessionID, role: 'user', time, ...more }, parts: [part(0, { type: 'text', text }), ...files] };
    }
    case 'synthetic':
    case 'system':
      return { info: { id, sessionID, role: 'user', time }, parts: [part(0, { type: 'text', text, synthetic: true })] };
    case 'assistant': {
      const content = Array.isArray(data.content) ? data.content.filter(isObject) : [];
      return { info: { id, sessionID, role: 'assistant', time, ...model, ...more }, parts: content.map((one, at) => part(at, contentPart(one))) };
    }
    case 'compaction': {
      const summary = stringAt(data, 'summary') ?? text;
      const info = { id, sessionID, role: 'assistant', time, ...model, ...more, summary: true, finish: stringAt(data, 'finish') ?? 'stop' };
      return summary === '' ? undefined : { info, parts: [part(0, { type: 'text', text: summary })] };
    }
    default:
      return undefined;
  }
}

function contentPart(content: JsonObject): JsonObject {
  if (content.type !== 'tool') return content;
  const state = isObject(content.state) ? content.state : {};
  const output = textsIn(state.content);
  return {
    type: 'tool',
    callID: stringAt(content, 'id') ?? '',
    tool: stringAt(content, 'name') ?? '',
    state: {
      status: stringAt(state, 'status') ?? 'pending',
      input: state.input ?? {},
      ...(state.content !== undefined && { output }),
      ...(state.structured !== undefined && { metadata: state.structured }),
      ...(state.error !== undefined && {
        error: typeof state.error === 'string' ? state.error : (stringAt(state.error, 'message') ?? JSON.stringify(state.error)),
      }),
      ...(isObject(content.time) && { time: { start: content.time.created ?? null, end: content.time.completed ?? null } }),
    },
  };
}

const textsIn = (content: Json | undefined): string =>
  Array.isArray(content)
    ? content.flatMap((part) => stringAt(part, 'text') ?? (isObject(part) ? JSON.stringify(part) : [])).join('\n')
    : typeof content === 'string'
      ? content
      : '';
