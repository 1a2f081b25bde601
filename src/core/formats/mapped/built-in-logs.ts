import { isObject, type Json, type JsonObject, parseJson, stringAt } from '../../base/index.js';
import type { MappingRule } from '../../contract/index.js';
import { listBegun } from '../shared/cut-list.js';
import { isDeep } from '../shared/jsonl.js';
import { call, counts, each, json, type MappingRules, noted, result, said, thought, within } from './rules.js';

/** A finished item of Codex. */
const item = (type: string): string => `@.type == 'item.completed' && @.item.type == '${type}'`;

/** The log of `codex exec --json`. It has neither the prompt nor the model, and counts the calls of a turn together. */
export const codexExec: MappingRules = {
  name: 'codex',
  testedOn: 'a log that was made from a public report (test/fixtures/cases/codex-exec-json)',
  recognize: "$[*][?@.type == 'thread.started' && @.thread_id]",
  sessions: '$[*]',
  session: { id: '$[?@.thread_id].thread_id' },
  entries: [
    thought(item('reasoning'), '$.item.text'),
    said(item('agent_message'), 'assistant', '$.item.text'),
    call(item('command_execution'), 'command_execution', '$.item.id', '$.item'),
    result(item('command_execution'), '$.item.id', '$.item.aggregated_output', { isError: '@.item.exit_code != 0' }),
    call(item('mcp_tool_call'), '$.item.tool', '$.item.id', '$.item.arguments'),
    result(item('mcp_tool_call'), '$.item.id', "$.item['result', 'error']", { isError: '@.item.error' }),
    call(
      "@.type == 'item.completed' && (@.item.type == 'file_change' || @.item.type == 'web_search' || @.item.type == 'todo_list')",
      '$.item.type',
      '$.item.id',
      '$.item',
    ),
    noted(item('error'), 'error', { text: '$.item.message', isError: '@.item' }),
    noted("@.type == 'turn.completed' && @.usage", 'the calls of a turn', {
      usage: within(counts('$.usage', 'input_tokens', 'output_tokens', 'cached_input_tokens')),
    }),
    noted("@.type == 'turn.failed' || @.type == 'error'", '$.type', { text: "$['error', 'message']", isError: '@.type' }),
  ],
};

/** The log of `gemini --output-format stream-json`. It counts the calls of the run together. */
export const geminiStream: MappingRules = {
  name: 'gemini',
  testedOn: 'a log that was made from a public report (test/fixtures/cases/gemini-stream-json)',
  recognize: "$[*][?@.type == 'init' && @.session_id]",
  sessions: '$[*]',
  session: { id: '$[?@.session_id].session_id' },
  record: { at: '$.timestamp', model: '$.model' },
  entries: [
    said("@.type == 'message' && @.role == 'user'", 'user', '$.content'),
    said("@.type == 'message' && @.role == 'assistant'", 'assistant', '$.content'),
    call("@.type == 'tool_use'", '$.tool_name', '$.tool_id', '$.parameters'),
    result("@.type == 'tool_result'", '$.tool_id', "$['output', 'error']", { isError: "@.status == 'error'" }),
    noted("@.type == 'error'", 'error', { text: '$.message', isError: '@.type' }),
    noted("@.type == 'result' && @.stats", 'the calls of a run', { usage: within(counts('$.stats', 'input_tokens', 'output_tokens', 'cached')) }),
  ],
};

/** Cursor writes each tool's call under a name of its own. */
const cursorTools = ['shell', 'read', 'write', 'edit', 'grep', 'glob', 'ls', 'delete', 'todo', 'updateTodos', 'mcp', 'task', 'webSearch', 'webFetch'];

/** The log of `cursor-agent --output-format stream-json`. Newer versions count the calls of the run together, others nothing. */
export const cursorStream: MappingRules = {
  name: 'cursor',
  testedOn: 'a log that was made from a public report (test/fixtures/cases/gemini-stream-json)',
  recognize: "$[*][?@.type == 'system' && @.subtype == 'init' && @.session_id]",
  sessions: '$[*]',
  session: { id: '$[?@.session_id].session_id', cwd: '$[?@.cwd].cwd' },
  record: { model: '$.model' },
  entries: [
    said("@.type == 'user'", 'user', '$.message.content[*].text'),
    said("@.type == 'assistant'", 'assistant', '$.message.content[*].text'),
    thought("@.type == 'thinking' && @.text", '$.text'),
    ...cursorTools.flatMap((tool): MappingRule[] => [
      call(`@.type == 'tool_call' && @.subtype == 'started' && @.tool_call.${tool}ToolCall`, tool, '$.call_id', `$.tool_call.${tool}ToolCall.args`),
      result(`@.type == 'tool_call' && @.subtype == 'completed' && @.tool_call.${tool}ToolCall`, '$.call_id', `$.tool_call.${tool}ToolCall.result`, {
        isError: `@.tool_call.${tool}ToolCall.result.error`,
      }),
    ]),
    call(
      "@.type == 'tool_call' && @.subtype == 'started' && @.tool_call.function",
      '$.tool_call.function.name',
      '$.call_id',
      json('$.tool_call.function.arguments'),
    ),
    noted("@.type == 'result' && @.is_error == true", 'result', { text: '$.result', isError: '@.is_error' }),
    noted("@.type == 'result' && @.usage", 'the calls of a run', {
      usage: counts('$.usage', 'inputTokens', 'outputTokens', 'cacheReadTokens', 'cacheWriteTokens'),
    }),
  ],
};

/** The log of `droid exec --output-format stream-json`. It counts the calls of the run together, or nothing. */
export const droidStream: MappingRules = {
  name: 'droid',
  testedOn: 'one log of droid exec',
  recognize: "$[*][?@.type == 'system' && @.session_id && @.model]",
  sessions: '$[*]',
  session: { id: '$[?@.session_id].session_id', cwd: '$[?@.cwd].cwd' },
  record: { id: '$.id', at: '$.timestamp', model: '$.model' },
  entries: [
    said("@.type == 'message' && @.role == 'user'", 'user', '$.text'),
    said("@.type == 'message' && @.role == 'assistant'", 'assistant', '$.text'),
    thought("@.type == 'reasoning'", '$.text'),
    call("@.type == 'tool_call'", '$.toolName', '$.toolCallId', '$.parameters'),
    result("@.type == 'tool_result'", '$.toolCallId', { path: '$.value' }, { isError: '@.isError == true' }),
    said("@.type == 'completion' && @.finalText", 'assistant', '$.finalText'),
    noted("@.type == 'completion' && @.usage", 'the calls of a run', {
      usage: counts('$.usage', 'input_tokens', 'output_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'),
    }),
    noted("@.type == 'error'", 'error', { text: '$.message', isError: '@.type' }),
  ],
};

/** The records of a log by session, said once: Gemini and Cursor write answers in pieces, Cursor also whole, and Droid repeats the last one. */
export function readLog(text: string): Json | undefined {
  const sessions = new Map<string, JsonObject[]>();
  let current = '';
  for (const value of readValues(text)) {
    if (!isObject(value) || isDeep(value)) continue;
    current = stringAt(value, 'session_id') ?? stringAt(value, 'thread_id') ?? current;
    const records = sessions.get(current) ?? [];
    sessions.set(current, records);
    addRecord(records, value);
  }
  return sessions.size > 0 ? [...sessions.values()] : undefined;
}

function readValues(text: string): readonly unknown[] {
  const whole = /^\s*\[/.test(text) ? parseJson(text) : undefined;
  if (Array.isArray(whole)) return whole;
  return listBegun(text)?.values.map(({ value }) => value) ?? text.split('\n').map((line) => parseJson(line));
}

function addRecord(records: JsonObject[], value: JsonObject): void {
  const last = records.at(-1);
  const isPiece = value.delta === true && last?.delta === true && last.role === value.role && typeof value.content === 'string';
  const isThought = value.type === 'thinking' && last?.type === 'thinking' && value.subtype === 'delta' && last.subtype === 'delta';
  if (last && isPiece) records[records.length - 1] = { ...last, content: `${stringAt(last, 'content') ?? ''}${value.content as string}` };
  else if (last && isThought) records[records.length - 1] = { ...last, text: `${stringAt(last, 'text') ?? ''}${stringAt(value, 'text') ?? ''}` };
  else if (value.type === 'completion' && stringAt(last, 'text') === stringAt(value, 'finalText')) {
    const { finalText: _, ...rest } = value;
    records.push(rest as JsonObject);
  } else {
    if (value.type === 'assistant') dropPieces(records, saidIn(value));
    records.push(value);
  }
}

/** Drops the answers at the end of a log that a whole answer repeats. */
function dropPieces(records: JsonObject[], whole: string): void {
  let said = '';
  for (let at = records.length - 1; at >= 0 && records[at]?.type === 'assistant'; at--) {
    said = `${saidIn(records[at] as JsonObject)}${said}`;
    if (said === whole) records.length = at;
  }
}

const saidIn = ({ message }: JsonObject): string =>
  isObject(message) && Array.isArray(message.content) ? message.content.map((part) => stringAt(part, 'text') ?? '').join('') : '';

/** Amp: a thread as one document. */
export const amp: MappingRules = {
  name: 'amp',
  testedOn: 'one thread of the command line',
  recognize: '$[?@[0].role && @[0].messageId >= 0]',
  records: '$.messages[*]',
  session: { id: '$.id', title: '$.title', cwd: '$.env.initial.trees[0].displayName' },
  record: {
    id: '$.messageId',
    at: '$.meta.sentAt',
    call: '$.messageId',
    usage: counts('$.usage', 'inputTokens', 'outputTokens', 'cacheReadInputTokens', 'cacheCreationInputTokens'),
  },
  entries: [
    each(undefined, '$.content[*]', [
      said("@.type == 'text'", '^$.role', '$.text', { author: '^$.usage.model' }),
      thought("@.type == 'thinking'", '$.thinking', { signature: '$.signature', author: '^$.usage.model' }),
      { when: "@.type == 'redacted_thinking'", kind: 'thinking' },
      call("@.type == 'tool_use'", '$.name', '$.id', '$.input', { author: '^$.usage.model' }),
      result("@.type == 'tool_result'", '$.toolUseID', "$.run['result', 'error']", { isError: "@.run.status == 'error'" }),
      { when: "@.type == 'image'", kind: 'image', role: 'user', image: '$.source.data' },
    ]),
  ],
};
