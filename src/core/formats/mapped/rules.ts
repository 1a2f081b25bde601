// The usual rules of the built-in mappings.
import type { MappingRule, Selector } from '../../contract/index.js';

/** A rule for a tool call. */
export function call(when: string, toolName: Selector, toolCallId: Selector, input: Selector, more: Partial<MappingRule> = {}): MappingRule {
  return { when, kind: 'tool_call', toolName, toolCallId, arguments: input, ...more };
}

/** A rule for the result of a tool call. */
export function result(when: string, toolCallId: Selector, text: Selector, more: Partial<MappingRule> = {}): MappingRule {
  return { when, kind: 'tool_result', toolCallId, text, ...more };
}

/** A path to a text of JSON. */
export const json = (path: string): Selector => ({ path, json: true });

/** The counts of a call by the names of their members. */
export const counts = (path: string, input: string, output: string, cacheRead: string, cacheWrite?: string): NonNullable<MappingRule['usage']> => ({
  input: `${path}.${input}`,
  output: `${path}.${output}`,
  cacheRead: `${path}.${cacheRead}`,
  ...(cacheWrite !== undefined && { cacheWrite: `${path}.${cacheWrite}` }),
});
