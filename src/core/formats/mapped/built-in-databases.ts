import { isObject, type JsonObject, stringAt } from '../../base/index.js';
import type { ColumnValue, DatabaseRows } from '../format.js';
import { adk } from './built-in-frameworks.js';
import type { BuiltInDatabase, TableSession } from './parse-database.js';
import type { Unmapped } from './parse-document.js';
import { byNumber, columnJson, columnText, has, lastIds, readRows } from './rows.js';
import { call, counts, each, json, type MappingRules, noted, replied, result, said, thought } from './rules.js';

const gooseMapping: MappingRules = {
  name: 'goose',
  testedOn: 'a database that was made from the published schema 16',
  experimental: true,
  record: {
    call: '$.id',
    usage: counts('$.usage', 'input', 'output', 'cacheRead', 'cacheWrite'),
  },
  entries: [
    { when: '@.isSummary == true', kind: 'summary', text: '$.content[*].text' },
    each('@.isSummary != true', '$.content[*]', [
      said("@.type == 'text'", '^$.role', '$.text'),
      thought("@.type == 'thinking'", '$.thinking', { signature: '$.signature' }),
      thought("@.type == 'reasoning'", '$.text'),
      { when: "@.type == 'image'", kind: 'image', role: '^$.role', image: '$.url' },
      call("@.type == 'toolRequest'", '$.toolCall.value.name', '$.id', '$.toolCall.value.arguments'),
      result("@.type == 'toolResponse' && @.toolResult.error", '$.id', '$.toolResult.error', { isError: '@.id' }),
      result("@.type == 'toolResponse' && !@.toolResult.error", '$.id', '$.toolResult.value.content[*].text', {
        isError: '@.toolResult.value.isError == true',
      }),
      noted("@.type == 'systemNotification' || @.type == 'toolConfirmationRequest'", '$.type'),
    ]),
  ],
};

/** Goose: the messages of all sessions. A summary is a message that only the agent sees; a ledger of calls contains the usage. */
export const goose: BuiltInDatabase = {
  mapping: gooseMapping,
  mayBe: (name) => name === 'sessions.db',
  recognize: (tables) =>
    has(tables, 'messages', ['session_id', 'role', 'content_json', 'created_timestamp']) && has(tables, 'sessions', ['id', 'working_dir']),
  *sessions(rows) {
    const counts = lastIds(rows, 'messages', 'id');
    const known = readRows(rows, 'sessions', ['id', 'name', 'working_dir']).sort((a, b) => (columnText(a.id) < columnText(b.id) ? -1 : 1));
    for (const session of known) {
      const id = columnText(session.id);
      const stamp = counts.get(id);
      if (stamp === undefined) continue;
      yield { id, stamp, title: columnText(session.name), cwd: columnText(session.working_dir), records: () => gooseRecords(rows, id) };
    }
  },
};

function gooseRecords(rows: DatabaseRows, id: string): readonly Unmapped[] {
  const columns = ['id', 'message_id', 'role', 'content_json', 'created_timestamp', 'metadata_json'];
  const ledger = Map.groupBy(
    readRows(rows, 'usage_ledger', ['id', 'created_timestamp', 'is_compaction', ...ledgerCounts.map(([, column]) => column)], { session_id: id })
      .filter((row) => !Number(row.is_compaction))
      .sort(byNumber('id')),
    (row) => Number(row.created_timestamp),
  );
  return readRows(rows, 'messages', columns, { session_id: id })
    .sort(byNumber('id'))
    .map((row): Unmapped => {
      const metadata = columnJson(row.metadata_json ?? null);
      const role = columnText(row.role);
      const counted = role === 'assistant' ? ledger.get(Number(row.created_timestamp))?.shift() : undefined;
      const own = columnText(row.message_id) || String(row.id);
      return {
        id: own,
        source: {
          id: own,
          role,
          content: columnJson(row.content_json),
          ...(isObject(metadata) && { metadata, isSummary: role === 'user' && metadata.userVisible === false && metadata.agentVisible === true }),
          ...(counted && { usage: Object.fromEntries(ledgerCounts.map(([name, column]) => [name, numberOrNull(counted[column])])) }),
        },
        at: Number(row.created_timestamp),
      };
    });
}

const ledgerCounts = [
  ['input', 'input_tokens'],
  ['output', 'output_tokens'],
  ['cacheRead', 'cache_read_tokens'],
  ['cacheWrite', 'cache_write_tokens'],
] as const;
const numberOrNull = (value: ColumnValue | undefined): number | null => (value === null || value === undefined ? null : Number(value));

const itemTexts = ['input_text', 'output_text', 'text'].map((type) => `@.type == '${type}'`).join(' || ');
const openAiAgentsMapping: MappingRules = {
  name: 'openai-agents',
  testedOn: 'a database with a branch that was made from the published schema',
  experimental: true,
  record: { call: '$.call' },
  entries: [
    said('@.item.role', { path: '$.item.role', map: { developer: 'system' } }, { path: '$.item.content', texts: true }),
    each('@.item.role', '$.item.content[*]', [
      said(itemTexts, { path: '^$.item.role', map: { developer: 'system' } }, '$.text'),
      replied("@.type == 'refusal'", '$.refusal'),
      { when: "@.type == 'input_image'", kind: 'image', image: '$.image_url' },
    ]),
    { when: "@.item.type == 'reasoning'", each: '$.item.summary[*]', kind: 'thinking', text: '$.text' },
    call("@.item.type == 'function_call'", '$.item.name', '$.item.call_id', json('$.item.arguments')),
    result("@.item.type == 'function_call_output'", '$.item.call_id', '$.item.output'),
    noted("@.item.type == 'compaction'", 'compaction'),
  ],
};

/** Sessions of the OpenAI Agents SDK: items of the Responses API. The advanced sessions have branches that share their first messages. */
export const openAiAgents: BuiltInDatabase = {
  mapping: openAiAgentsMapping,
  mayBe: (name) => /(?:sessions?|conversations?|agents?)[\w-]*\.(?:db|sqlite3?)$/.test(name),
  recognize: (tables) => has(tables, 'agent_messages', ['id', 'session_id', 'message_data']),
  *sessions(rows) {
    for (const [id, stamp] of [...lastIds(rows, 'agent_messages', 'id')].sort(([a], [b]) => (a < b ? -1 : 1)))
      yield { id, stamp, records: () => itemRecords(rows, id) };
  },
};

function itemRecords(rows: DatabaseRows, id: string): readonly Unmapped[] {
  const found = readRows(rows, 'agent_messages', ['id', 'message_data', 'created_at'], { session_id: id }).sort(byNumber('id'));
  const columns = ['message_id', 'branch_id', 'sequence_number'];
  const places = readRows(rows, 'message_structure', columns, { session_id: id }).sort(byNumber('sequence_number'));
  const parents = new Map<string, string | null>();
  const ends = new Map<string, string>();
  for (const place of places) {
    const [branch, message] = [columnText(place.branch_id), columnText(place.message_id)];
    if (!parents.has(message)) parents.set(message, ends.get(branch) ?? null);
    ends.set(branch, message);
  }
  // Consecutive items belong to one reply until a result or a person's message follows.
  let reply = '';
  return found.map((row): Unmapped => {
    const own = columnText(row.id);
    const item = columnJson(row.message_data);
    const isReply = isObject(item) && item.role !== 'user' && item.type !== 'function_call_output';
    reply = isReply ? reply || own : '';
    return { id: own, source: { item, ...(isReply && { call: reply }) }, parent: parents.get(own), at: utc(columnText(row.created_at)) };
  });
}

/** SQLite writes times in UTC without a time zone. */
const utc = (text: string): string => (/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?$/.test(text) ? `${text.replace(' ', 'T')}Z` : text);

/** Sessions of Google ADK. `actions` of older databases is a Python pickle, which is not read. A rewind begins a branch. */
export const adkDatabase: BuiltInDatabase = {
  mapping: adk,
  mayBe: (name) => /sessions?\.db$|agent_data\.db$/.test(name),
  recognize: (tables) => has(tables, 'sessions', ['app_name', 'id']) && has(tables, 'events', ['id', 'session_id', 'invocation_id']),
  *sessions(rows) {
    const events = Map.groupBy(readRows(rows, 'events', ['session_id']), (row) => columnText(row.session_id));
    for (const row of readRows(rows, 'sessions', ['id', 'app_name'])) {
      const [id, title] = [columnText(row.id), columnText(row.app_name)];
      const count = events.get(id)?.length;
      if (count !== undefined) yield { id, title, stamp: String(count), records: () => eventRecords(rows, id) } satisfies TableSession;
    }
  },
};

function eventRecords(rows: DatabaseRows, id: string): readonly Unmapped[] {
  const columns = ['id', 'invocation_id', 'author', 'timestamp', 'content', 'event_data', 'partial', 'error_code', 'error_message'];
  const events = readRows(rows, 'events', columns, { session_id: id }).map((row): { at: string; event: JsonObject } => {
    const data = columnJson(row.event_data ?? null);
    const names = { id: columnText(row.id), invocation_id: columnText(row.invocation_id) };
    const event: JsonObject = isObject(data) ? { ...data, ...names } : { ...names, author: columnText(row.author), content: columnJson(row.content) };
    return { at: utc(columnText(row.timestamp)), event };
  });
  events.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
  const firstOf = new Map<string, string | null>();
  let last: string | null = null;
  return events.map(({ at, event }): Unmapped => {
    const own = stringAt(event, 'id') ?? '';
    const invocation = stringAt(event, 'invocation_id') ?? '';
    if (!firstOf.has(invocation)) firstOf.set(invocation, last);
    const rewound = stringAt(event.actions, 'rewind_before_invocation_id') ?? stringAt(event.actions, 'rewindBeforeInvocationId');
    const parent: string | null = rewound !== undefined && firstOf.has(rewound) ? (firstOf.get(rewound) ?? null) : last;
    last = own;
    return { id: own, source: event, parent, at };
  });
}
