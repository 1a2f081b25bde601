import { badRequest, inWords, isObject, stringAt } from '../base/index.js';
import type { CardContent, Role } from '../contract/index.js';

/** Returns why a content does not fit its type, or undefined if it fits. */
type Check = (content: CardContent) => string | undefined;

const anything: Check = () => undefined;
const withData =
  (check: (data: Readonly<Record<string, unknown>>) => string | undefined): Check =>
  (content) =>
    content.kind === 'json' && isObject(content.data) ? check(content.data) : 'its content is a JSON object, {kind: "json", data: {…}}';

const table: Readonly<Record<string, { readonly role: Role; readonly check: Check }>> = {
  'task.instruction': { role: 'user', check: anything },
  'agent.thought': { role: 'assistant', check: anything },
  'tool.call': {
    role: 'assistant',
    check: withData((data) => {
      if (!stringAt(data, 'tool_name')) return 'its data names the tool in tool_name';
      return data.arguments === undefined || isObject(data.arguments) ? undefined : 'its arguments are an object';
    }),
  },
  'tool.result': { role: 'tool', check: checkResult },
  'task.deliverable': { role: 'assistant', check: anything },
  'sys.profile': { role: 'system', check: withData(() => undefined) },
  'sys.rendered_prompt': { role: 'system', check: (content) => (content.kind === 'text' ? undefined : 'its content is a text') },
  'sys.tools': { role: 'system', check: withData((data) => (Array.isArray(data.tools) ? undefined : 'its data lists tools')) },
  'sys.parameters': { role: 'system', check: withData(() => undefined) },
  'meta.parent_pointer': {
    role: 'system',
    check: withData((data) => (stringAt(data, 'parent_agent_id') === undefined ? 'its data names the agent in parent_agent_id' : undefined)),
  },
  'task.result_fields': { role: 'system', check: (content) => (content.kind === 'fields' ? undefined : 'its content is {kind: "fields", fields}') },
};

/** Types that record a model call: its rendered prompt, tools and parameters. They are not sent to a model (B17). */
const callRecords: ReadonlySet<string> = new Set(['sys.rendered_prompt', 'sys.tools', 'sys.parameters']);

/** Whether a card records a model call and is therefore no message (B17). */
export const isCallRecord = (card: { readonly type: string }): boolean => callRecords.has(card.type);

/** The default role of a card type (B3). */
export const roleOfType = (type: string): Role => (Object.hasOwn(table, type) ? table[type]?.role : undefined) ?? 'user';

/** Checks that a content fits its type. @throws BAD_REQUEST (B2) */
export function checkContent(type: string, content: CardContent): void {
  const problem = Object.hasOwn(table, type) ? table[type]?.check(content) : undefined;
  if (problem !== undefined) throw badRequest('content', `${inWords(content)} is not valid content of a ${type} card: ${problem}`, { type });
}

/** A result in an envelope needs a status. A result without an envelope is valid as it is. */
function checkResult(content: CardContent): string | undefined {
  if (content.kind !== 'json' || !isObject(content.data) || content.data.status === undefined) return undefined;
  const { status, after_execution: after, error } = content.data;
  if (typeof status !== 'string' || status.trim() === '') return 'its status is a word such as success or failed';
  if (after !== undefined && after !== 'suspend' && after !== 'terminate') return "after_execution must be 'suspend' or 'terminate'.";
  if (status === 'success') return error === undefined || error === null ? undefined : 'a result that succeeded has no error';
  if (!isObject(error)) return 'error must be a structured envelope when status != success.';
  return stringAt(error, 'code') && stringAt(error, 'message') ? undefined : "error must include 'code' and 'message'.";
}
