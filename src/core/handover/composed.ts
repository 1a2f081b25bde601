import { defined, isObject, type JsonObject, parseJson, stringAt } from '../base/index.js';
import { isShared, type ReadChain, readSettings } from '../chain/index.js';
import { type Call, type ComposedCall, composeCall, type LayerSources } from '../composer/index.js';
import { type Card, type MemoryMessage, type Message, type Permitted, permittedLayers } from '../contract/index.js';
import { dataOf } from './request.js';

const speakers = { system: 'system', user: 'human', assistant: 'ai', tool: 'tool' } as const;
const roles = { system: 'system', human: 'user', ai: 'assistant', tool: 'tool' } as const;

/** A message of a card turn as input for the composer. */
export function toMemory({ role, content, tool_calls: calls, tool_call_id, reasoning_content, thinking }: Message): MemoryMessage {
  const tool_calls = calls?.map(({ id, function: called, thoughtSignature }) => {
    const asked = (called ?? {}) as JsonObject;
    return { id, name: asked.name, args: parseJson(stringAt(asked, 'arguments') ?? '') ?? {}, ...defined({ thoughtSignature }) };
  });
  return { role: speakers[role], content, ...defined({ tool_calls, reasoning_content, thinking, tool_call_id }) };
}

/** What a profile says about the calls of its agent. */
export function profileRules(profile: Card | undefined): { readonly permitted: readonly Permitted[]; readonly sharing: boolean | undefined } {
  const { layers, enableShareContext } = dataOf(profile);
  return {
    permitted: Array.isArray(layers) ? permittedLayers.filter((layer) => layers.includes(layer)) : [],
    sharing: typeof enableShareContext === 'boolean' ? enableShareContext : undefined,
  };
}

/** The parts of a call that a profile and a project decide. */
export interface DecidedParts {
  readonly profile: Card | undefined;
  /** Whether blocks are sent, in place of the profile's and the project's setting. */
  readonly sharing?: boolean | undefined;
  readonly sources?: (() => LayerSources) | undefined;
}

/** A call with the layers that the profile permits, and with the switch of the run, else of the profile, else of the project. */
export function sharedCall(chain: ReadChain, { profile, sharing, sources }: DecidedParts, call: Call): ComposedCall {
  const rules = profileRules(profile);
  return composeCall({
    ...call,
    isShared: isShared(chain),
    permitted: rules.permitted,
    sharing: sharing ?? rules.sharing ?? readSettings(chain).enableShareContext,
    ...(rules.permitted.length > 0 && sources && { sources: sources() }),
  });
}

/** Composed messages in the form of chat completions. The messages of memory stay as given. */
export function toMessages({ messages }: Pick<ComposedCall, 'messages'>, memory: readonly Message[]): Message[] {
  const given = memory.values();
  return messages.map(({ layer, role, content, tool_calls: calls, tool_call_id: id, thinking }): Message => {
    if (layer === 'checkpoint_messages') {
      const next = given.next().value;
      if (next) return next;
    }
    const asked = Array.isArray(calls) ? calls.filter(isObject) : undefined;
    const tool_calls = asked?.map(({ id, name, args }) => ({ id, type: 'function', function: { name, arguments: JSON.stringify(args ?? {}) } }));
    return { role: roles[role], content, ...defined({ tool_calls, tool_call_id: typeof id === 'string' ? id : undefined, thinking }) };
  });
}
