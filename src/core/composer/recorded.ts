import { isObject, type Json, stringAt } from '../base/index.js';
import type { Entry, MemoryMessage } from '../contract/index.js';

/** A conversation as the layers that it holds: what a runtime recorded, told apart by what it is to the model. */
export interface RecordedLayers {
  /** System texts of the history; most runtimes write none down. */
  readonly systemPrompt: readonly Entry[];
  /** What the runtime itself put in: reminders, notices. */
  readonly framework: readonly Entry[];
  /** Summaries that stand for what was compacted away. */
  readonly summaries: readonly Entry[];
  /** The last list of todos, and the entries that made it. */
  readonly todo: { readonly items: readonly Json[]; readonly from: readonly Entry[] };
  readonly memory: readonly RecordedMessage[];
  /** Entries that have no place in a memory: thinking, events. */
  readonly leftOut: readonly Entry[];
}

export interface RecordedMessage {
  readonly message: MemoryMessage;
  readonly from: readonly Entry[];
}

export function recordedLayers(entries: readonly Entry[]): RecordedLayers {
  const seen = entries.filter((entry) => !entry.marks?.includes('hidden'));
  const is = (kind: Entry['kind']) => (entry: Entry) => entry.kind === kind;
  const system = (entry: Entry): boolean => entry.kind === 'text' && entry.role === 'system';
  const ofRuntime = (entry: Entry): boolean => entry.marks?.includes('meta') ?? false;
  const remembered = (entry: Entry): boolean =>
    entry.kind === 'tool_call' || entry.kind === 'tool_result' || entry.kind === 'image' || (entry.kind === 'text' && entry.role !== 'system');
  return {
    systemPrompt: seen.filter((entry) => system(entry) && !ofRuntime(entry)),
    framework: seen.filter((entry) => system(entry) && ofRuntime(entry)),
    summaries: seen.filter(is('summary')),
    todo: todoOf(seen),
    memory: messagesOf(seen.filter(remembered)),
    leftOut: seen.filter((entry) => entry.kind === 'thinking' || entry.kind === 'event'),
  };
}

/** Neighboring entries of the assistant are one message, its texts and its calls; every other entry is one of its own. */
function messagesOf(entries: readonly Entry[]): readonly RecordedMessage[] {
  const runs: Entry[][] = [];
  for (const entry of entries) {
    const last = runs.at(-1);
    if (last?.[0]?.role === 'assistant' && entry.role === 'assistant') last.push(entry);
    else runs.push([entry]);
  }
  return runs.map((run) => ({ message: messageOf(run), from: run }));
}

function messageOf(run: readonly Entry[]): MemoryMessage {
  const [first] = run;
  if (!first) throw new Error('a message is made of at least one entry');
  const content = run
    .filter((entry) => entry.kind !== 'tool_call')
    .map(textOf)
    .filter((text) => text.trim() !== '')
    .join('\n\n');
  if (first.kind === 'tool_result')
    return {
      role: 'tool',
      content,
      id: first.key,
      tool_call_id: first.toolCallId ?? '',
      ...(first.toolName === undefined ? {} : { name: first.toolName }),
      ...(first.isError ? { is_error: true } : {}),
    };
  if (first.role !== 'assistant') return { role: 'human', content, id: first.key };
  const calls = run
    .filter((entry) => entry.kind === 'tool_call')
    .map((entry) => ({ id: entry.toolCallId ?? entry.key, name: entry.toolName ?? 'tool', args: entry.arguments ?? {} }));
  return { role: 'ai', content, id: first.key, ...(calls.length > 0 ? { tool_calls: calls } : {}) };
}

function textOf(entry: Entry): string {
  if (entry.kind === 'image') return `[image ${entry.media?.mediaType ?? ''}]`;
  return entry.text ?? (entry.result === undefined ? '' : JSON.stringify(entry.result));
}

/** Todos as agents keep them: a whole list at each writing, or tasks that are made and changed one by one. */
function todoOf(entries: readonly Entry[]): RecordedLayers['todo'] {
  const calls = entries.filter((entry) => entry.kind === 'tool_call');
  const written = calls.findLast((entry) => entry.toolName === 'TodoWrite');
  const list = isObject(written?.arguments) ? written.arguments.todos : undefined;
  const tasks = calls.filter((entry) => entry.toolName === 'TaskCreate' || entry.toolName === 'TaskUpdate');
  if (tasks.length === 0) return written && Array.isArray(list) ? { items: list, from: [written] } : { items: [], from: [] };

  const made: { id: string; content: string; status: string }[] = [];
  for (const { toolName, arguments: given } of tasks) {
    if (toolName === 'TaskCreate') made.push({ id: String(made.length + 1), content: stringAt(given, 'subject') ?? '', status: 'pending' });
    const changed = toolName === 'TaskUpdate' ? made.find((task) => task.id === stringAt(given, 'taskId')) : undefined;
    if (changed) changed.status = stringAt(given, 'status') ?? changed.status;
  }
  return { items: made.filter((task) => task.status !== 'deleted'), from: tasks };
}
