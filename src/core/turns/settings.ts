import { isObject, type Json, type JsonObject, stringAt } from '../base/index.js';
import type { Wire } from '../contract/index.js';

/** A setting of a call: its name in the words of chat completions. */
type Setting = 'temperature' | 'top_p' | 'top_k' | 'max_tokens' | 'stop' | 'seed' | 'presence_penalty' | 'frequency_penalty' | 'reasoning_effort';

/** The names of settings on each wire. A setting that is missing does not exist there. */
export const settingNames: Readonly<Record<Wire, Readonly<Partial<Record<Setting, string>>>>> = {
  anthropic: { temperature: 'temperature', top_p: 'top_p', top_k: 'top_k', max_tokens: 'max_tokens', stop: 'stop_sequences' },
  openai: {
    ...{ temperature: 'temperature', top_p: 'top_p', top_k: 'top_k', max_tokens: 'max_tokens', stop: 'stop', seed: 'seed' },
    ...{ presence_penalty: 'presence_penalty', frequency_penalty: 'frequency_penalty', reasoning_effort: 'reasoning_effort' },
  },
  responses: { temperature: 'temperature', top_p: 'top_p', max_tokens: 'max_output_tokens' },
  gemini: {
    ...{ temperature: 'temperature', top_p: 'topP', top_k: 'topK', max_tokens: 'maxOutputTokens', stop: 'stopSequences', seed: 'seed' },
    ...{ presence_penalty: 'presencePenalty', frequency_penalty: 'frequencyPenalty' },
  },
};

const synonyms: Readonly<Record<string, Setting>> = {
  stop_sequences: 'stop',
  stopSequences: 'stop',
  max_output_tokens: 'max_tokens',
  max_completion_tokens: 'max_tokens',
  maxOutputTokens: 'max_tokens',
  topP: 'top_p',
  topK: 'top_k',
  presencePenalty: 'presence_penalty',
  frequencyPenalty: 'frequency_penalty',
};

/** Chat completions have every setting. */
const known: ReadonlySet<string> = new Set(Object.keys(settingNames.openai));

/** Members of a configuration that the call itself decides, or that belong to the connection. A secret never becomes a part of a body. */
const notSent: ReadonlySet<string> = new Set([
  ...['model', 'messages', 'input', 'contents', 'system', 'instructions', 'systemInstruction', 'tools', 'stream', 'stream_options', 'store', 'n'],
  ...['provider', 'api_key', 'apiKey', 'api_base', 'base_url', 'baseUrl', 'timeout', 'max_retries', 'headers', 'extra_headers'],
]);

/**
 * The settings of a call as members of its body. `settings` are in the words of chat completions or of the wire. Settings that the wire does not have
 * are left out, and settings that Stemma does not know are sent as they are. What concerns tools is sent only with tools.
 */
export function settingMembers(wire: Wire, settings: Readonly<Record<string, unknown>>, hasTools: boolean): JsonObject {
  const own: Record<string, Json> = {};
  const members: Record<string, Json> = {};
  for (const [given, value] of Object.entries(settings)) {
    if (value === undefined || value === null || notSent.has(given)) continue;
    const name = synonyms[given] ?? given;
    if (name === 'tool_choice' || name === 'parallel_tool_calls') continue;
    if (known.has(name)) Object.assign(own, knownMember(wire, name as Setting, value as Json));
    else if (name === 'response_format') Object.assign(wire === 'gemini' ? own : members, formatMember(wire, value as Json));
    else if (wire === 'gemini' && (name === 'generationConfig' || name === 'generation_config') && isObject(value)) Object.assign(own, value);
    else if (wire === 'gemini' && !bodyNames.has(name)) own[name] = value as Json;
    else members[name] = value as Json;
  }
  if (hasTools) Object.assign(members, choiceMembers(wire, settings));
  if (wire === 'gemini') return { ...members, ...(Object.keys(own).length > 0 && { generationConfig: own }) };
  return { ...own, ...members };
}

/** Members of a body of Gemini that are not in its `generationConfig`. */
const bodyNames: ReadonlySet<string> = new Set(['safetySettings', 'cachedContent', 'toolConfig', 'labels', 'serviceTier']);

function knownMember(wire: Wire, setting: Setting, value: Json): JsonObject {
  if (setting === 'reasoning_effort' && wire === 'responses') return { reasoning: { effort: value } };
  const name = settingNames[wire][setting];
  if (name === undefined) return {};
  // Only chat completions accept a single stop word without a list.
  return { [name]: setting === 'stop' && wire !== 'openai' && !Array.isArray(value) ? [value] : value };
}

function formatMember(wire: Wire, value: Json): JsonObject {
  const described = isObject(value) && isObject(value.json_schema) ? value.json_schema : undefined;
  const schema = described?.schema;
  switch (wire) {
    case 'openai':
      return { response_format: value };
    case 'responses':
      return { text: { format: described ? { type: 'json_schema', ...described } : value } };
    case 'gemini':
      return stringAt(value, 'type') === 'text'
        ? {}
        : { responseMimeType: 'application/json', ...(schema !== undefined && { responseJsonSchema: schema }) };
    case 'anthropic':
      return schema === undefined ? {} : { output_config: { format: { type: 'json_schema', schema } } };
  }
}

/** Reads a tool choice in the form of any provider; undefined for an unknown form. `name`: the only tool that the model must call. */
function choiceIn(value: unknown): { readonly mode: 'auto' | 'none' | 'required'; readonly name?: string | undefined } | undefined {
  const type = typeof value === 'string' ? value : stringAt(value, 'type');
  const name = stringAt(value, 'name') ?? (isObject(value) ? stringAt(value.function, 'name') : undefined);
  if (name !== undefined && (type === 'tool' || type === 'function')) return { mode: 'required', name };
  if (type === 'auto' || type === 'none') return { mode: type };
  return type === 'required' || type === 'any' ? { mode: 'required' } : undefined;
}

function choiceMembers(wire: Wire, settings: Readonly<Record<string, unknown>>): JsonObject {
  const { tool_choice: given, parallel_tool_calls: parallel } = settings;
  const choice = choiceIn(given);
  const isParallel = typeof parallel === 'boolean' ? parallel : undefined;
  const alone: JsonObject = isParallel === undefined ? {} : { parallel_tool_calls: isParallel };
  // A form that Stemma does not know is sent as it is.
  if (!choice && given !== undefined && given !== null)
    return { tool_choice: given as Json, ...(wire !== 'anthropic' && wire !== 'gemini' && alone) };
  switch (wire) {
    case 'openai':
      return {
        ...(choice && { tool_choice: choice.name === undefined ? choice.mode : { type: 'function', function: { name: choice.name } } }),
        ...alone,
      };
    case 'responses':
      return { ...(choice && { tool_choice: choice.name === undefined ? choice.mode : { type: 'function', name: choice.name } }), ...alone };
    case 'anthropic': {
      const { mode, name } = choice ?? { mode: 'auto', name: undefined };
      if (!choice && isParallel !== false) return {};
      const said: JsonObject = name === undefined ? { type: mode === 'required' ? 'any' : mode } : { type: 'tool', name };
      const isSwitched = isParallel === false && mode !== 'none';
      const disabled = isObject(given) && given.disable_parallel_tool_use === true;
      return { tool_choice: { ...said, ...((isSwitched || disabled) && { disable_parallel_tool_use: true }) } };
    }
    case 'gemini': {
      if (!choice) return {};
      const mode = { auto: 'AUTO', none: 'NONE', required: 'ANY' }[choice.mode];
      return { toolConfig: { functionCallingConfig: { mode, ...(choice.name !== undefined && { allowedFunctionNames: [choice.name] }) } } };
    }
  }
}
