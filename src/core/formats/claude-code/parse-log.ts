import { createHash } from 'node:crypto';
import { defined, isObject, type Json, type JsonObject, parseJson, stringAt, textOf } from '../../base/index.js';
import type { DocumentReader, Member, Problem } from '../format.js';
import { isDeep, writeLines } from '../shared/jsonl.js';

/**
 * The output of `claude -p --output-format stream-json`, as lines or as one list. Its records name no parents, and those of older versions have no
 * ids: each follows the record before it, in the conversation or in a subagent of it. The log has the prompt only where it was replayed into it.
 */
export const log: DocumentReader = {
  keeps: true,
  recognize: (head) => {
    const text = textOf(head);
    return (
      /^\uFEFF?(?:(?![ \t]*[[{]).*\n){0,20}\s*(?:\[\s*)?\{/.test(text) &&
      /"subtype":\s*"init"/.test(text) &&
      /"session_id":/.test(text) &&
      /"(?:tools":\s*\[|claude_code_version")/.test(text) &&
      !/"sessionId":/.test(text) &&
      !isOfDroid(text)
    );
  },
  members(document) {
    const records = recordsIn(document).flatMap(({ value }) => (isObject(value) && !isDeep(value) ? [value] : []));
    if (!records.some(({ type, subtype }) => type === 'system' && subtype === 'init')) return undefined;
    const sessions = Map.groupBy(records, (record) => stringAt(record, 'session_id') ?? '');
    return [...sessions].filter(([id, some]) => id !== '' && some.some(isMessage)).map(([id, some]) => memberOf(id, some));
  },
  unread: (document): readonly Problem[] =>
    recordsIn(document).flatMap(({ value, line }) => (value === undefined ? [{ line, reason: 'not JSON' }] : [])),
};

/** Droid begins its log with the same record. Its messages have their text themselves. */
const isOfDroid = (text: string): boolean => /"type":\s*"message"/.test(text) && !/"message":\s*\{/.test(text);

interface Read {
  readonly line: number;
  readonly value: Json | undefined;
}

/** The values of a list, or of lines. A value is undefined if it is not JSON. */
function recordsIn(document: Uint8Array): readonly Read[] {
  const text = textOf(document).replace(/^\uFEFF/, '');
  const whole = /^\s*\[/.test(text) ? parseJson(text) : undefined;
  if (Array.isArray(whole)) return whole.map((value: Json, at) => ({ line: at + 1, value }));
  return text.split('\n').flatMap((line, at) => (line.trim() === '' ? [] : [{ line: at + 1, value: parseJson(line.replace(/,\s*$/, '')) }]));
}

const isMessage = ({ type }: JsonObject): boolean => type === 'user' || type === 'assistant';

/** A session of a log, as lines of a session file. */
function memberOf(sessionId: string, records: readonly JsonObject[]): Member {
  const cwd = records.map((record) => stringAt(record, 'cwd')).find((one) => one !== undefined);
  return { id: sessionId, lines: () => writeLines(linesOf(sessionId, records, cwd)), ...defined({ cwd }) };
}

function linesOf(sessionId: string, records: readonly JsonObject[], cwd: string | undefined): JsonObject[] {
  const last = new Map<string, string>();
  let print = '';
  return records.map((record): JsonObject => {
    if (!isMessage(record) && record.type !== 'system') return { ...record, sessionId };
    const agent = stringAt(record, 'parent_tool_use_id') ?? '';
    print = createHash('sha256')
      .update(`${print}${JSON.stringify(record)}`)
      .digest('hex');
    const uuid = stringAt(record, 'uuid') ?? print.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');
    const line = {
      ...record,
      parentUuid: last.get(agent) ?? null,
      isSidechain: agent !== '',
      sessionId,
      uuid,
      ...defined({ cwd }),
      ...(agent !== '' && { parentToolUseID: agent }),
    };
    last.set(agent, uuid);
    return line;
  });
}
