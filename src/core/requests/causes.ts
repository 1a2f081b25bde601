import { canonicalJson, isObject, type Json, stringAt } from '../base/index.js';
import type { OutlineEntry } from '../chain/index.js';
import { type Cause, causes } from '../contract/index.js';
import { countTokens, imageTokens } from '../formats/index.js';

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

/** What a message of a body costs, by cause. `tools` knows the tools by the ids of their calls, and learns those of this message. */
export function causesOfMessage(message: Json, tools: Map<string, string>): CauseSums {
  const sums = noCauses();
  const content = isObject(message) ? message.content : undefined;
  const isAsked = stringAt(message, 'role') !== 'assistant';
  if (typeof content === 'string') addTo(sums, isAsked ? causeOfText(content) : 'talk', countTokens(content));
  for (const block of Array.isArray(content) ? content : []) {
    const text = stringAt(block, 'text');
    const [id, name] = [stringAt(block, 'id'), stringAt(block, 'name')];
    if (id !== undefined && name !== undefined) tools.set(id, name);
    const type = stringAt(block, 'type');
    if (type === 'image') addTo(sums, 'files', imageTokens);
    else if (type === 'tool_result')
      addTo(sums, isReader(tools.get(stringAt(block, 'tool_use_id') ?? '')) ? 'files' : 'results', tokensOfResult(block));
    else if (text !== undefined) addTo(sums, isAsked ? causeOfText(text) : 'talk', countTokens(text));
    else addTo(sums, 'talk', countTokens(canonicalJson(block)));
  }
  return sums;
}

function tokensOfResult(block: Json): number {
  const content = isObject(block) ? block.content : undefined;
  if (typeof content === 'string') return countTokens(content);
  return (Array.isArray(content) ? content : []).reduce<number>(
    (sum, part) => sum + (stringAt(part, 'type') === 'image' ? imageTokens : countTokens(stringAt(part, 'text') ?? canonicalJson(part))),
    0,
  );
}

/** The cause of an entry, as far as its outline tells. `tools` learns as it does of messages. */
export function causeOfEntry({ role, kind, head = '', toolCallId }: OutlineEntry, tools: Map<string, string>): Cause {
  if (kind === 'tool_call' && toolCallId !== undefined) tools.set(toolCallId, head);
  if (kind === 'summary') return 'summary';
  if (kind === 'tool_result') return isReader(tools.get(toolCallId ?? '')) ? 'files' : 'results';
  if (role === 'system') return 'system';
  return role === 'assistant' ? 'talk' : kind === 'image' ? 'files' : causeOfText(head);
}
