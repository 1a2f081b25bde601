import { zstdDecompressSync } from 'node:zlib';
import { decodeText, isObject, type Json, type JsonObject, parseJson, stringAt } from '../../base/index.js';
import type { ColumnValue } from '../format.js';
import { objectsIn } from '../shared/drafts.js';
import { maxExpanded } from '../shared/expansion.js';
import { isDeep } from '../shared/jsonl.js';
import type { BuiltInDatabase } from './parse-database.js';
import type { Unmapped } from './parse-document.js';
import { columnText, has, readRows } from './rows.js';
import { call, counts, each, type MappingRules, noted, result, said, thought } from './rules.js';

const zedMapping: MappingRules = {
  name: 'zed',
  testedOn: 'a database that was made from the published types (crates/agent/src/db.rs and thread.rs, threads of version 0.3.0 and before)',
  experimental: true,
  record: {
    model: '$.model',
    call: '$.id',
    usage: counts('$.usage', 'input_tokens', 'output_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'),
  },
  entries: [
    each(undefined, '$.parts[*]', [
      said("@.type == 'text'", '^$.role', '$.text'),
      said("@.type == 'mention'", 'user', '$.text', { isAdded: '@.type' }),
      thought("@.type == 'thinking' && @.text", '$.text', { signature: '$.signature' }),
      noted("@.type == 'redacted'", 'redacted_thinking'),
      { when: "@.type == 'image'", kind: 'image', role: '^$.role', image: '$.url' },
      call("@.type == 'call'", '$.name', '$.id', '$.input'),
      result("@.type == 'result'", '$.id', '$.text', { isError: '@.isError == true' }),
      noted("@.type == 'event'", '$.name'),
    ]),
  ],
};

/**
 * Zed: one compressed document for each thread. It counts the last call of each turn and the sum of all, not each call, and names one model for the
 * whole thread. It records no times of messages, no system prompt and no tools, and keeps no branches: an edited message replaces what followed.
 */
export const zed: BuiltInDatabase = {
  mapping: zedMapping,
  mayBe: (name) => name === 'threads.db',
  recognize: (tables) => has(tables, 'threads', ['id', 'summary', 'data_type', 'data']),
  *sessions(rows) {
    const columns = ['id', 'parent_id', 'folder_paths', 'summary', 'updated_at', 'data_type', 'data'];
    const known = readRows(rows, 'threads', ['id']).map(({ id }) => columnText(id));
    for (const id of known.sort()) {
      const [row] = readRows(rows, 'threads', columns, { id });
      if (!row) continue;
      yield {
        id,
        stamp: columnText(row.updated_at),
        title: columnText(row.summary),
        cwd: columnText(row.folder_paths).split('\n')[0] ?? '',
        startedIn: columnText(row.parent_id),
        records: () => recordsIn(threadIn(columnText(row.data_type), row.data)),
      };
    }
  },
};

/** The document of a thread; undefined if it is damaged or too large. */
function threadIn(type: string, data: ColumnValue | undefined): JsonObject | undefined {
  const bytes = data instanceof Uint8Array ? data : Buffer.from(columnText(data));
  try {
    const text = type === 'zstd' ? decodeText(zstdDecompressSync(bytes, { maxOutputLength: maxExpanded(bytes.length) })) : decodeText(bytes);
    const value = parseJson(text);
    return isObject(value) && !isDeep(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function recordsIn(thread: JsonObject | undefined): readonly Unmapped[] {
  if (!thread) return [{ id: '0', source: { id: '0', role: 'system', parts: [{ type: 'event', name: 'a thread that cannot be read' }] } }];
  const model = stringAt(thread.model, 'model');
  const counts = isObject(thread.request_token_usage) ? thread.request_token_usage : {};
  let asked: string | undefined;
  const read = (Array.isArray(thread.messages) ? thread.messages : []).map((message, at): JsonObject => {
    const { id = `${at}`, role, parts } = messageIn(message);
    if (role === 'user') asked = id;
    return { id, role, parts, ...(role === 'assistant' && { asked: asked ?? '', ...(model !== undefined && { model }) }) };
  });
  // What is counted is the last call of the turn of a prompt.
  return read.map((source, at): Unmapped => {
    const usage =
      typeof source.asked === 'string' && read.findLastIndex(({ asked }) => asked === source.asked) === at ? counts[source.asked] : undefined;
    return { id: String(source.id), source: usage === undefined ? source : { ...source, usage } };
  });
}

/** A message, which names its kind: `{User: …}`, `{Agent: …}`, `Resume`. Older threads name the role and have segments. */
function messageIn(message: Json): { readonly id?: string | undefined; readonly role: string; readonly parts: readonly JsonObject[] } {
  const { User: user, Agent: agent } = isObject(message) ? message : {};
  if (isObject(user)) {
    return { id: stringAt(user, 'id'), role: 'user', parts: (Array.isArray(user.content) ? user.content : []).map(readPart) };
  }
  if (isObject(agent)) {
    const results = isObject(agent.tool_results) ? Object.values(agent.tool_results) : [];
    return {
      role: 'assistant',
      parts: [...(Array.isArray(agent.content) ? agent.content : []).map(readPart), ...results.filter(isObject).flatMap(resultParts)],
    };
  }
  if (!isObject(message)) return { role: 'system', parts: [{ type: 'event', name: typeof message === 'string' ? message : 'message' }] };
  return {
    role: message.role === 'user' ? 'user' : message.role === 'assistant' ? 'assistant' : 'system',
    parts: [
      ...(typeof message.context === 'string' && message.context !== '' ? [{ type: 'mention', text: message.context }] : []),
      ...objectsIn(message.segments).map(
        (segment): JsonObject =>
          segment.type === 'text' || segment.type === 'thinking' ? segment : { ...segment, type: 'event', name: String(segment.type) },
      ),
      ...objectsIn(message.tool_uses).map((use): JsonObject => ({ type: 'call', id: use.id ?? '', name: use.name ?? '', input: use.input ?? {} })),
      ...objectsIn(message.tool_results).flatMap(resultParts),
    ],
  };
}

function readPart(part: Json): JsonObject {
  if (!isObject(part)) return { type: 'event', name: typeof part === 'string' ? part : 'part' };
  const { Text: text, Mention: mention, Image: image, Thinking: thinking, RedactedThinking: redacted, ToolUse: use } = part;
  if (typeof text === 'string') return { type: 'text', text };
  if (isObject(mention)) return { type: 'mention', text: mention.content ?? '', uri: mention.uri ?? null };
  if (isObject(image)) return imageOf(image);
  if (isObject(thinking))
    return { type: 'thinking', text: thinking.text ?? '', ...(typeof thinking.signature === 'string' && { signature: thinking.signature }) };
  if (redacted !== undefined) return { type: 'redacted', data: redacted };
  if (isObject(use)) return { type: 'call', id: use.id ?? '', name: use.name ?? '', input: use.input ?? {} };
  return { type: 'event', name: Object.keys(part)[0] ?? 'part', value: part };
}

/** Zed keeps images as PNG in base64. */
const imageOf = ({ source }: JsonObject): JsonObject => ({ type: 'image', url: `data:image/png;base64,${typeof source === 'string' ? source : ''}` });

/** A result, and its images. Its content is a text, an image, or a list of both. */
function resultParts(result: JsonObject): JsonObject[] {
  const list = Array.isArray(result.content) ? result.content : [result.content ?? ''];
  const texts = list.flatMap(
    (one): string[] => (typeof one === 'string' ? [one] : (stringAt(one, 'Text') ?? stringAt(one, 'text') ?? [])) as string[],
  );
  const images = list.flatMap((one): JsonObject[] => (isObject(one) && isObject(one.Image) ? [imageOf(one.Image)] : []));
  return [{ type: 'result', id: result.tool_use_id ?? '', text: texts.join('\n'), isError: result.is_error === true }, ...images];
}
