// The usual rules of the built-in mappings.
import { defined } from '../../base/index.js';
import type { Mapping, MappingGroup, MappingRule, Selector } from '../../contract/index.js';

/** A mapping without the version that all of them have. */
export type MappingRules = Omit<Mapping, 'stemmaMapping'>;

type More = Partial<MappingRule>;

/** A rule for a text of this role. */
export const said = (when: string | undefined, role: Selector, text: Selector, more: More = {}): MappingRule => ({
  ...defined({ when }),
  kind: 'text',
  role,
  text,
  ...more,
});

/** A rule for a text of the model. */
export const replied = (when: string | undefined, text: Selector, more: More = {}): MappingRule => ({
  ...defined({ when }),
  kind: 'text',
  text,
  ...more,
});

/** A rule for thinking of the model. */
export const thought = (when: string, text: Selector, more: More = {}): MappingRule => ({ when, kind: 'thinking', text, ...more });

/** A rule for an event. */
export const noted = (when: string, toolName: Selector, more: More = {}): MappingRule => ({ when, kind: 'event', toolName, ...more });

/** A rule for a tool call. */
export const call = (when: string, toolName: Selector, toolCallId: Selector, input: Selector, more: More = {}): MappingRule => ({
  when,
  kind: 'tool_call',
  toolName,
  toolCallId,
  arguments: input,
  ...more,
});

/** A rule for the result of a tool call. */
export const result = (when: string, toolCallId: Selector, text: Selector, more: More = {}): MappingRule => ({
  when,
  kind: 'tool_result',
  toolCallId,
  text,
  ...more,
});

/** A rule for calls as chat completions have them. */
export const functionCalls = (path: string): MappingRule => ({
  each: path,
  kind: 'tool_call',
  toolName: '$.function.name',
  toolCallId: '$.id',
  arguments: json('$.function.arguments'),
});

/** A path to a text of JSON. */
export const json = (path: string): Selector => ({ path, json: true });

/** The counts of a call by the names of their members. */
export const counts = (path: string, input: string, output: string, cacheRead: string, cacheWrite?: string): NonNullable<MappingRule['usage']> => ({
  input: `${path}.${input}`,
  output: `${path}.${output}`,
  cacheRead: `${path}.${cacheRead}`,
  ...(cacheWrite !== undefined && { cacheWrite: `${path}.${cacheWrite}` }),
});

/** Counts whose input includes cached tokens. */
export const within = (usage: NonNullable<MappingRule['usage']>): MappingRule['usage'] => ({ ...usage, includesCache: true });

/** Rules for each part of a record. */
export const each = (when: string | undefined, path: string, of: MappingRule[]): MappingGroup => ({ ...defined({ when }), each: path, of });
