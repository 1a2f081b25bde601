import { isObject, type Json, type JsonObject, parseJson, stringAt } from '../../base/index.js';
import { dataUrl, objectsIn } from '../shared/drafts.js';
import { isDeep } from '../shared/jsonl.js';

const maxTexts = 4;

/** A value that may be JSON in a text, even twice encoded. */
export function unquoted(value: Json | undefined): Json | undefined {
  let read = value;
  for (let times = 0; typeof read === 'string' && /^\s*[[{"]/.test(read) && times < maxTexts; times++) {
    const inner = parseJson(read);
    if (inner === undefined || isDeep(inner)) return read;
    read = inner;
  }
  return read;
}

/**
 * The input or the answer of a model, in the message form of the GenAI conventions. Reads messages by their shape: GenAI, chat completions, Responses,
 * Anthropic, LangChain, and Gemini, whose calls get name and number.
 */
export function exchangeIn(value: Json | undefined, role: 'user' | 'assistant') {
  const read = unquoted(value);
  const numbers: Numbers = { calls: new Map(), results: new Map() };
  const messages = readMessages(read).flatMap((one): JsonObject[] => {
    const message = readMessage(one, role, numbers);
    return message ? [message] : [];
  });
  const config = isObject(read) && isObject(read.config) ? read.config : {};
  const told = isObject(read) ? (read.instructions ?? read.system ?? config.system_instruction ?? config.systemInstruction) : undefined;
  return { system: contentParts(told ?? null), messages };
}

/** The messages of a request or a reply, in any container. */
function readMessages(value: Json | undefined): readonly Json[] {
  if (typeof value === 'string') return [{ content: value }];
  if (Array.isArray(value)) return value.flatMap((one) => (Array.isArray(one) ? one : [one]));
  if (!isObject(value)) return [];
  for (const name of ['messages', 'contents', 'input', 'output'] as const) {
    const held = unquoted(value[name]);
    if (Array.isArray(held)) return readMessages(held);
    if (name === 'input' && typeof held === 'string') return [{ content: held }];
  }
  if (Array.isArray(value.choices)) return objectsIn(value.choices).flatMap(({ message }) => (isObject(message) ? [message] : []));
  if (Array.isArray(value.generations))
    return readMessages(value.generations).flatMap((one) => (isObject(one) && isObject(one.message) ? [one.message] : []));
  return isObject(value.content)
    ? [value.content]
    : value.content !== undefined || value.parts !== undefined || value.kwargs !== undefined
      ? [value]
      : [];
}

interface Numbers {
  readonly calls: Map<string, number>;
  readonly results: Map<string, number>;
}

const roles: Readonly<Record<string, string>> = { model: 'assistant', ai: 'assistant', human: 'user', developer: 'system', function: 'tool' };
const classes: Readonly<Record<string, string>> = { HumanMessage: 'user', AIMessage: 'assistant', SystemMessage: 'system', ToolMessage: 'tool' };

function readMessage(value: Json, otherwise: string, numbers: Numbers): JsonObject | undefined {
  if (!isObject(value)) return typeof value === 'string' ? { role: otherwise, parts: contentParts(value) } : undefined;
  const item = itemParts(value);
  if (item) return item;
  const made = isObject(value.kwargs) ? value.kwargs : value;
  const ofClass = Array.isArray(value.id) ? classes[String(value.id.at(-1)).replace(/Chunk$/, '')] : undefined;
  const said = stringAt(made, 'role') ?? stringAt(made, 'type') ?? otherwise;
  const role = ofClass ?? roles[said] ?? (said === 'message' ? otherwise : said);
  const answers = stringAt(made, 'tool_call_id');
  if (role === 'tool' && answers !== undefined) return { role, parts: [{ type: 'tool_call_response', id: answers, response: made.content ?? '' }] };
  const parts = Array.isArray(made.parts) ? objectsIn(made.parts).map((part) => readPart(part, numbers)) : contentParts(made.content ?? null);
  const calls = objectsIn(made.tool_calls).map((call): JsonObject => {
    const named = isObject(call.function) ? call.function : call;
    return { type: 'tool_call', id: call.id ?? '', name: named.name ?? '', arguments: unquoted(named.arguments ?? call.args) ?? {} };
  });
  const all = [...parts, ...calls];
  return all.length > 0 ? { role, parts: all } : undefined;
}

/** An item of the Responses API that is not a message. */
function itemParts(item: JsonObject): JsonObject | undefined {
  switch (item.type) {
    case 'function_call':
      return {
        role: 'assistant',
        parts: [{ type: 'tool_call', id: item.call_id ?? '', name: item.name ?? '', arguments: unquoted(item.arguments) ?? {} }],
      };
    case 'function_call_output':
      return { role: 'tool', parts: [{ type: 'tool_call_response', id: item.call_id ?? '', response: item.output ?? '' }] };
    case 'reasoning':
      return { role: 'assistant', parts: objectsIn(item.summary).map(({ text }) => ({ type: 'reasoning', content: text ?? '' })) };
    default:
      return undefined;
  }
}

function contentParts(content: Json): readonly JsonObject[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', content }];
  return objectsIn(content).map(readBlock);
}

function readBlock(block: JsonObject): JsonObject {
  const image = stringAt(block.image_url, 'url') ?? stringAt(block, 'image_url');
  if (image !== undefined) return imageOf(image);
  switch (block.type) {
    case 'text':
    case 'input_text':
    case 'output_text':
      return { type: 'text', content: block.text ?? block.content ?? '' };
    case 'thinking':
      return { type: 'reasoning', content: block.thinking ?? '', ...(block.signature !== undefined && { signature: block.signature }) };
    case 'tool_use':
      return { type: 'tool_call', id: block.id ?? '', name: block.name ?? '', arguments: block.input ?? {} };
    case 'tool_result':
      return { type: 'tool_call_response', id: block.tool_use_id ?? '', response: block.content ?? '' };
    default:
      return block;
  }
}

function imageOf(url: string): JsonObject {
  const inline = dataUrl(url);
  return inline
    ? { type: 'blob', modality: 'image', mime_type: inline.mediaType, content: inline.base64 }
    : { type: 'uri', modality: 'image', uri: url };
}

/** A part of a GenAI message, or one of Gemini's. */
function readPart(part: JsonObject, numbers: Numbers): JsonObject {
  if (typeof part.type === 'string') return part;
  const call = part.function_call ?? part.functionCall;
  const answer = part.function_response ?? part.functionResponse;
  if (isObject(call)) return { type: 'tool_call', id: idOf(call, numbers.calls), name: call.name ?? '', arguments: call.args ?? {} };
  if (isObject(answer)) return { type: 'tool_call_response', id: idOf(answer, numbers.results), response: answer.response ?? '' };
  return typeof part.text === 'string' ? { type: part.thought === true ? 'reasoning' : 'text', content: part.text } : { type: 'part', part };
}

function idOf(called: JsonObject, numbers: Map<string, number>): string {
  const id = stringAt(called, 'id');
  if (id !== undefined) return id;
  const name = stringAt(called, 'name') ?? '';
  const number = (numbers.get(name) ?? 0) + 1;
  numbers.set(name, number);
  return `${name}-${number}`;
}
