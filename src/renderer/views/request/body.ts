import type { Request } from '../../../core/contract/index.js';
import { estimatedTokens } from '../../parts';

/** A block of a message, a system prompt or a tool definition, ready to display. */
export interface BodyPart {
  readonly kind: 'text' | 'thinking' | 'call' | 'result' | 'image' | 'reminder' | 'other';
  readonly title: string;
  readonly text: string;
  /** True if the request asks the provider to cache everything up to this block. */
  readonly cached: boolean;
  /** Estimated. */
  readonly tokens: number;
}

export interface ShownMessage {
  readonly role: string;
  readonly parts: readonly BodyPart[];
  readonly tokens: number;
}

export interface ShownBody {
  readonly system: readonly BodyPart[];
  readonly tools: readonly BodyPart[];
  readonly messages: readonly ShownMessage[];
  readonly parameters: readonly (readonly [name: string, value: string])[];
  /** The number of messages at the start that are the system prompt, for providers without a separate field for it. */
  readonly leading: number;
  /** Each token counts once: leading messages count as system prompt. */
  readonly tokens: { readonly system: number; readonly tools: number; readonly messages: number };
}

type Value = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Value => typeof value === 'object' && value !== null && !Array.isArray(value);
const textAt = (value: unknown, key: string): string | undefined => (isObject(value) && typeof value[key] === 'string' ? value[key] : undefined);
const json = (value: unknown): string => JSON.stringify(value, null, 2) ?? '';

/** Tokens of a value as compact JSON, without cache breakpoints. */
const tokensOfJson = (value: unknown): number =>
  estimatedTokens(JSON.stringify(value, (key, each: unknown) => (key === 'cache_control' ? undefined : each)) ?? '');
/** The engine's estimate for an image of any size. */
const imageTokens = 1_500;

const part = (kind: BodyPart['kind'], title: string, text: string, from?: unknown, tokens = estimatedTokens(text)): BodyPart => ({
  kind,
  title,
  text,
  cached: isObject(from) && from.cache_control !== undefined,
  tokens,
});

const jsonPart = (kind: BodyPart['kind'], title: string, value: unknown): BodyPart => part(kind, title, json(value), value, tokensOfJson(value));

const parameterless = new Set(['system', 'tools', 'messages', 'input', 'contents', 'systemInstruction', 'system_instruction', 'instructions']);

/** Reads the parts of a request body of any provider. */
export function shownBody({ body }: Pick<Request, 'body'>): ShownBody {
  const system = systemOf(body);
  const tools = (Array.isArray(body.tools) ? body.tools : []).map(toolOf);
  const messages = ([body.messages, body.input, body.contents].find(Array.isArray) ?? []).map(showMessage);
  const spoken = messages.findIndex(({ role }) => role !== 'system' && role !== 'developer');
  const leading = system.length > 0 ? 0 : spoken < 0 ? messages.length : spoken;
  const sum = (list: readonly { readonly tokens: number }[]): number => list.reduce((total, each) => total + each.tokens, 0);
  return {
    system,
    tools,
    messages,
    parameters: Object.entries(body)
      .filter(([name]) => !parameterless.has(name))
      .map(([name, value]) => [name, typeof value === 'string' ? value : json(value)] as const),
    leading,
    tokens: { system: sum(system) + sum(messages.slice(0, leading)), tools: sum(tools), messages: sum(messages.slice(leading)) },
  };
}

function systemOf(body: Value): BodyPart[] {
  const system = body.system ?? body.instructions ?? body.systemInstruction ?? body.system_instruction;
  if (typeof system === 'string') return [part('text', 'System prompt', system)];
  const blocks = Array.isArray(system) ? system : isObject(system) && Array.isArray(system.parts) ? system.parts : [];
  return blocks.map((block, at): BodyPart => {
    const title = blocks.length > 1 ? `Block ${at + 1}` : 'System prompt';
    const text = textAt(block, 'text');
    return text === undefined ? jsonPart('text', title, block) : part('text', title, text, block);
  });
}

function toolOf(tool: unknown, at: number): BodyPart {
  const own = isObject(tool) && isObject(tool.function) ? tool.function : tool;
  const declared = isObject(tool) && Array.isArray(tool.functionDeclarations) ? tool.functionDeclarations : [];
  const names = declared.flatMap((each) => textAt(each, 'name') ?? []).join(', ');
  return jsonPart('other', textAt(own, 'name') ?? (names || (textAt(tool, 'type') ?? `Tool ${at + 1}`)), tool);
}

function showMessage(message: unknown): ShownMessage {
  if (!isObject(message)) return { role: 'missing', parts: [part('other', 'This message is missing', '')], tokens: 0 };
  const role = textAt(message, 'role') ?? textAt(message, 'type') ?? 'item';
  const parts = partsOf(message);
  return { role, parts, tokens: parts.reduce((sum, each) => sum + each.tokens, 0) };
}

function partsOf(message: Value): BodyPart[] {
  const content = message.content ?? message.parts;
  const calls = (Array.isArray(message.tool_calls) ? message.tool_calls : []).map((call: unknown) => {
    const own = isObject(call) && isObject(call.function) ? call.function : {};
    return part('call', textAt(own, 'name') ?? 'Tool', textAt(own, 'arguments') ?? json(call), call, tokensOfJson(call));
  });
  if (message.role === 'tool') return [part('result', 'Result', resultText(content ?? null), message), ...calls];
  if (typeof content === 'string') return [textPart(content, message), ...calls];
  if (Array.isArray(content)) return [...content.map(showBlock), ...calls];
  return calls.length > 0 ? calls : [itemPart(message)];
}

/** An item of the Responses API that is not a message. */
function itemPart(item: Value): BodyPart {
  const type = textAt(item, 'type') ?? 'Item';
  const tokens = tokensOfJson(item);
  const summary = (Array.isArray(item.summary) ? item.summary : []).flatMap((each) => textAt(each, 'text') ?? []).join('\n\n');
  if (type === 'reasoning') return part('thinking', 'Thinking', summary || 'Encrypted: only the provider can read it', item, tokens);
  if (type.endsWith('_output')) return part('result', 'Result', resultText(item.output), item, tokens);
  if (type.endsWith('_call'))
    return part('call', textAt(item, 'name') ?? type, textAt(item, 'arguments') ?? textAt(item, 'input') ?? json(item), item, tokens);
  return part('other', type, json(item), item, tokens);
}

/** Text that the agent adds around the person's prompt. It has a color of its own. */
const isReminder = (text: string): boolean => /^\s*<(system-reminder|env|context|ide_)/.test(text);
const textPart = (text: string, from?: unknown): BodyPart =>
  isReminder(text) ? part('reminder', 'Added by the agent', text, from) : part('text', 'Text', text, from);

function showBlock(block: unknown): BodyPart {
  const type = textAt(block, 'type') ?? '';
  if (!isObject(block)) return jsonPart('other', 'Block', block);
  if (isObject(block.functionCall))
    return part('call', textAt(block.functionCall, 'name') ?? 'Tool', json(block.functionCall.args), block, tokensOfJson(block));
  if (isObject(block.functionResponse)) return part('result', 'Result', json(block.functionResponse.response), block, tokensOfJson(block));
  switch (type) {
    case 'text':
    case 'input_text':
    case 'output_text':
      return textPart(textAt(block, 'text') ?? '', block);
    case 'thinking':
      return part('thinking', 'Thinking', textAt(block, 'thinking') ?? '', block);
    case 'tool_use':
      return part(
        'call',
        textAt(block, 'name') ?? 'Tool',
        json(block.input),
        block,
        estimatedTokens(textAt(block, 'name') ?? '') + tokensOfJson(block.input ?? {}),
      );
    case 'tool_result':
      return part('result', block.is_error === true ? 'Result (error)' : 'Result', resultText(block.content), block, tokensOfContent(block.content));
    case 'image':
    case 'input_image':
    case 'image_url':
      return part('image', 'Image', textAt(block.source, 'media_type') ?? 'image', block, imageTokens);
    default:
      return textAt(block, 'text') !== undefined ? textPart(textAt(block, 'text') ?? '', block) : jsonPart('other', type || 'Block', block);
  }
}

function tokensOfContent(content: unknown): number {
  if (typeof content === 'string') return estimatedTokens(content);
  return Array.isArray(content) ? content.reduce<number>((sum, block) => sum + showBlock(block).tokens, 0) : tokensOfJson(content);
}

function resultText(content: unknown): string {
  if (typeof content === 'string') return content;
  return Array.isArray(content) ? content.map((block) => textAt(block, 'text') ?? `[${textAt(block, 'type') ?? 'block'}]`).join('\n') : json(content);
}

/** The provider's field names for the parts that an agent may not have recorded. */
const partNames = {
  system: ['system', 'instructions', 'systemInstruction', 'system_instruction'],
  tools: ['tools'],
  params: ['parameters', 'generationConfig'],
} as const;

/** Whether the list of missing fields contains this part. */
export const isMissing = (part: keyof typeof partNames, missing: readonly string[]): boolean =>
  partNames[part].some((name) => missing.includes(name));

/** The environment variables from which the providers' own clients read address and key. */
const endpoints = {
  anthropic: { base: 'ANTHROPIC_BASE_URL', key: 'ANTHROPIC_API_KEY', header: 'x-api-key: ' },
  openai: { base: 'OPENAI_BASE_URL', key: 'OPENAI_API_KEY', header: 'authorization: Bearer ' },
  gemini: { base: 'GOOGLE_GEMINI_BASE_URL', key: 'GEMINI_API_KEY', header: 'x-goog-api-key: ' },
} as const;

/** OpenAI's base address already contains the version. Gemini names the model in the path instead of the body. */
function requestPath({ provider, body, model }: Asked): string {
  if (provider === 'anthropic') return '/v1/messages';
  if (provider === 'openai') return Array.isArray(body.messages) ? '/chat/completions' : '/responses';
  return `/v1beta/models/${encodeURIComponent(model ?? 'MODEL')}:generateContent`;
}

type Asked = Pick<Request, 'provider' | 'body' | 'headers'> & { readonly model: string | null };

/** A curl command that repeats the request. It reads the key from an environment variable. */
export function curlOf(request: Asked): string {
  const { base, key, header } = endpoints[request.provider];
  const headers = Object.entries({ 'content-type': 'application/json', ...request.headers }).map(
    ([name, value]) => `  -H ${quoted(`${name}: ${value}`)} \\`,
  );
  const { model: _, ...unnamed } = request.body;
  const body = request.provider === 'gemini' ? unnamed : request.body;
  return [
    `curl "$${base}${requestPath(request)}" \\`,
    ...headers,
    `  -H "${header}$${key}" \\`,
    `  --data-binary ${quoted(JSON.stringify(body))}`,
  ].join('\n');
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
