import { createHash } from 'node:crypto';
import { decodeText, defined, isObject, type Json, type JsonObject, parseJson, stringAt } from '../../base/index.js';
import type { DocumentReader, Member, Problem } from '../format.js';
import { cutOff, listBegun } from '../shared/cut-list.js';
import { isDeep, writeLines } from '../shared/jsonl.js';

/**
 * The output of `claude -p --output-format stream-json`, as lines or as one list. Its records name no parents, and those of older versions have no
 * ids: each follows the record before it, in the conversation or in a subagent of it. The log has the prompt only where it was replayed into it.
 */
export const log: DocumentReader = {
  keeps: true,
  recognize: (head) => {
    const text = decodeText(head);
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
    return [...sessions].filter(([id, some]) => id !== '' && some.some(isMessage)).map(([id, some]) => readMember(id, some));
  },
  unread: (document): readonly Problem[] =>
    recordsIn(document).flatMap(({ value, line, reason }) => (value === undefined ? [{ line, reason: reason ?? 'not JSON' }] : [])),
};

/** Droid begins its log with the same record. Its messages have their text themselves. */
const isOfDroid = (text: string): boolean => /"type":\s*"message"/.test(text) && !/"message":\s*\{/.test(text);

/** The values of a list, or of lines. A value is undefined if it is not JSON. A list that is cut off ends with such a value. */
function recordsIn(document: Uint8Array): readonly { line: number; value: Json | undefined; reason?: string }[] {
  const text = decodeText(document).replace(/^\uFEFF/, '');
  const whole = /^\s*\[/.test(text) ? parseJson(text) : undefined;
  if (Array.isArray(whole)) return whole.map((value: Json, at) => ({ line: at + 1, value }));
  const lines = text.split('\n').flatMap((line, at) => (line.trim() === '' ? [] : [{ line: at + 1, value: parseJson(line.replace(/,\s*$/, '')) }]));
  const begun = lines.some(({ value }) => isObject(value)) ? undefined : listBegun(text);
  return begun ? [...begun.values, { line: begun.cutAt, value: undefined, reason: cutOff }] : lines;
}

const isMessage = ({ type }: JsonObject): boolean => type === 'user' || type === 'assistant';

function readMember(sessionId: string, records: readonly JsonObject[]): Member {
  const cwd = records.map((record) => stringAt(record, 'cwd')).find((one) => one !== undefined);
  return { id: sessionId, lines: () => writeLines(sessionLines(sessionId, records, cwd)), ...defined({ cwd }) };
}

function sessionLines(sessionId: string, records: readonly JsonObject[], cwd: string | undefined): JsonObject[] {
  const last = new Map<string, string>();
  const runs = new Runs();
  let print = '';
  return records.map((record): JsonObject => {
    const earlier = runs.take(record);
    if (!isMessage(record) && record.type !== 'system') return { ...record, sessionId, ...(earlier.length > 0 && { earlier }) };
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

/** The runs of a log. The sums of a result are those of its process: a session that another process goes on with in the same log counts anew. */
class Runs {
  readonly #counted = new Map<string, { readonly model: string; readonly input: number }>();
  #earlier: readonly JsonObject[] = [];
  #latest: JsonObject | undefined;

  /** Takes the next record. Returns the results of the processes before that of a result. */
  take(record: JsonObject): readonly JsonObject[] {
    const { type, message } = record;
    if (type === 'assistant' && isObject(message))
      this.#counted.set(stringAt(message, 'id') ?? '', { model: stringAt(message, 'model') ?? '', input: sumInput(message.usage) });
    if (type !== 'result') return [];
    const { usage, modelUsage, total_cost_usd = null } = record;
    const sums = isObject(modelUsage) ? Object.entries(modelUsage) : [['', usage] as const];
    // A sum of all calls so far would be at least as much as they.
    const isOfFewer = sums.some(([name, sum]) => sumInput(sum) > 0 && sumInput(sum) < this.#inputOf(name));
    if (this.#latest && isOfFewer) this.#earlier = [...this.#earlier, this.#latest];
    this.#latest = { total_cost_usd, ...defined({ usage, modelUsage }) };
    return this.#earlier;
  }

  /** What the calls of a model have read so far. The name of the model in a sum may have a date, or a mark for the long window. */
  #inputOf(name: string): number {
    const replies = [...this.#counted.values()].filter(({ model }) => model.startsWith(name) || name.startsWith(model));
    return replies.reduce((sum, { input }) => sum + input, 0);
  }
}

const inputNames = [
  ...['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'],
  ...['inputTokens', 'cacheReadInputTokens', 'cacheCreationInputTokens'],
];
const sumInput = (usage: Json | undefined): number =>
  isObject(usage) ? inputNames.reduce((sum, name) => sum + (typeof usage[name] === 'number' ? (usage[name] as number) : 0), 0) : 0;
