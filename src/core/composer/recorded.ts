import { type ContextId, defined, isObject, type Json, stringAt } from '../base/index.js';
import type { Entry, MemoryMessage } from '../contract/index.js';
import { noResult, systemPromptType } from '../formats/index.js';

/** The layers of a recorded conversation. */
export interface RecordedLayers {
  /** System prompts of the history. Most runtimes do not record them. */
  readonly systemPrompt: readonly Entry[];
  /** Texts that the runtime added: reminders, notices. */
  readonly framework: readonly Entry[];
  readonly summaries: readonly Entry[];
  /** The last todo list, and the entries that made it. */
  readonly todo: { readonly items: readonly Json[]; readonly from: readonly Entry[] };
  readonly memory: readonly RecordedMessage[];
  /** Set if `memory` has only the last prompt: what all of memory is. */
  readonly whole?: WholeMemory;
  /** The number and the tokens of entries that memory does not keep: thinking without a signature, events. */
  readonly leftOut: { readonly messages: number; readonly tokens: number };
}

/** The memory of a long context, of which only pages are read. */
export interface WholeMemory {
  readonly messages: number;
  readonly tokens: number;
  /** The number of the entries that the messages are made of, and their commits. */
  readonly entries: number;
  readonly commits: readonly ContextId[];
}

export interface RecordedMessage {
  readonly message: MemoryMessage;
  readonly from: readonly Entry[];
}

const isSeen = (entry: Entry): boolean => !entry.marks?.includes('hidden');
const system = (entry: Entry): boolean => entry.kind === 'text' && entry.role === 'system';
const ofRuntime = (entry: Entry): boolean => entry.toolName !== systemPromptType && (entry.marks?.includes('meta') ?? false);

/** Sorts the entries of a conversation into layers. Hidden entries are ignored. */
export function recordedLayers(entries: readonly Entry[]): RecordedLayers {
  const seen = entries.filter(isSeen);
  const is = (kind: Entry['kind']) => (entry: Entry) => entry.kind === kind;
  const leftOut = seen.filter((entry) => (entry.kind === 'thinking' && !isSigned(entry)) || entry.kind === 'event');
  return {
    systemPrompt: seen.filter((entry) => system(entry) && !ofRuntime(entry)),
    framework: seen.filter((entry) => system(entry) && ofRuntime(entry)),
    summaries: seen.filter(is('summary')),
    todo: todoOf(seen),
    memory: groupMessages(seen.filter(isRemembered)),
    leftOut: { messages: leftOut.length, tokens: leftOut.reduce((sum, { tokens }) => sum + tokens, 0) },
  };
}

/** The texts of entries, one after the other. */
export const textOf = (entries: readonly Entry[]): string => entries.map(({ text }) => text ?? '').join('\n\n');

/** Whether memory keeps an entry. */
export const isRemembered = (entry: Entry): boolean =>
  entry.kind === 'tool_call' ||
  entry.kind === 'tool_result' ||
  entry.kind === 'image' ||
  (entry.kind === 'text' && entry.role !== 'system') ||
  isSigned(entry);

/** Whether a person wrote a message. Prompts that the runtime added do not count. */
export const isPrompt = ({ message, from }: RecordedMessage): boolean =>
  message.role === 'human' && from.some((entry) => !entry.marks?.includes('meta'));

/** Adjacent entries of the assistant are one message with texts and calls. Every other entry is a message of its own. */
function groupMessages(entries: readonly Entry[]): readonly RecordedMessage[] {
  const runs: Entry[][] = [];
  for (const entry of entries) {
    const last = runs.at(-1);
    if (last?.[0]?.role === 'assistant' && entry.role === 'assistant') last.push(entry);
    else runs.push([entry]);
  }
  return runs.flatMap((run) => {
    const from = run.filter(({ kind }) => kind !== 'thinking');
    const thinking = run.filter(({ kind }) => kind === 'thinking').map(({ text, result }) => ({ text: text ?? '', ...(result as object) }));
    // An answer of thinking alone is not sent.
    return from.length === 0 ? [] : [{ message: { ...joinEntries(from), ...(thinking.length > 0 && { thinking }) }, from }];
  });
}

/** Whether a provider signed the thinking, so that it is sent back to that provider. */
const isSigned = ({ kind, result }: Entry): boolean =>
  kind === 'thinking' && isObject(result) && ['signature', 'data', 'encrypted_content'].some((name) => typeof result[name] === 'string');

function joinEntries(run: readonly Entry[]): MemoryMessage {
  const [first] = run;
  if (!first) throw new Error('a message is made of at least one entry');
  const content = run
    .filter((entry) => entry.kind !== 'tool_call')
    .map(writeContent)
    .filter((text) => text.trim() !== '')
    .join('\n\n');
  if (first.kind === 'tool_result')
    return {
      role: 'tool',
      content,
      id: first.key,
      tool_call_id: first.toolCallId ?? '',
      ...(first.text === noResult && { internal: true }),
      ...defined({ name: first.toolName }),
      ...(first.isError && { is_error: true }),
    };
  if (first.role !== 'assistant') return { role: 'human', content, id: first.key };
  const calls = run
    .filter((entry) => entry.kind === 'tool_call')
    .map((entry) => ({ id: entry.toolCallId ?? entry.key, name: entry.toolName ?? 'tool', args: entry.arguments ?? {} }));
  return { role: 'ai', content, id: first.key, ...(calls.length > 0 ? { tool_calls: calls } : {}) };
}

function writeContent(entry: Entry): string {
  if (entry.kind === 'image') return `[image ${entry.media?.mediaType ?? ''}]`;
  return entry.text ?? (entry.result === undefined ? '' : JSON.stringify(entry.result));
}

/** The whole list that a call writes. Agents name it `todos` or `plan`. */
function wholeList(given: unknown): readonly Json[] | undefined {
  const list = isObject(given) ? (given.todos ?? given.plan) : undefined;
  return Array.isArray(list) ? list : undefined;
}

const callsOfPlans = (entries: readonly Entry[]): Entry[] => entries.filter(({ kind, toolClass }) => kind === 'tool_call' && toolClass === 'plan');
const changesTask = ({ arguments: given }: Entry): boolean => stringAt(given, 'taskId') !== undefined || stringAt(given, 'subject') !== undefined;

/** What entries say about the todo list: tasks one by one, a whole list, or nothing. */
export function plannedIn(entries: readonly Entry[]): 'tasks' | 'list' | null {
  const calls = callsOfPlans(entries);
  if (calls.some(changesTask)) return 'tasks';
  return calls.some((entry) => wholeList(entry.arguments) !== undefined) ? 'list' : null;
}

/** The todo list of an agent: the last whole list, or tasks that calls created (by subject) and updated (by id) one by one. */
function todoOf(entries: readonly Entry[]): RecordedLayers['todo'] {
  const calls = callsOfPlans(entries);
  const tasks = calls.filter(changesTask);
  if (tasks.length === 0) {
    const written = calls.findLast((entry) => wholeList(entry.arguments) !== undefined);
    return { items: wholeList(written?.arguments) ?? [], from: written ? [written] : [] };
  }
  const made: { id: string; content: string; status: string }[] = [];
  for (const { arguments: given } of tasks) {
    const taskId = stringAt(given, 'taskId');
    if (taskId === undefined) made.push({ id: String(made.length + 1), content: stringAt(given, 'subject') ?? '', status: 'pending' });
    const changed = made.find((task) => task.id === taskId);
    if (changed) changed.status = stringAt(given, 'status') ?? changed.status;
  }
  return { items: made.filter((task) => task.status !== 'deleted'), from: tasks };
}
