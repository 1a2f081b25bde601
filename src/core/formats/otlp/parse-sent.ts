import { isObject, type Json, type JsonObject, parseJson, stringAt } from '../../base/index.js';
import { objectsIn } from '../shared/drafts.js';
import { isDeep } from '../shared/jsonl.js';
import { exchangeIn, unquoted } from './parse-messages.js';
import type { ReadSpan } from './parse-spans.js';

type Which = 'input' | 'output';

/** The messages of a span: an attribute of its own, an attribute for each message, or events. Undefined where the span has none. */
export function messagesAt({ attributes, events }: ReadSpan, which: Which): readonly JsonObject[] | undefined {
  const whole = which === 'input' ? attributes['pydantic_ai.all_messages'] : undefined;
  const value = attributes[`gen_ai.${which}.messages`] ?? attributes[which === 'input' ? 'gen_ai.prompt' : 'gen_ai.completion'] ?? whole;
  const list = listAt(value);
  if (list) return list;
  const listed = numberedMessages(attributes, which);
  if (listed.length > 0) return listed;
  const told = eventMessages(attributes, events, which);
  return told.length > 0 ? told : undefined;
}

/** The objects of a list, which may be JSON in a text. Undefined for any other value, and for a list that nests too deep. */
export function listAt(value: Json | undefined): readonly JsonObject[] | undefined {
  const list = typeof value === 'string' ? parseJson(value) : value;
  return Array.isArray(list) && !isDeep(list) ? objectsIn(list) : undefined;
}

/** A span with the attributes that its event contains. */
export function withDetails(span: ReadSpan): ReadSpan {
  const details = span.events.filter(({ name }) => name === 'gen_ai.client.inference.operation.details').map(({ attributes }) => attributes);
  return details.length === 0 ? span : { ...span, attributes: Object.assign({}, ...details, span.attributes) as JsonObject };
}

const prefixes: Readonly<Record<Which, RegExp>> = {
  input: /^(?:gen_ai\.prompt|llm\.input_messages)\.(\d+)\.(?:message\.)?(.+)$/,
  output: /^(?:gen_ai\.completion|llm\.output_messages)\.(\d+)\.(?:message\.)?(.+)$/,
};
const ofCall = /^tool_calls\.(\d+)\.(?:tool_call\.)?(?:function\.)?(id|name|arguments)$/;
const ofContent = /^contents\.(\d+)\.message_content\.(text|image\.image\.url)$/;

type Fields = Map<string, Json>;

/** Messages as attributes of their own, as OpenLLMetry and OpenInference write them. */
function numberedMessages(attributes: JsonObject, which: Which): readonly JsonObject[] {
  return exchangeIn(
    numbered(Object.entries(attributes), prefixes[which]).map((fields): JsonObject => {
      const contents = numbered(fields, ofContent).map((content): JsonObject => {
        const url = content.get('image.image.url');
        return url === undefined ? { type: 'text', text: content.get('text') ?? '' } : { type: 'image_url', image_url: { url } };
      });
      const calls = numbered(fields, ofCall).map(
        (call): JsonObject => ({
          id: call.get('id') ?? '',
          function: { name: call.get('name') ?? '', arguments: call.get('arguments') ?? '{}' },
        }),
      );
      const answers = fields.get('tool_call_id');
      return {
        role: fields.get('role') ?? (which === 'input' ? 'user' : 'assistant'),
        content: contents.length > 0 ? contents : (unquotedList(fields.get('content')) ?? ''),
        ...(calls.length > 0 && { tool_calls: calls }),
        ...(answers !== undefined && { tool_call_id: answers }),
      };
    }),
    which === 'input' ? 'user' : 'assistant',
  ).messages;
}

/** The fields of numbered things, in order. The groups of `like` are the number and the name of the field. */
function numbered(fields: Iterable<readonly [string, Json]>, like: RegExp): readonly Fields[] {
  const found = new Map<number, Fields>();
  for (const [name, value] of fields) {
    const [, number, field] = like.exec(name) ?? [];
    if (number === undefined || field === undefined) continue;
    found.set(Number(number), (found.get(Number(number)) ?? new Map<string, Json>()).set(field, value));
  }
  return [...found].sort(([a], [b]) => a - b).map(([, own]) => own);
}

function unquotedList(value: Json | undefined): Json | undefined {
  const read = unquoted(value);
  return Array.isArray(read) ? read : value;
}

const eventRoles: Readonly<Record<string, string>> = {
  'gen_ai.system.message': 'system',
  'gen_ai.user.message': 'user',
  'gen_ai.assistant.message': 'assistant',
  'gen_ai.tool.message': 'tool',
  'gen_ai.choice': 'choice',
};

/** Messages as events of the span, or as a list of events in an attribute, as Logfire writes them. */
function eventMessages(attributes: JsonObject, events: ReadSpan['events'], which: Which): readonly JsonObject[] {
  const listed = objectsIn(unquoted(attributes.events ?? attributes.all_messages_events)).map((fields) => ({
    name: stringAt(fields, 'event.name') ?? '',
    attributes: fields,
  }));
  const messages = [...events, ...listed].flatMap((event): Json[] => {
    const text = event.attributes[which === 'input' ? 'gen_ai.prompt' : 'gen_ai.completion'];
    if (text !== undefined) return [unquoted(text) ?? ''];
    const role = eventRoles[event.name];
    if (role === undefined || (role === 'choice') !== (which === 'output')) return [];
    const content = unquoted(event.attributes['gen_ai.event.content']);
    const fields = isObject(content) ? content : event.attributes;
    const choice = role === 'choice' ? unquoted(fields.message) : undefined;
    const told = isObject(choice) ? choice : choice === undefined ? fields : { content: choice };
    const calls = unquoted(told.tool_calls);
    return [
      {
        role: role === 'choice' ? 'assistant' : role,
        content: unquotedList(told.content) ?? '',
        ...(Array.isArray(calls) && { tool_calls: calls }),
        ...(role === 'tool' && { tool_call_id: fields.id ?? fields.tool_call_id ?? '' }),
      },
    ];
  });
  return messages.length === 0 ? [] : exchangeIn(messages, which === 'input' ? 'user' : 'assistant').messages;
}
