import { canonicalJson, isObject, type Json, type JsonObject, stringAt } from '../base/index.js';
import type { ContextRow, ReadChain } from '../chain/index.js';
import { requestBody } from '../composer/index.js';
import type { ComposedMessage, RequestEdits, TurnRequest, Wire } from '../contract/index.js';
import { getRequest, type LayerText, listRequests, type OwnQuestion, type TextChange, wireOf, wordsOf } from '../requests/index.js';
import type { ModelProvider } from './providers.js';
import { settingMembers, settingNames } from './settings.js';

/** A request to a model: the context `base`, with the system prompt, tools and settings of a recorded call. */
export interface ModelQuestion {
  /** The commit whose recorded call is reused; undefined to reuse nothing. */
  readonly row: Pick<ContextRow, 'id'> | undefined;
  readonly base: OwnQuestion['base'];
  /** The wire format. The default is the format of the recorded call. */
  readonly wire?: Wire | undefined;
  readonly model: string | undefined;
  /** How the context differs from the sent context: replaced texts, or `anything`. */
  readonly edited: readonly { readonly before: string; readonly after: string }[] | 'anything';
  /** Changes to the system prompt, tools and settings. */
  readonly request?: RequestEdits | undefined;
  /** The texts of the system messages that the composer made. They replace the recorded system prompt. */
  readonly composed?: readonly LayerText[] | undefined;
  /** Settings in the words of chat completions, which precede the recorded ones. */
  readonly parameters?: Readonly<Record<string, unknown>> | undefined;
}

const defaultModel = 'claude-sonnet-4-5';

/** The request to a provider. Without a model, the recorded one answers if it is of this kind or offered, else the first that is offered. */
export async function questionTo(chain: ReadChain, provider: ModelProvider, asked: Omit<ModelQuestion, 'wire'>) {
  const recorded = asked.row && recordedParts(chain, asked.row);
  const isKnown = asked.model !== undefined || (recorded?.model && recorded.wire === provider.wire);
  const offered = isKnown ? [] : (await provider.models()).models;
  const model = asked.model ?? (offered.includes(recorded?.model ?? '') ? recorded?.model : offered[0]);
  return questionOf(chain, { ...asked, wire: provider.wire, model }, recorded);
}

/** Builds the request around the messages from the turn's first call, converted to the wire format, with the changes. */
export function questionOf(
  chain: ReadChain,
  { row, base, wire: asked, model, edited, request: changed, composed, parameters }: ModelQuestion,
  recorded = row && recordedParts(chain, row),
): OwnQuestion & { readonly model: string } {
  const request = composed ? { ...changed, system: composed.map(({ text }) => text) } : changed;
  const wire = asked ?? recorded?.wire ?? 'anthropic';
  const named = model ?? (recorded?.model || defaultModel);
  const own = recorded?.wire === wire ? recorded : undefined;
  // Unchanged parts in the same wire format are sent again byte for byte.
  const system =
    own && !request?.system ? own.around.system : systemFor(wire, request?.system ?? textsOf(recorded?.system ?? []), own, composed !== undefined);
  const tools =
    own && !request?.tools ? own.around.tools : toolsFor(wire, (request?.tools as readonly Json[] | undefined) ?? recorded?.tools ?? [], own);
  const settings = withSettings(
    (request?.settings as JsonObject | undefined) ?? settingsFor(wire, recorded),
    settingMembers(wire, parameters ?? {}, Object.keys(tools).length > 0),
  );
  // If all sent messages are recorded, send them again with the replaced texts.
  const changes = own?.isSent ? changesIn(own.messages, edited) : undefined;
  const sent = own && changes && { requestId: own.requestId, messages: own.messages, from: request?.system ? own.leading : 0, changes };
  return {
    model: named,
    base,
    wire,
    headers: own?.headers ?? {},
    body: { ...settings, ...(wire !== 'gemini' && { model: named }), ...system.members, ...tools },
    before: !sent || request?.system ? system.messages : [],
    composed,
    ...(composed && { isPaired: true }),
    sent,
  };
}

/** The wire format of the first recorded call of a turn, if a call is recorded. */
export const recordedWire = (chain: ReadChain, row: Pick<ContextRow, 'id'>): Wire | undefined => recordedParts(chain, row)?.wire;

/** The editable parts of a turn's request: system prompt and tools as in the Messages API, settings as on the wire. */
export function turnRequest(chain: ReadChain, row: Pick<ContextRow, 'id'> | undefined, wire: Wire): TurnRequest {
  const recorded = row && recordedParts(chain, row);
  return {
    requestId: recorded?.requestId ?? null,
    model: recorded?.model ?? null,
    system: textsOf(recorded?.system ?? []),
    tools: [...(recorded?.tools ?? [])],
    settings: settingsFor(wire, recorded),
  };
}

interface Parts {
  readonly requestId: string;
  readonly wire: Wire;
  readonly model: string | undefined;
  /** As blocks of the Messages API. */
  readonly system: readonly Json[];
  /** As tools of the Messages API. */
  readonly tools: readonly Json[];
  /** System prompt and tools as sent: messages, or members of the body. */
  readonly around: { readonly system: System; readonly tools: JsonObject };
  readonly settings: JsonObject;
  readonly headers: Readonly<Record<string, string>>;
  readonly messages: readonly Json[];
  /** Number of leading messages that are the system prompt. */
  readonly leading: number;
  /** True if all sent messages are recorded. */
  readonly isSent: boolean;
}

/** A system prompt: members of the body, or its first messages. */
interface System {
  readonly members: JsonObject;
  readonly messages: readonly Json[];
}

const systemNames = new Set(['system', 'instructions', 'systemInstruction', 'system_instruction']);
const notSettings = new Set([...systemNames, 'model', 'messages', 'input', 'contents', 'tools', 'stream', 'metadata']);

const only = (body: JsonObject, isWanted: (name: string) => boolean): JsonObject =>
  Object.fromEntries(Object.entries(body).filter(([name]) => isWanted(name)));

/** Splits the first call of a turn into its parts; undefined without a call. */
function recordedParts(chain: ReadChain, row: Pick<ContextRow, 'id'>): Parts | undefined {
  const [first] = listRequests(chain, { turnId: row.id });
  if (!first) return undefined;
  const { provider, body: sent, headers } = getRequest(chain, first.requestId);
  const body = sent as JsonObject;
  const wire = wireOf(provider, body);
  const messages = itemsIn(body[wordsOf[wire].list]);
  const stated = only(body, (name) => systemNames.has(name));
  const leading = Object.keys(stated).length ? 0 : leadingIn(messages);
  return {
    requestId: first.requestId,
    wire,
    model: stringAt(body, 'model') ?? first.model ?? undefined,
    system: systemIn(body, messages.slice(0, leading)),
    tools: toolsIn(body).flatMap(asTool),
    around: { system: { members: stated, messages: messages.slice(0, leading) }, tools: only(body, (name) => name === 'tools') },
    settings: only(body, (name) => !notSettings.has(name)),
    headers,
    messages,
    leading,
    isSent: first.proof !== 'rebuilt' && messages.length > 0 && messages.every((message) => message !== null),
  };
}

/** Finds the replaced texts in the sent messages, the last occurrence of each. Undefined if one is missing or other edits exist. */
function changesIn(messages: readonly Json[], edited: ModelQuestion['edited']): readonly TextChange[] | undefined {
  if (edited === 'anything') return undefined;
  const changes = edited.map(({ before, after }) => ({ path: findText(messages, before), text: after }));
  return changes.every((change): change is TextChange => change.path !== undefined) ? changes : undefined;
}

function findText(value: Json, text: string): TextChange['path'] | undefined {
  if (value === text) return [];
  const members: readonly (readonly [string | number, Json])[] = Array.isArray(value)
    ? value.map((item: Json, at) => [at, item] as const)
    : isObject(value)
      ? Object.entries(value)
      : [];
  for (const [step, member] of members.toReversed()) {
    const path = findText(member, text);
    if (path) return [step, ...path];
  }
  return undefined;
}

function leadingIn(messages: readonly Json[]): number {
  const leading = messages.findIndex((message) => !['system', 'developer'].includes(stringAt(message, 'role') ?? ''));
  return leading < 0 ? messages.length : leading;
}

/** A system prompt on a wire; as messages if it was sent as messages. Composed blocks stay messages of their own. Providers refuse empty texts. */
function systemFor(wire: Wire, given: readonly string[], own: Parts | undefined, isApart: boolean): System {
  const texts = given.filter((text) => text.trim() !== '');
  if (texts.length === 0) return { members: {}, messages: [] };
  const role = own?.leading ? (stringAt(own.messages[0], 'role') ?? 'system') : undefined;
  switch (wire) {
    case 'anthropic':
      return { members: { system: texts.map((text) => ({ type: 'text', text })) }, messages: [] };
    case 'openai':
      if (role !== undefined) return { members: {}, messages: texts.map((content) => ({ role, content })) };
      return { members: {}, messages: (isApart ? texts : [texts.join('\n\n')]).map((content) => ({ role: 'system', content })) };
    case 'responses':
      if (role === undefined) return { members: { instructions: texts.join('\n\n') }, messages: [] };
      return { members: {}, messages: texts.map((text) => ({ type: 'message', role, content: [{ type: 'input_text', text }] })) };
    case 'gemini':
      return { members: { systemInstruction: { parts: texts.map((text) => ({ text })) } }, messages: [] };
  }
}

const commonSettings = ['temperature', 'top_p', 'max_tokens'] as const;

/** Settings that every call of a wire format has. */
const defaultSettings: Readonly<Record<Wire, JsonObject>> = {
  anthropic: { max_tokens: 8_192 },
  openai: {},
  // Without this setting, the provider stores requests.
  responses: { store: false },
  gemini: {},
};

/** Settings of a call that replace the recorded ones, each by itself. */
function withSettings(recorded: JsonObject, own: JsonObject): JsonObject {
  const { generationConfig: before } = recorded;
  const { generationConfig: after } = own;
  return { ...recorded, ...own, ...(isObject(before) && isObject(after) && { generationConfig: { ...before, ...after } }) };
}

/** Converts settings. Another wire format gets only the common settings. */
function settingsFor(wire: Wire, recorded: Parts | undefined): JsonObject {
  if (recorded?.wire === wire) return { ...(wire === 'anthropic' && defaultSettings.anthropic), ...recorded.settings };
  const own = recorded?.settings ?? {};
  const from = recorded && (recorded.wire === 'gemini' && isObject(own.generationConfig) ? own.generationConfig : own);
  const common = Object.fromEntries(
    commonSettings.flatMap((name) => {
      const value = recorded && from?.[settingNames[recorded.wire][name] as string];
      return value === undefined ? [] : [[settingNames[wire][name], value] as const];
    }),
  );
  const said = wire === 'gemini' && Object.keys(common).length ? { generationConfig: common } : common;
  return { ...defaultSettings[wire], ...said };
}

/** The system prompt as blocks. @param leading the system messages, if the body has no member for it. */
function systemIn(body: JsonObject, leading: readonly Json[]): Json[] {
  const stated = body.system ?? body.instructions;
  if (typeof stated === 'string') return stated ? [{ type: 'text', text: stated }] : [];
  if (Array.isArray(stated)) return [...stated];
  const instruction = body.systemInstruction ?? body.system_instruction;
  const parts = isObject(instruction) ? [instruction.parts] : leading.map((message) => (isObject(message) ? (message.content ?? null) : null));
  return parts
    .flatMap((content) => (typeof content === 'string' ? [content] : itemsIn(content).flatMap((part) => stringAt(part, 'text') ?? [])))
    .filter((text) => text !== '')
    .map((text) => ({ type: 'text', text }));
}

const itemsIn = (value: unknown): readonly Json[] => (Array.isArray(value) ? (value as Json[]) : []);

/** Lists the tools; Gemini nests functions in a list. */
const toolsIn = (body: JsonObject): Json[] =>
  itemsIn(body.tools).flatMap((tool): readonly Json[] =>
    isObject(tool) && Array.isArray(tool.functionDeclarations) ? tool.functionDeclarations : [tool],
  );

/** Texts of system blocks, without cache marks, which other providers do not know. */
const textsOf = (system: readonly Json[]): string[] => system.flatMap((block) => stringAt(block, 'text') ?? []);

/** Converts any provider's tool to the Messages API. */
function asTool(tool: Json): Json[] {
  if (!isObject(tool)) return [];
  const own = isObject(tool.function) ? tool.function : tool;
  if (typeof own.name !== 'string' || own.input_schema !== undefined) return [tool];
  const schema = own.parameters ?? own.parametersJsonSchema ?? { type: 'object' };
  return [{ name: own.name, ...(own.description !== undefined && { description: own.description }), input_schema: schema }];
}

/** Converts tools of the Messages API to a wire format. Recorded tools keep their form; built-in tools of other providers are dropped. */
function toolsFor(wire: Wire, tools: readonly Json[], own: Parts | undefined): JsonObject {
  const sent = new Map(toolsIn(own?.around.tools ?? {}).flatMap((tool) => asTool(tool).map((same) => [canonicalJson(same), tool] as const)));
  const said = tools.flatMap((tool): readonly Json[] => {
    const asSent = sent.get(canonicalJson(tool));
    if (asSent !== undefined) return [asSent];
    return isObject(tool) && typeof tool.name === 'string' ? [toolFor[wire](tool, tool.name)] : wire === 'anthropic' ? [tool] : [];
  });
  if (said.length === 0) return {};
  if (wire !== 'gemini') return { tools: said };
  const isFunction = (tool: Json): boolean => typeof stringAt(tool, 'name') === 'string';
  const functions = said.filter(isFunction);
  return { tools: [...(functions.length ? [{ functionDeclarations: functions }] : []), ...said.filter((tool) => !isFunction(tool))] };
}

const descriptionOf = (tool: JsonObject): string => (typeof tool.description === 'string' ? tool.description : '');
const schemaOf = (tool: JsonObject): Json => tool.input_schema ?? { type: 'object' };

const toolFor: Readonly<Record<Wire, (tool: JsonObject, name: string) => Json>> = {
  anthropic: (tool) => tool,
  openai: (tool, name) => ({ type: 'function', function: { name, description: descriptionOf(tool), parameters: schemaOf(tool) } }),
  // Without this setting, the provider treats a schema as strict.
  responses: (tool, name) => ({ type: 'function', name, description: descriptionOf(tool), parameters: schemaOf(tool), strict: false }),
  gemini: (tool, name) => ({ name, description: descriptionOf(tool), parametersJsonSchema: schemaOf(tool) }),
};

/** The body of a call whose messages the composer made, in the format of its provider. `tools` may have the form of any provider. */
export function composedBody(
  messages: readonly ComposedMessage[],
  wire: Wire,
  { model, tools, parameters }: { readonly model: string; readonly tools: readonly Json[]; readonly parameters: Readonly<Record<string, unknown>> },
): JsonObject {
  const offered = toolsFor(wire, tools.flatMap(asTool), undefined);
  const settings = settingMembers(wire, parameters, Object.keys(offered).length > 0);
  return { ...(requestBody(messages, wire, model) as JsonObject), ...settings, ...offered };
}
