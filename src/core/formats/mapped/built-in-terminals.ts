// Agents of the terminal whose sessions are documents or databases of JSON.
import { isObject, type Json, parseJson, stringAt } from '../../base/index.js';
import type { MappingRule } from '../../contract/index.js';
import { isDeep } from '../shared/jsonl.js';
import type { BuiltInDatabase } from './parse-database.js';
import type { Unmapped } from './parse-document.js';
import { byNumber, columnText, has, type lastIds, readRows } from './rows.js';
import { call, each, functionCalls, json, type MappingRules, noted, replied, result, said, thought } from './rules.js';

/** Sessions of Continue's command line. It counts the tokens of a whole session only, and records no times and no system prompt. */
export const continueCli: MappingRules = {
  name: 'continue',
  testedOn: 'one session of another project’s tests',
  recognize: '$.history[?@.message.role]',
  records: '$.history[*]',
  session: { id: '$.sessionId', title: '$.title', cwd: '$.workspaceDirectory' },
  entries: [
    said("@.message.role == 'system'", 'system', '$.message.content'),
    said("@.message.role == 'user'", 'user', { path: '$.message.content', texts: true }),
    each("@.message.role == 'user'", '$.message.content[*]', [said('@.text', 'user', '$.text')]),
    thought('@.reasoning.text', '$.reasoning.text'),
    replied("@.message.role == 'assistant'", { path: '$.message.content', texts: true }),
    functionCalls('$.message.toolCalls[*]'),
    each('@.toolCallStates', '$.toolCallStates[*]', [
      result('@.output', '$.toolCallId', '$.output[*].content', { isError: "@.status == 'errored' || @.status == 'canceled'" }),
      noted('!@.output', 'tool state'),
    ]),
    result("@.message.role == 'tool'", '$.message.toolCallId', '$.message.content'),
  ],
};

const kiroResult = (isError: string): MappingRule => result('@.tool_use_id', '$.tool_use_id', "$.content[*]['Text', 'Json']", { isError });

/** Conversations of Kiro's command line (and of Amazon Q before it). It records no counts and no system prompt. */
export const kiro: MappingRules = {
  name: 'kiro',
  testedOn: 'one conversation of another project’s tests',
  recognize: '$.history[?@.user.content]',
  records: '$.history[*]',
  session: { id: '$.conversation_id', cwd: '$.history[0].user.env_context.env_state.current_working_directory' },
  record: { at: '$.user.timestamp', model: '$.request_metadata.model_id' },
  entries: [
    said(undefined, 'user', '$.user.content.Prompt.prompt'),
    each('@.user.content.ToolUseResults', '$.user.content.ToolUseResults.tool_use_results[*]', [kiroResult("@.status == 'Error'")]),
    each('@.user.content.CancelledToolUses', '$.user.content.CancelledToolUses.tool_use_results[*]', [kiroResult('@.tool_use_id')]),
    said(undefined, 'user', '$.user.content.CancelledToolUses.prompt'),
    replied(undefined, '$.assistant.Response.content'),
    replied(undefined, '$.assistant.ToolUse.content'),
    each('@.assistant.ToolUse', '$.assistant.ToolUse.tool_uses[*]', [call('@.id', '$.name', '$.id', '$.args')]),
  ],
};

/** Kiro's database: a conversation for each folder, as one value. */
export const kiroDatabase: BuiltInDatabase = {
  mapping: kiro,
  mayBe: (name) => /^data\.sqlite3?$/.test(name),
  recognize: (tables) => has(tables, 'conversations_v2', ['key', 'conversation_id', 'value']) || has(tables, 'conversations', ['key', 'value']),
  *sessions(rows) {
    const seen = new Set<string>();
    const all = ['conversations_v2', 'conversations'].flatMap((table) => readRows(rows, table, ['key', 'conversation_id', 'value', 'updated_at']));
    for (const row of all) {
      const value = parseJson(columnText(row.value));
      if (!isObject(value) || isDeep(value)) continue;
      const id = columnText(row.conversation_id) || (stringAt(value, 'conversation_id') ?? columnText(row.key));
      // The older table keeps the last conversation of each folder, which the newer one may have too.
      if (seen.has(id)) continue;
      seen.add(id);
      const history = Array.isArray(value.history) ? value.history : [];
      const records = (): readonly Unmapped[] => history.map((source, at): Unmapped => ({ id: `${at}`, source, at: readTime(source) }));
      yield { id, stamp: `${history.length} ${columnText(row.value).length}`, cwd: columnText(row.key), records };
    }
  },
};

const readTime = (source: Json): string | undefined => stringAt(isObject(source) ? source.user : undefined, 'timestamp');

const crushMapping: MappingRules = {
  name: 'crush',
  testedOn: 'one database of Crush 0.7',
  record: { model: '$.model' },
  entries: [
    each(undefined, '$.parts[*]', [
      { when: "@.type == 'text' && @.isSummary == true", kind: 'summary', text: '$.data.text' },
      said("@.type == 'text' && !@.isSummary", '^$.role', '$.data.text'),
      thought("@.type == 'reasoning'", '$.data.thinking', { signature: '$.data.signature' }),
      call("@.type == 'tool_call'", '$.data.name', '$.data.id', json('$.data.input')),
      result("@.type == 'tool_result'", '$.data.tool_call_id', '$.data.content', { isError: '@.data.is_error == true' }),
      { when: "@.type == 'image_url'", kind: 'image', role: '^$.role', image: '$.data.url' },
      { when: "@.type == 'binary'", kind: 'image', role: '^$.role', image: '$.url' },
      noted("@.type == 'finish' && @.data.reason == 'error'", 'error', { text: '$.data.message', isError: '@.type' }),
      noted("@.type == 'finish' && @.data.reason != 'error'", 'finish'),
    ]),
  ],
};

/** Crush, and OpenCode in Go before it. A summary replaces what precedes it. Counts are per session; no system prompt, no tools. */
export const crush: BuiltInDatabase = {
  mapping: crushMapping,
  mayBe: (name) => name === 'crush.db' || name === 'opencode.db',
  aside: ['files', 'read_files'],
  recognize: (tables) =>
    has(tables, 'messages', ['id', 'session_id', 'role', 'parts', 'created_at']) && has(tables, 'sessions', ['id', 'title', 'prompt_tokens']),
  *sessions(rows) {
    const counts = new Map<string, number>();
    for (const row of readRows(rows, 'messages', ['session_id', 'updated_at'])) {
      const id = columnText(row.session_id);
      counts.set(id, (counts.get(id) ?? 0) + 1 + Number(row.updated_at));
    }
    const columns = ['id', 'title', 'summary_message_id', 'parent_session_id'];
    const known = readRows(rows, 'sessions', columns).sort((a, b) => (columnText(a.id) < columnText(b.id) ? -1 : 1));
    for (const row of known) {
      const [id, title, summary, startedIn] = columns.map((column) => columnText(row[column])) as [string, string, string, string];
      const stamp = counts.get(id);
      if (stamp !== undefined) yield { id, stamp: `${stamp} ${summary}`, title, startedIn, records: () => crushRecords(rows, id, summary) };
    }
  },
};

function crushRecords(rows: Parameters<typeof lastIds>[0], id: string, summary: string): readonly Unmapped[] {
  const columns = ['id', 'role', 'parts', 'model', 'created_at', 'is_summary_message'];
  return readRows(rows, 'messages', columns, { session_id: id })
    .sort(byNumber('created_at'))
    .map((row): Unmapped => {
      const own = columnText(row.id);
      const isSummary = own === summary || Number(row.is_summary_message ?? 0) === 1;
      const parts = parseJson(columnText(row.parts));
      const list = Array.isArray(parts) && !isDeep(parts) ? parts : [];
      const read = list.map((part): Json => {
        if (!isObject(part)) return part;
        const data = isObject(part.data) ? part.data : {};
        const [mime, bytes] = [stringAt(data, 'MIMEType') ?? stringAt(data, 'mime_type'), stringAt(data, 'Data') ?? stringAt(data, 'data')];
        return {
          ...part,
          ...(isSummary && { isSummary }),
          ...(part.type === 'binary' && mime !== undefined && bytes !== undefined && { url: `data:${mime};base64,${bytes}` }),
        };
      });
      const model = columnText(row.model);
      return { id: own, source: { id: own, role: columnText(row.role), ...(model !== '' && { model }), parts: read }, at: Number(row.created_at) };
    });
}
