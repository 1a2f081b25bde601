import { isObject, type Json, type JsonObject, parseJson, stringAt } from '../../base/index.js';
import type { Provider } from '../../contract/index.js';
import type { Usage } from '../runtimes/runtime.js';
import { cacheMark, withoutMarks } from './canonical.js';
import type { CacheMark } from './marks.js';

/** Bodies and replies in the wire format of each provider. Pure functions. */

/** The names of the members of a provider's body that hold the messages, the system prompt and the tools. */
export interface BodyLayout {
  readonly list: 'messages' | 'input' | 'contents';
  readonly system: 'system' | 'instructions' | 'systemInstruction' | 'system_instruction';
}

export const anthropicLayout: BodyLayout = { list: 'messages', system: 'system' };

/** The layout of a body. OpenAI's two kinds of calls and Gemini's two spellings are distinguished by the members of the body. */
export function layoutOf(provider: Provider, body: JsonObject): BodyLayout {
  if (provider === 'anthropic') return anthropicLayout;
  if (provider === 'openai')
    return Array.isArray(body.messages) ? { list: 'messages', system: 'instructions' } : { list: 'input', system: 'instructions' };
  return { list: 'contents', system: Object.hasOwn(body, 'system_instruction') ? 'system_instruction' : 'systemInstruction' };
}

/** A body split into the stored parts. Each part is stored once by content, even if many calls have it. */
export type WireBody = Readonly<ReturnType<typeof readBody>>;

/** Members that name the caller. */
const callerFields: Readonly<Record<Provider, readonly string[]>> = {
  anthropic: ['metadata'],
  openai: ['user', 'safety_identifier', 'client_metadata', 'metadata'],
  gemini: ['labels'],
};

/** Claude Code's first system block, which differs in every call. */
export const isBilling = (block: Json): boolean => /^x-anthropic-billing-header/.test(stringAt(block, 'text') ?? '');

/** Splits a body into its parts. @param path The path of the request, which names the model for Gemini. */
export function readBody(provider: Provider, path: string, body: JsonObject) {
  const layout = layoutOf(provider, body);
  const list = body[layout.list];
  const withheld = callerFields[provider].filter((name) => Object.hasOwn(body, name));
  const system = body[layout.system];
  const blocks = Array.isArray(system) ? system : [];
  const firstKept = blocks.findIndex((block) => !isBilling(block));
  const head = blocks.slice(0, firstKept < 0 ? blocks.length : firstKept);
  const shape = {
    ...(system !== undefined && { system: head.length ? blocks.slice(head.length) : system }),
    ...(body.tools !== undefined && { tools: body.tools }),
  };
  const inParts = new Set<string>([...(Array.isArray(list) ? [layout.list] : []), layout.system, 'tools', ...withheld]);
  return {
    layout,
    /** Without cache marks. */
    messages: Array.isArray(list) ? list.map(withoutMarks) : [],
    /** System prompt and tools, without cache marks, by the names that shapes use. */
    shape: withoutMarks(shape) as JsonObject,
    /** First blocks of the system prompt that change from call to call and are not part of the shape. */
    head,
    params: Object.fromEntries(Object.entries(body).filter(([name]) => !inParts.has(name))),
    marks: marksIn({ ...shape, ...(Array.isArray(list) && { messages: list }) }),
    /** The members of the body in their order. */
    order: Object.keys(body).filter((name) => !withheld.includes(name)),
    model: stringAt(body, 'model') ?? /\/models\/([^/:]+):/.exec(path)?.[1] ?? null,
    sessionId: sessionIn(body),
    /** Members that name an account, a person or a machine. They are not stored (R5). */
    withheld,
  };
}

/** The positions of cache marks. Paths use the names that stored calls have for their parts. */
function marksIn(value: Json, path: readonly (string | number)[] = []): CacheMark[] {
  if (Array.isArray(value)) return value.flatMap((item, at) => marksIn(item, [...path, at]));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, member]) =>
    key === cacheMark ? [{ path, value: member as Json }] : marksIn(member as Json, [...path, key]),
  );
}

/** The session that the body names. Claude Code writes it into the user's id, Codex next to its turn's id. */
function sessionIn(body: JsonObject): string | undefined {
  const user = stringAt(body.metadata, 'user_id');
  const told = user === undefined ? undefined : parseJson(user);
  return (
    stringAt(told, 'session_id') ??
    /_session_([0-9a-f-]{36})$/.exec(user ?? '')?.[1] ??
    stringAt(body.client_metadata, 'thread_id') ??
    stringAt(body.client_metadata, 'session_id')
  );
}

/** The marks of a reply by which the lines of a transcript with it are found. */
export interface WireReply {
  readonly messageId: string | undefined;
  readonly toolCallIds: readonly string[];
  readonly text: string;
  readonly usage: Usage;
}

/** Reads a reply. Never throws. @param reply The original reply: one JSON document, or server-sent events, possibly cut off. */
export function readReply(provider: Provider, reply: string): WireReply {
  const whole = parseJson(reply);
  const events = whole === undefined ? eventsIn(reply) : Array.isArray(whole) ? whole : [whole];
  return readers[provider](events.filter(isObject));
}

function eventsIn(stream: string): Json[] {
  return stream.split(/\r?\n/).flatMap((line) => {
    const event = line.startsWith('data:') ? parseJson(line.slice('data:'.length).trim()) : undefined;
    return event === undefined ? [] : [event];
  });
}

const readers: Readonly<Record<Provider, (events: readonly JsonObject[]) => WireReply>> = {
  anthropic(events) {
    const message = events
      .map((event) => (event.type === 'message_start' ? event.message : event))
      .find((each) => stringAt(each, 'type') === 'message');
    const whole = itemsAt(message, 'content');
    const blocks = [...whole, ...events.flatMap((event) => (event.type === 'content_block_start' ? [event.content_block ?? null] : []))];
    const deltas = events.map((event) => stringAt(event.delta, 'text') ?? '').join('');
    const counted = [isObject(message) ? message.usage : undefined, ...events.map((event) => event.usage)];
    return {
      messageId: stringAt(message, 'id'),
      toolCallIds: blocks.flatMap((block) => (stringAt(block, 'type') === 'tool_use' ? (stringAt(block, 'id') ?? []) : [])),
      text: blocks.map((block) => stringAt(block, 'text') ?? '').join('') + deltas,
      usage: usageIn(counted, {
        input: ['input_tokens'],
        output: ['output_tokens'],
        cacheRead: ['cache_read_input_tokens'],
        cacheWrite: ['cache_creation_input_tokens'],
      }),
    };
  },
  openai(events) {
    const responses = events.map((event) => (isObject(event.response) ? event.response : event));
    const items = [...responses.flatMap((each) => itemsAt(each, 'output')), ...events.flatMap((event) => event.item ?? [])];
    const choices = events.flatMap((event) => itemsAt(event, 'choices'));
    const said = choices.flatMap((choice) => (isObject(choice) ? [choice.message ?? choice.delta ?? null] : []));
    const fromItems = new Map(
      items.flatMap((item) => {
        const text = itemsAt(item, 'content')
          .map((part) => stringAt(part, 'text') ?? '')
          .join('');
        return text === '' ? [] : [[stringAt(item, 'id') ?? text, text] as const];
      }),
    );
    return {
      messageId: responses.map((each) => stringAt(each, 'id')).find((id) => id !== undefined && !id.startsWith('event')),
      toolCallIds: [
        ...new Set([
          ...items.flatMap((item) => stringAt(item, 'call_id') ?? []),
          ...said.flatMap((message) => itemsAt(message, 'tool_calls').flatMap((call) => stringAt(call, 'id') ?? [])),
        ]),
      ],
      text: [...fromItems.values()].join('') || said.map((message) => stringAt(message, 'content') ?? '').join(''),
      usage: usageWithCached(
        responses.map((each) => each.usage),
        {
          input: ['input_tokens', 'prompt_tokens'],
          output: ['output_tokens', 'completion_tokens'],
          cacheRead: ['input_tokens_details.cached_tokens', 'prompt_tokens_details.cached_tokens'],
        },
      ),
    };
  },
  gemini(events) {
    const parts = events.flatMap((event) =>
      itemsAt(event, 'candidates').flatMap((candidate) => itemsAt(isObject(candidate) ? candidate.content : null, 'parts')),
    );
    return {
      messageId: events.map((event) => stringAt(event, 'responseId')).find((id) => id !== undefined),
      toolCallIds: parts.flatMap((part) => (isObject(part) ? (stringAt(part.functionCall, 'id') ?? []) : [])),
      text: parts.map((part) => (isObject(part) && part.thought === true ? '' : (stringAt(part, 'text') ?? ''))).join(''),
      usage: usageWithCached(
        events.map((event) => event.usageMetadata),
        { input: ['promptTokenCount'], output: ['candidatesTokenCount'], cacheRead: ['cachedContentTokenCount'] },
      ),
    };
  },
};

const itemsAt = (value: Json | undefined, key: string): readonly Json[] => {
  const list = isObject(value) ? value[key] : undefined;
  return Array.isArray(list) ? list : [];
};

/** The names of each count in an event. A dot leads to a member of a member. */
type Names = Readonly<Record<'input' | 'output' | 'cacheRead', readonly string[]>> & { readonly cacheWrite?: readonly string[] };

/** The counts of a reply, each from the last event that has it, under the first of its names that is found there. */
function usageIn(counted: readonly (Json | undefined)[], { input, output, cacheRead, cacheWrite = [] }: Names): Usage {
  const count = (names: readonly string[]): number | null => {
    for (const each of counted.toReversed())
      for (const name of names) {
        const value = name.split('.').reduce<Json | undefined>((at, step) => (isObject(at) ? at[step] : undefined), each);
        if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number;
      }
    return null;
  };
  return { input: count(input), output: count(output), cacheRead: count(cacheRead), cacheWrite: count(cacheWrite) };
}

/** The same for providers that count cached tokens as part of the input; ours are separate parts. */
function usageWithCached(counted: readonly (Json | undefined)[], names: Names): Usage {
  const usage = usageIn(counted, names);
  const { input, cacheRead } = usage;
  return input === null || cacheRead === null ? usage : { ...usage, input: Math.max(0, input - cacheRead) };
}
