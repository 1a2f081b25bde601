import { isObject, type Json, type JsonObject, stringAt } from '../base/index.js';
import type { Chain, ContextRow } from '../chain/index.js';
import type { RequestEdits, TurnRequest } from '../contract/index.js';
import { getRequest, listRequests, type OwnQuestion } from '../requests/index.js';
import type { ModelProvider } from './providers.js';

/** What is asked of a model: the context `base`, and by whose recorded call the rest is set. */
export interface Question {
  readonly row: Pick<ContextRow, 'id'>;
  readonly base: ContextRow;
  readonly wire: ModelProvider['wire'];
  readonly model: string | undefined;
  /** The context is not the one that was sent. */
  readonly isEdited: boolean;
  /** What of system prompt, tools and settings is other than it was. */
  readonly request?: RequestEdits | undefined;
}

const defaultModel = 'claude-sonnet-4-5';
const defaultMaxTokens = 8_192;

/** What every provider knows by the same name. */
const common = ['temperature', 'top_p', 'max_tokens'];

/** What is sent around the messages: as the turn's first call had it, in the words of the wire, with what was changed. */
export function questionOf(chain: Chain, { row, base, wire, model, isEdited, request }: Question): OwnQuestion & { readonly model: string } {
  const recorded = recordedParts(chain, row);
  const named = model ?? (recorded?.model || defaultModel);
  const system = request?.system?.map((text): Json => ({ type: 'text', text })) ?? recorded?.system;
  const tools = (request?.tools as readonly Json[] | undefined) ?? recorded?.tools ?? [];
  const settings = (request?.settings as JsonObject | undefined) ?? settingsFor(wire, recorded);
  if (wire === 'openai')
    return {
      model: named,
      base,
      wire,
      headers: {},
      body: { ...settings, model: named, ...(tools.length && { tools: tools.map(asFunction) }) },
      before: system?.length ? [{ role: 'system', content: textsOf(system).join('\n\n') }] : [],
      sent: request?.system === undefined ? sentAs(wire, isEdited, recorded) : undefined,
    };
  return {
    model: named,
    base,
    wire,
    headers: recorded?.wire === 'anthropic' ? recorded.headers : {},
    body: {
      max_tokens: defaultMaxTokens,
      ...settings,
      model: named,
      ...(system?.length && { system }),
      ...(tools.length && { tools }),
    },
    before: [],
    // The very messages that went over the wire, where all of them are known and none was changed.
    sent: sentAs(wire, isEdited, recorded),
  };
}

const sentAs = (wire: ModelProvider['wire'], isEdited: boolean, recorded: Parts | undefined): OwnQuestion['sent'] =>
  !isEdited && recorded?.wire === wire && recorded.isSent ? { requestId: recorded.requestId, messages: recorded.messages } : undefined;

/** What a person may change of the turn's request before it is asked again, in the words of the Messages API. */
export function turnRequest(chain: Chain, row: Pick<ContextRow, 'id'>, wire: ModelProvider['wire']): TurnRequest {
  const recorded = recordedParts(chain, row);
  return {
    requestId: recorded?.requestId ?? null,
    model: recorded?.model ?? null,
    system: textsOf(recorded?.system ?? []),
    tools: [...(recorded?.tools ?? [])],
    settings: wire === 'anthropic' ? { max_tokens: defaultMaxTokens, ...settingsFor(wire, recorded) } : settingsFor(wire, recorded),
  };
}

interface Parts {
  readonly requestId: string;
  /** In whose words it was sent; undefined for words that Stemma's own calls are never in: the Responses API's, Gemini's. */
  readonly wire: ModelProvider['wire'] | undefined;
  readonly model: string | undefined;
  /** As blocks of the Messages API. */
  readonly system: readonly Json[];
  /** As the Messages API has them. */
  readonly tools: readonly Json[];
  readonly settings: JsonObject;
  readonly headers: Readonly<Record<string, string>>;
  readonly messages: readonly Json[];
  /** The messages are those that were sent, and not one is missing. */
  readonly isSent: boolean;
}

const notSettings = new Set([
  ...['model', 'messages', 'system', 'tools', 'stream', 'metadata'],
  ...['input', 'instructions', 'contents', 'systemInstruction', 'system_instruction', 'generationConfig'],
]);

/** The first call of a turn, taken apart; undefined where none is known. */
function recordedParts(chain: Chain, row: Pick<ContextRow, 'id'>): Parts | undefined {
  const [first] = listRequests(chain, { turnId: row.id });
  if (!first) return undefined;
  const { provider, body, headers } = getRequest(chain, first.requestId);
  const messages = Array.isArray(body.messages) ? (body.messages as Json[]) : [];
  const wire = provider === 'anthropic' ? 'anthropic' : provider === 'openai' && body.input === undefined ? 'openai' : undefined;
  return {
    requestId: first.requestId,
    wire,
    model: stringAt(body, 'model') ?? first.model ?? undefined,
    system: systemIn(body, messages),
    tools: toolsIn(body).flatMap(asTool),
    settings: Object.fromEntries(Object.entries(body as JsonObject).filter(([name]) => !notSettings.has(name))),
    headers: wire === 'anthropic' ? headers : {},
    messages,
    isSent: first.proof !== 'rebuilt' && messages.length > 0 && messages.every((message) => message !== null),
  };
}

/** Another provider's settings are left behind, but for those that mean the same everywhere. */
const settingsFor = (wire: ModelProvider['wire'], recorded: Parts | undefined): JsonObject =>
  Object.fromEntries(Object.entries(recorded?.settings ?? {}).filter(([name]) => recorded?.wire === wire || common.includes(name)));

function systemIn(body: Readonly<Record<string, unknown>>, messages: readonly Json[]): Json[] {
  const stated = body.system ?? body.instructions;
  if (typeof stated === 'string') return stated ? [{ type: 'text', text: stated }] : [];
  if (Array.isArray(stated)) return stated as Json[];
  const instruction = body.systemInstruction ?? body.system_instruction;
  if (isObject(instruction))
    return itemsIn(instruction.parts).flatMap((part): Json[] =>
      stringAt(part, 'text') ? [{ type: 'text', text: stringAt(part, 'text') ?? '' }] : [],
    );
  const first = messages.length > 0 ? messages : itemsIn(body.input);
  const leading = first.findIndex((message) => !['system', 'developer'].includes(stringAt(message, 'role') ?? ''));
  return first.slice(0, Math.max(0, leading)).flatMap((message): Json[] => {
    const content = isObject(message) ? message.content : undefined;
    const texts = typeof content === 'string' ? [content] : itemsIn(content).flatMap((part) => stringAt(part, 'text') ?? []);
    return texts.filter((text) => text !== '').map((text) => ({ type: 'text', text }));
  });
}

const itemsIn = (value: unknown): readonly Json[] => (Array.isArray(value) ? (value as Json[]) : []);

/** Gemini declares the functions of a tool in a list of their own. */
const toolsIn = (body: Readonly<Record<string, unknown>>): Json[] =>
  itemsIn(body.tools).flatMap((tool): readonly Json[] =>
    isObject(tool) && Array.isArray(tool.functionDeclarations) ? tool.functionDeclarations : [tool],
  );

/** A block's cache mark means nothing to another provider: only its text goes there. */
const textsOf = (system: readonly Json[]): string[] => system.flatMap((block) => stringAt(block, 'text') ?? []);

/** A tool as the Messages API defines it, whichever provider it was defined for. */
function asTool(tool: Json): Json[] {
  if (!isObject(tool)) return [];
  const own = isObject(tool.function) ? tool.function : tool;
  if (typeof own.name !== 'string' || own.input_schema !== undefined) return [tool];
  return [
    {
      name: own.name,
      ...(own.description !== undefined && { description: own.description }),
      input_schema: own.parameters ?? own.parametersJsonSchema ?? { type: 'object' },
    },
  ];
}

/** The same in the words of chat completions. */
const asFunction = (tool: Json): Json =>
  isObject(tool)
    ? {
        type: 'function',
        function: {
          name: tool.name ?? '',
          description: typeof tool.description === 'string' ? tool.description : '',
          parameters: tool.input_schema ?? { type: 'object' },
        },
      }
    : tool;
