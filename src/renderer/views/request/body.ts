import type { Request, RequestRow } from '../../../core/contract/index.js';

/** A block of a message, a system prompt or a tool's definition, ready to be shown. */
export interface Part {
  readonly kind: 'text' | 'thinking' | 'call' | 'result' | 'image' | 'reminder' | 'other';
  readonly title: string;
  readonly text: string;
  /** The provider was asked to keep everything up to here. */
  readonly cached: boolean;
  /** Approximate. */
  readonly tokens: number;
}

export interface ShownMessage {
  readonly role: string;
  readonly parts: readonly Part[];
  readonly tokens: number;
}

export interface ShownBody {
  readonly system: readonly Part[];
  readonly tools: readonly Part[];
  readonly messages: readonly ShownMessage[];
  readonly parameters: readonly (readonly [name: string, value: string])[];
  readonly tokens: { readonly system: number; readonly tools: number; readonly messages: number };
}

type Value = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Value => typeof value === 'object' && value !== null && !Array.isArray(value);
const textAt = (value: unknown, key: string): string | undefined => (isObject(value) && typeof value[key] === 'string' ? value[key] : undefined);
const json = (value: unknown): string => JSON.stringify(value, null, 2) ?? '';

/** A quarter of a token a byte, as the engine estimates; letters outside ASCII count as three. */
const tokensOf = (text: string): number => {
  let bytes = 0;
  for (let at = 0; at < text.length; at++) bytes += text.charCodeAt(at) < 0x80 ? 1 : 2.5;
  return Math.ceil(bytes / 4);
};

const part = (kind: Part['kind'], title: string, text: string, from?: unknown): Part => ({
  kind,
  title,
  text,
  cached: isObject(from) && from.cache_control !== undefined,
  tokens: tokensOf(text),
});

const parameterless = new Set(['system', 'tools', 'messages', 'input', 'contents', 'systemInstruction', 'instructions']);

/** The parts of a body, of whichever provider it is. */
export function shownBody({ body }: Pick<Request, 'body'>): ShownBody {
  const system = systemOf(body);
  const tools = (Array.isArray(body.tools) ? body.tools : []).map(toolOf);
  const messages = (
    Array.isArray(body.messages) ? body.messages : Array.isArray(body.input) ? body.input : Array.isArray(body.contents) ? body.contents : []
  ).map(messageOf);
  const sum = (list: readonly { readonly tokens: number }[]): number => list.reduce((total, each) => total + each.tokens, 0);
  return {
    system,
    tools,
    messages,
    parameters: Object.entries(body)
      .filter(([name]) => !parameterless.has(name))
      .map(([name, value]) => [name, typeof value === 'string' ? value : json(value)] as const),
    tokens: { system: sum(system), tools: sum(tools), messages: sum(messages) },
  };
}

function systemOf(body: Value): Part[] {
  const { system } = body;
  if (typeof system === 'string') return [part('text', 'System prompt', system)];
  const blocks = Array.isArray(system) ? system : [];
  return blocks.map((block, at) =>
    part('text', blocks.length > 1 ? `Block ${at + 1}` : 'System prompt', textAt(block, 'text') ?? json(block), block),
  );
}

function toolOf(tool: unknown, at: number): Part {
  const own = isObject(tool) && isObject(tool.function) ? tool.function : tool;
  return part('other', textAt(own, 'name') ?? textAt(tool, 'type') ?? `Tool ${at + 1}`, json(tool), tool);
}

function messageOf(message: unknown): ShownMessage {
  if (!isObject(message)) return { role: 'missing', parts: [part('other', 'This message cannot be had', '')], tokens: 0 };
  const content = message.content ?? message.parts ?? message;
  const parts =
    typeof content === 'string'
      ? [textPart(content, message)]
      : Array.isArray(content)
        ? content.map(blockOf)
        : [part('other', textAt(message, 'type') ?? 'Item', json(message), message)];
  return { role: textAt(message, 'role') ?? textAt(message, 'type') ?? 'item', parts, tokens: parts.reduce((sum, each) => sum + each.tokens, 0) };
}

/** What the runtime puts around a person's words has a hue of its own. */
const isReminder = (text: string): boolean => /^\s*<(system-reminder|env|context|ide_)/.test(text);
const textPart = (text: string, from?: unknown): Part =>
  isReminder(text) ? part('reminder', 'Put in by the agent', text, from) : part('text', 'Text', text, from);

function blockOf(block: unknown): Part {
  const type = textAt(block, 'type') ?? '';
  if (!isObject(block)) return part('other', 'Block', json(block));
  switch (type) {
    case 'text':
    case 'input_text':
    case 'output_text':
      return textPart(textAt(block, 'text') ?? '', block);
    case 'thinking':
      return part('thinking', 'Thinking', textAt(block, 'thinking') ?? '', block);
    case 'tool_use':
      return part('call', textAt(block, 'name') ?? 'Tool', json(block.input), block);
    case 'tool_result':
      return part('result', block.is_error === true ? 'Result: failed' : 'Result', resultText(block.content), block);
    case 'image':
      return part('image', 'Image', textAt(block.source, 'media_type') ?? 'image', block);
    default:
      return textAt(block, 'text') !== undefined ? textPart(textAt(block, 'text') ?? '', block) : part('other', type || 'Block', json(block), block);
  }
}

function resultText(content: unknown): string {
  if (typeof content === 'string') return content;
  return Array.isArray(content) ? content.map((block) => textAt(block, 'text') ?? `[${textAt(block, 'type') ?? 'block'}]`).join('\n') : json(content);
}

/** What a call read and wrote, with what is not recorded left out: null where nothing is. */
export function windowOf({ tokens }: Pick<RequestRow, 'tokens'>): { fresh: number; read: number; written: number } | null {
  if (tokens.input === null && tokens.cacheRead === null && tokens.cacheWrite === null) return null;
  return { fresh: tokens.input ?? 0, read: tokens.cacheRead ?? 0, written: tokens.cacheWrite ?? 0 };
}

const endpoints = {
  anthropic: { path: '/v1/messages', base: 'ANTHROPIC_BASE_URL', key: 'ANTHROPIC_API_KEY', header: 'x-api-key: ' },
  openai: { path: '/v1/chat/completions', base: 'OPENAI_BASE_URL', key: 'OPENAI_API_KEY', header: 'authorization: Bearer ' },
  gemini: { path: '/v1beta/models', base: 'GEMINI_BASE_URL', key: 'GEMINI_API_KEY', header: 'x-goog-api-key: ' },
} as const;

/** A command that asks the same again, with the key in the environment of whoever runs it. */
export function curlOf(request: Pick<Request, 'provider' | 'body' | 'headers'>): string {
  const { path, base, key, header } = endpoints[request.provider];
  const headers = Object.entries({ 'content-type': 'application/json', ...request.headers }).map(
    ([name, value]) => `  -H ${quoted(`${name}: ${value}`)} \\`,
  );
  return [`curl "$${base}${path}" \\`, ...headers, `  -H "${header}$${key}" \\`, `  --data-binary ${quoted(JSON.stringify(request.body))}`].join(
    '\n',
  );
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
