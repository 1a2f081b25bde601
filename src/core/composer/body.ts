import { type Json, type JsonObject, parseJson, unreachable } from '../base/index.js';
import type { MemoryMessage, Wire } from '../contract/index.js';
import { answeredCall, type SignedThought, thoughtsOf, toolCallsOf } from './memory.js';
import { refuse } from './refusals.js';

/** The request body of a provider. @throws BAD_REQUEST with `data.reason` UNPAIRED_TOOL_CALL: no provider accepts a call without its result. */
export function requestBody(messages: readonly MemoryMessage[], wire: Wire, model = 'MODEL'): Json {
  checkPairing(
    messages.map((each) => {
      const answered = answeredCall(each);
      return { toolCalls: toolCallsOf(each).map(({ id }) => id), results: answered === undefined ? [] : [answered] };
    }),
  );
  const system = messages.flatMap(({ role, content }) => (role === 'system' && content !== '' ? [content] : []));
  const written = <Part>(as: Written<Part>): Part[] => messages.map((message) => as[message.role](message, messages));
  switch (wire) {
    case 'anthropic': {
      const blocks = system.map((text) => ({ type: 'text', text }));
      return { model, max_tokens: 4_096, system: blocks, messages: joined(written(anthropic).flat(), 'content') };
    }
    case 'openai':
      return { model, messages: written(openai) };
    case 'responses': {
      const instructions = system.length > 0 && { instructions: system.join('\n\n') };
      // By default this provider stores requests.
      return { model, ...instructions, input: written(responses).flat(), store: false };
    }
    case 'gemini':
      return { systemInstruction: { parts: system.map((text) => ({ text })) }, contents: joined(written(gemini).flat(), 'parts') };
    default:
      return unreachable(wire);
  }
}

/** How a provider gets a message of each role. `all`: the messages of the call. */
type Written<Part> = Readonly<Record<MemoryMessage['role'], (message: MemoryMessage, all: readonly MemoryMessage[]) => Part>>;

interface Turn {
  readonly role: string;
  readonly parts: readonly Json[];
}

/** Joins adjacent turns of the same role: these providers require alternating roles. */
function joined(turns: readonly Turn[], name: 'content' | 'parts'): readonly Json[] {
  const merged: { role: string; parts: Json[] }[] = [];
  for (const turn of turns) {
    const last = merged.at(-1);
    if (last?.role === turn.role) last.parts.push(...turn.parts);
    else merged.push({ role: turn.role, parts: [...turn.parts] });
  }
  return merged.map(({ role, parts }) => ({ role, [name]: parts }));
}

const turn = (role: string, ...parts: readonly Json[]): readonly Turn[] => [{ role, parts }];
const texts = (content: string): readonly Json[] => (content === '' ? [] : [{ type: 'text', text: content }]);

const anthropic: Written<readonly Turn[]> = {
  system: () => [],
  human: ({ content }) => turn('user', ...texts(content)),
  ai: (message) => {
    const calls = toolCallsOf(message).map(({ id, name, args }) => ({ type: 'tool_use', id, name, input: args as Json }));
    return turn('assistant', ...thoughtsOf(message).flatMap(anthropicThought), ...texts(message.content), ...calls);
  },
  tool: (message) => turn('user', { type: 'tool_result', tool_use_id: answeredCall(message) ?? null, content: message.content }),
};

const anthropicThought = ({ text, signature, data }: SignedThought): readonly Json[] => {
  if (data !== undefined) return [{ type: 'redacted_thinking', data }];
  return signature === undefined ? [] : [{ type: 'thinking', thinking: text, signature }];
};

/** Reasoning models behind the Chat Completions API need their reasoning back with the result of the call. It has no signature. */
const reasoningOf = ({ reasoning_content: text }: MemoryMessage): JsonObject => (typeof text === 'string' ? { reasoning_content: text } : {});

const openai: Written<Json> = {
  system: ({ content }) => ({ role: 'system', content }),
  human: ({ content, name }) => ({ role: 'user', content, ...(name !== undefined && { name }) }),
  ai: (message) => {
    const calls = toolCallsOf(message).map(({ id, name, args }) => ({ id, type: 'function', function: { name, arguments: JSON.stringify(args) } }));
    return { role: 'assistant', content: message.content, ...(calls.length > 0 && { ...reasoningOf(message), tool_calls: calls }) };
  },
  tool: (message) => ({ role: 'tool', tool_call_id: answeredCall(message) ?? null, content: message.content }),
};

const responsesThought = ({ text, encrypted_content: sealed }: SignedThought): readonly Json[] =>
  sealed === undefined ? [] : [{ type: 'reasoning', summary: text === '' ? [] : [{ type: 'summary_text', text }], encrypted_content: sealed }];

const responsesText = (role: string, type: string, text: string): readonly Json[] =>
  text === '' ? [] : [{ type: 'message', role, content: [{ type, text }] }];

const responses: Written<readonly Json[]> = {
  system: () => [],
  human: ({ content }) => responsesText('user', 'input_text', content),
  ai: (message) => [
    ...thoughtsOf(message).flatMap(responsesThought),
    ...responsesText('assistant', 'output_text', message.content),
    ...toolCallsOf(message).map(({ id, name, args }) => ({ type: 'function_call', call_id: id, name, arguments: JSON.stringify(args) })),
  ],
  tool: (message) => [{ type: 'function_call_output', call_id: answeredCall(message) ?? null, output: message.content }],
};

const geminiText = (text: string): readonly Json[] => (text === '' ? [] : [{ text }]);

const gemini: Written<readonly Turn[]> = {
  system: () => [],
  human: ({ content }) => turn('user', ...geminiText(content)),
  ai: (message) => {
    const calls = toolCallsOf(message).map(({ id, name, args, thoughtSignature }) => ({
      functionCall: { id, name, args: args as Json },
      ...(thoughtSignature !== undefined && { thoughtSignature }),
    }));
    return turn('model', ...geminiText(message.content), ...calls);
  },
  tool: (message, all) => {
    const id = answeredCall(message) ?? null;
    const name = all.flatMap(toolCallsOf).find((one) => one.id === id)?.name ?? message.name ?? 'tool';
    return turn('user', { functionResponse: { id, name, response: { result: parseJson(message.content) ?? message.content } } });
  },
};

type PairedMessage = { readonly role?: string } & Partial<Readonly<Record<'toolCalls' | 'results', readonly string[]>>>;

/**
 * Checks that the results of all calls follow directly: models accept no other list (B-03). A message has the ids of its calls and of the calls that it
 * answers. @throws BAD_REQUEST: UNPAIRED_TOOL_CALL
 */
export function checkPairing(messages: readonly PairedMessage[]): void {
  let open: ReadonlySet<string> = new Set();
  for (const message of messages) {
    const results = message.results ?? [];
    const stray = results.filter((id) => !open.has(id));
    if (stray.length > 0) throw unpaired(stray, 'has a result without a call directly before it');
    if (results.length === 0 && open.size > 0) throw unpaired([...open], 'has no result before the next message');
    open = new Set([...[...open].filter((id) => !results.includes(id)), ...(message.toolCalls ?? [])]);
  }
  if (open.size > 0) throw unpaired([...open], 'has no result at the end of the list');
}

const unpaired = (ids: readonly string[], what: string): Error => refuse('UNPAIRED_TOOL_CALL', 'messages', `tool call ${ids.join(', ')} ${what}`);
