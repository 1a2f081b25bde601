import { isObject, type Json, stringAt } from '../../base/index.js';
import { type Cause, causes } from '../../contract/index.js';
import { countTokens, imageTokens, type OutlineEntry } from '../../formats/index.js';
import { withoutMarks } from './canonical.js';

/** Tokens by cause. */
export type CauseSums = Record<Cause, number>;

/** Zero for each cause. */
export const noCauses = (): CauseSums => ({ system: 0, tools: 0, summary: 0, reminders: 0, files: 0, results: 0, talk: 0 });
/** Adds the sums of all causes. */
export function addAll(sums: CauseSums, others: Readonly<CauseSums>): void {
  for (const cause of causes) sums[cause] += others[cause];
}

/** Tools of known runtimes whose results are files. */
const isReader = (tool: string | undefined): boolean => tool !== undefined && /^(notebook)?(read|view|open)(_?(many_)?files?)?$/i.test(tool);

/** Texts that agents add around and between a person's words. */
const reminder =
  /^\s*<(system-reminder|system_reminder|env|context|ide_|user_instructions|environment_context|session_context|permissions|skills_instructions)/;
/** A reminder with a file that the runtime read for a person. */
const attachedFile = /^\s*<system-reminder>\s*(Called the Read tool|Result of calling the Read tool|Contents of )/;
const summary = /^\s*(This session is being continued from a previous conversation|<state_snapshot>|<summary>)/;

const causeOfText = (text: string): Cause =>
  attachedFile.test(text) ? 'files' : reminder.test(text) ? 'reminders' : summary.test(text) ? 'summary' : 'talk';

/** The tokens of a message by cause, for any provider. `tools` maps call ids to tool names; those of this message are added. */
export function causesOfMessage(message: Json, tools: Map<string, string>): CauseSums {
  const sums = noCauses();
  const [role, type] = [stringAt(message, 'role'), stringAt(message, 'type')];
  const content = isObject(message) ? (message.content ?? message.parts) : undefined;
  for (const call of isObject(message) && Array.isArray(message.tool_calls) ? message.tool_calls : []) {
    learn(tools, stringAt(call, 'id'), isObject(call) ? stringAt(call.function, 'name') : undefined);
    sums.talk += tokensOfJson(call);
  }
  learn(tools, stringAt(message, 'call_id'), stringAt(message, 'name'));
  if (role === 'tool') sums[causeOfResult(tools, stringAt(message, 'tool_call_id'))] += tokensOfContent(content ?? null);
  else if (type?.endsWith('_output')) sums[causeOfResult(tools, stringAt(message, 'call_id'))] += tokensOfJson(message);
  else if (content === undefined || content === null) sums.talk += tokensOfJson(message);
  else {
    const causeOf = (text: string): Cause =>
      role === 'system' || role === 'developer' ? 'system' : role === 'assistant' || role === 'model' ? 'talk' : causeOfText(text);
    if (typeof content === 'string') sums[causeOf(content)] += countTokens(content);
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
  if (isImage(type)) sums.files += tokens;
  else if (type === 'tool_result') sums[causeOfResult(tools, stringAt(block, 'tool_use_id'))] += tokens;
  else if (response !== undefined) sums[isReader(stringAt(response, 'name')) ? 'files' : 'results'] += tokens;
  else sums[text === undefined ? 'talk' : causeOf(text)] += tokens;
}

function learn(tools: Map<string, string>, id: string | undefined, name: string | undefined): void {
  if (id !== undefined && name !== undefined) tools.set(id, name);
}

const causeOfResult = (tools: ReadonlyMap<string, string>, id: string | undefined): Cause => (isReader(tools.get(id ?? '')) ? 'files' : 'results');

/** The tokens of a block: a text by length, a call by name and arguments, a result by content, others as JSON without cache marks. */
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

/** The tokens of a value as JSON. */
export const tokensOfJson = (value: Json): number => countTokens(JSON.stringify(withoutMarks(value)));

/** The tokens of system prompt and tools. */
export function causesOfStated(stated: { readonly system?: Json; readonly tools?: Json } | undefined): CauseSums {
  const sums = noCauses();
  for (const part of ['system', 'tools'] as const) {
    const value = stated?.[part] ?? [];
    for (const one of Array.isArray(value) ? (value as readonly Json[]) : [value])
      sums[part] += part === 'tools' ? tokensOfJson(one) : typeof one === 'string' ? countTokens(one) : tokensOfBlock(one);
  }
  return sums;
}

/** The tokens of a message, for all causes together. */
export const tokensOfMessage = (message: Json): number => Object.values(causesOfMessage(message, new Map())).reduce((sum, tokens) => sum + tokens, 0);

/** The cause of an entry, by its outline. Adds the tool names of calls to `tools`, as `causesOfMessage` does. */
export function causeOfEntry({ role, kind, head = '', toolCallId }: OutlineEntry, tools: Map<string, string>): Cause {
  if (kind === 'tool_call' && toolCallId !== undefined) tools.set(toolCallId, head);
  if (kind === 'summary') return 'summary';
  if (kind === 'tool_result') return isReader(tools.get(toolCallId ?? '')) ? 'files' : 'results';
  if (role === 'system') return 'system';
  return role === 'assistant' ? 'talk' : kind === 'image' ? 'files' : causeOfText(head);
}
