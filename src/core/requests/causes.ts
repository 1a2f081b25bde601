import { isObject, type Json, stringAt } from '../base/index.js';
import { type Cause, causes } from '../contract/index.js';
import type { OutlineEntry } from '../formats/index.js';
import { countTokens, imageTokens } from '../formats/index.js';
import { withoutMarks } from './canonical.js';

/** Tokens by cause, in the order of `causes`. */
export type CauseSums = number[];

export const noCauses = (): CauseSums => causes.map(() => 0);
export function addTo(sums: CauseSums, cause: Cause, tokens: number): void {
  sums[placeOf[cause]] = (sums[placeOf[cause]] as number) + tokens;
}
export function addAll(sums: CauseSums, others: readonly number[]): void {
  for (const [at, tokens] of others.entries()) sums[at] = (sums[at] as number) + tokens;
}
export const byCause = (sums: readonly number[]): Record<Cause, number> =>
  Object.fromEntries(causes.map((cause, at) => [cause, sums[at] ?? 0])) as Record<Cause, number>;

const placeOf = Object.fromEntries(causes.map((cause, at) => [cause, at])) as Record<Cause, number>;

/** Tools whose results are files, as the known runtimes name them. */
const isReader = (tool: string | undefined): boolean => tool !== undefined && /^(notebook)?(read|view|open)(_?(many_)?files?)?$/i.test(tool);

/** What agents put around and between a person's words. */
const reminder =
  /^\s*<(system-reminder|system_reminder|env|context|ide_|user_instructions|environment_context|session_context|permissions|skills_instructions)/;
/** A reminder that holds a file which the runtime read on a person's behalf. */
const attachedFile = /^\s*<system-reminder>\s*(Called the Read tool|Result of calling the Read tool|Contents of )/;
const summary = /^\s*(This session is being continued from a previous conversation|<state_snapshot>|<summary>)/;

const causeOfText = (text: string): Cause =>
  attachedFile.test(text) ? 'files' : reminder.test(text) ? 'reminders' : summary.test(text) ? 'summary' : 'talk';

/**
 * What a message of a body costs, by cause, whichever provider's: a message with blocks or parts, or an item. `tools` knows
 * the tools by the ids of their calls, and learns those of this message.
 */
export function causesOfMessage(message: Json, tools: Map<string, string>): CauseSums {
  const sums = noCauses();
  const [role, type] = [stringAt(message, 'role'), stringAt(message, 'type')];
  const content = isObject(message) ? (message.content ?? message.parts) : undefined;
  for (const call of isObject(message) && Array.isArray(message.tool_calls) ? message.tool_calls : []) {
    learn(tools, stringAt(call, 'id'), isObject(call) ? stringAt(call.function, 'name') : undefined);
    addTo(sums, 'talk', tokensOfJson(call));
  }
  learn(tools, stringAt(message, 'call_id'), stringAt(message, 'name'));
  if (role === 'tool') addTo(sums, causeOfResult(tools, stringAt(message, 'tool_call_id')), tokensOfContent(content ?? null));
  else if (type?.endsWith('_output')) addTo(sums, causeOfResult(tools, stringAt(message, 'call_id')), tokensOfJson(message));
  else if (content === undefined || content === null) addTo(sums, 'talk', tokensOfJson(message));
  else {
    const causeOf = (text: string): Cause =>
      role === 'system' || role === 'developer' ? 'system' : role === 'assistant' || role === 'model' ? 'talk' : causeOfText(text);
    if (typeof content === 'string') addTo(sums, causeOf(content), countTokens(content));
    for (const block of Array.isArray(content) ? content : []) addBlock(sums, block, tools, causeOf);
  }
  return sums;
}

function addBlock(sums: CauseSums, block: Json, tools: Map<string, string>, causeOf: (text: string) => Cause): void {
  const [type, text] = [stringAt(block, 'type'), stringAt(block, 'text')];
  const [call, response] = isObject(block) ? [block.functionCall, block.functionResponse] : [];
  learn(tools, stringAt(block, 'id'), stringAt(block, 'name'));
  learn(tools, stringAt(call, 'id'), stringAt(call, 'name'));
  const tokens = tokensOfBlock(block);
  if (isImage(type)) addTo(sums, 'files', tokens);
  else if (type === 'tool_result') addTo(sums, causeOfResult(tools, stringAt(block, 'tool_use_id')), tokens);
  else if (response !== undefined) addTo(sums, isReader(stringAt(response, 'name')) ? 'files' : 'results', tokens);
  else addTo(sums, text === undefined ? 'talk' : causeOf(text), tokens);
}

function learn(tools: Map<string, string>, id: string | undefined, name: string | undefined): void {
  if (id !== undefined && name !== undefined) tools.set(id, name);
}

const causeOfResult = (tools: ReadonlyMap<string, string>, id: string | undefined): Cause => (isReader(tools.get(id ?? '')) ? 'files' : 'results');

/**
 * What a block costs, by the one rule that all figures follow (the window has it in its words): a text as it reads, a call by its tool's
 * name and its arguments, a result by what it holds, and everything else as JSON without cache marks.
 */
export function tokensOfBlock(block: Json): number {
  const type = stringAt(block, 'type');
  if (!isObject(block) || isImage(type)) return isObject(block) ? imageTokens : tokensOfJson(block);
  if (type === 'tool_use') return countTokens(stringAt(block, 'name') ?? '') + tokensOfJson(block.input ?? {});
  if (type === 'tool_result') return tokensOfContent(block.content ?? null);
  const text = stringAt(block, 'text') ?? (type === 'thinking' ? stringAt(block, 'thinking') : undefined);
  return text === undefined ? tokensOfJson(block) : countTokens(text);
}

const isImage = (type: string | undefined): boolean => type === 'image' || type === 'input_image' || type === 'image_url';

const tokensOfContent = (content: Json): number =>
  typeof content === 'string'
    ? countTokens(content)
    : Array.isArray(content)
      ? content.reduce<number>((sum, part) => sum + tokensOfBlock(part), 0)
      : tokensOfJson(content);

export const tokensOfJson = (value: Json): number => countTokens(JSON.stringify(withoutMarks(value)));

/** What system prompt and tools cost. */
export function causesOfStated(stated: { readonly system?: Json; readonly tools?: Json } | undefined): CauseSums {
  const sums = noCauses();
  for (const part of ['system', 'tools'] as const) {
    const value = stated?.[part] ?? [];
    for (const one of Array.isArray(value) ? (value as readonly Json[]) : [value])
      addTo(sums, part, part === 'tools' ? tokensOfJson(one) : typeof one === 'string' ? countTokens(one) : tokensOfBlock(one));
  }
  return sums;
}

/** What a message costs, by whatever cause. */
export const tokensOfMessage = (message: Json): number => causesOfMessage(message, new Map()).reduce((sum, tokens) => sum + tokens, 0);

/** The cause of an entry, as far as its outline tells. `tools` learns as it does of messages. */
export function causeOfEntry({ role, kind, head = '', toolCallId }: OutlineEntry, tools: Map<string, string>): Cause {
  if (kind === 'tool_call' && toolCallId !== undefined) tools.set(toolCallId, head);
  if (kind === 'summary') return 'summary';
  if (kind === 'tool_result') return isReader(tools.get(toolCallId ?? '')) ? 'files' : 'results';
  if (role === 'system') return 'system';
  return role === 'assistant' ? 'talk' : kind === 'image' ? 'files' : causeOfText(head);
}
