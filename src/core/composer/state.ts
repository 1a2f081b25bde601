import { inWords, isObject, type Json } from '../base/index.js';
import { type MemoryMessage, memoryMessage, type OutputOf } from '../contract/index.js';
import { reproducibleBlocks } from './layers.js';
import { answeredCall, dialogueOf, toolCallsOf } from './memory.js';
import { type MessageDelta, type ResultsDelta, reduceMessages, reduceResults, removeAll } from './reduce.js';
import { refuse } from './refusals.js';

/** The shared state of a run. Only this module writes it. */
export type State = Readonly<Record<string, unknown>>;
/** The changes of one node: deltas for the two fields with reducers, values for the others. */
export type Patch = Readonly<Record<string, unknown>>;

const reducerFields: readonly string[] = ['messages', 'mapreduce_results'];

const plainFields: readonly string[] = [
  ...reproducibleBlocks,
  ...['namespace', 'session_id', 'active_agent', 'assigned_task', 'last_agent_status', 'last_agent_failure_kind', 'last_agent_error'],
  ...['todo', 'plan', 'reflection', 'deliverable_keys'],
  ...['mapreduce_goal', 'mapreduce_understanding', 'mapreduce_tasks', 'mapreduce_task'],
];

/** The fields of the state. Others do not exist. */
export const stateFields: readonly string[] = [...reducerFields, ...plainFields];

/** Checks a state that is saved as a whole. @throws BAD_REQUEST with the field: UNKNOWN_STATE_KEY, SYSTEM_IN_MEMORY */
export function checkState(state: State): void {
  const unknown = Object.keys(state).find((key) => !stateFields.includes(key));
  if (unknown !== undefined)
    throw refuse('UNKNOWN_STATE_KEY', `state.${unknown}`, `the state has no field ${inWords(unknown)}. Its fields are ${stateFields.join(', ')}`);
  const system = toList(state.messages).findIndex((message) => isObject(message) && message.role === 'system');
  if (system >= 0) throw refuse('SYSTEM_IN_MEMORY', `state.messages.${system}`, 'memory holds dialogue only, and this is a system message');
}

/** A call of the state builder: its name, then its arguments. */
export type StateCall = readonly [name: string, ...args: unknown[]];

/**
 * Builds the patch of one node from its calls, in order.
 * @throws BAD_REQUEST with `data.reason` REDUCER_FIELD_SET, UNKNOWN_STATE_KEY, PATCH_CONFLICT or INVALID_STATE_CALL.
 */
export const buildPatch = (state: State, calls: readonly StateCall[]): Patch =>
  calls.reduce<OutputOf<'compose.patch'>>((draft, [name, ...args]) => ({ state, patch: writerOf(name)(draft, args) }), { state, patch: {} }).patch;

/** Applies a patch to a state, each field by its reducer. */
export function applyPatch(state: State, patch: Patch): State {
  const changed = Object.keys(patch).map((field) => [field, reduceField(field, state[field], [patch[field]])]);
  return { ...state, ...Object.fromEntries(changed) };
}

/**
 * Applies the updates of one parallel step to a field, by its reducer.
 * @throws BAD_REQUEST with `data.reason` REMOVE_UNKNOWN_ID, CONCURRENT_OVERWRITE or CONCURRENT_UPDATE.
 */
export function reduceField(field: string, current: unknown, updates: readonly unknown[]): unknown {
  if (field === 'messages')
    return updates.reduce<readonly MemoryMessage[]>(
      (left, right) => reduceMessages(left, (right ?? []) as readonly MessageDelta[]),
      readMessages(current),
    );
  if (field === 'mapreduce_results') return reduceResults(toList(current), updates as readonly ResultsDelta[]);
  // A plain field has one writer in a step.
  if (updates.length > 1) throw refuse('CONCURRENT_UPDATE', field, `${field} can be written once in a step; it was written ${updates.length} times`);
  return updates.length === 1 ? updates[0] : current;
}

/** The valid messages of a value. */
export const readMessages = (value: unknown): readonly MemoryMessage[] =>
  toList(value).flatMap((message) => {
    const read = memoryMessage.safeParse(message);
    return read.success ? [read.data] : [];
  });

const toList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

type Writer = (draft: OutputOf<'compose.patch'>, args: readonly unknown[]) => Patch;

const writers: Readonly<Record<string, Writer>> = {
  set: ({ patch }, [field, value]) => set(patch, requireText('set', field), value),

  'memory.appendUser': ({ patch }, [text, id]) => appendUser(patch, requireText('memory.appendUser', text), id),
  'memory.append': ({ patch }, [messages]) => appendMessages(patch, dialogueOf(messagesIn('memory.append', messages))),
  'memory.appendToolExchange': ({ patch }, [messages]) => appendMessages(patch, wholeExchange(messagesIn('memory.appendToolExchange', messages))),
  'memory.replace': ({ patch }, [messages]) => replaceMessages(patch, messagesIn('memory.replace', messages)),
  'memory.compact': ({ patch }, [result]) => compact(patch, result),
  'memory.appendExecutionSummary': ({ state, patch }, [result]) => appendMessages(patch, [executionSummary(state, result)]),
  'memory.appendTaskInstruction': ({ patch }, [taskId, description]) =>
    appendMessages(patch, [
      { role: 'ai', content: `${taskMark(requireText('memory.appendTaskInstruction', taskId))}${oneLine(description)}`, name: 'react_controller' },
    ]),

  'mapreduce.initPlan': ({ patch }, [plan]) => initPlan(patch, plan),
  'mapreduce.append': ({ patch }, [results]) => appendResults(patch, toList(results)),
  'mapreduce.reset': ({ patch }) => ({ ...patch, mapreduce_results: { overwrite: [] } }),

  'routing.finishAgent': ({ patch }, [result]) => finishAgent(patch, result),
  resume: ({ patch }, [text, agent, id]) => ({ ...appendUser(patch, requireText('resume', text), id), active_agent: requireText('resume', agent) }),
};

function writerOf(name: string): Writer {
  const writer = Object.hasOwn(writers, name) ? writers[name] : undefined;
  if (!writer)
    throw refuse('INVALID_STATE_CALL', 'calls', `unknown call ${inWords(name)}; the state builder knows ${Object.keys(writers).join(', ')}`);
  return writer;
}

function set(patch: Patch, field: string, value: unknown): Patch {
  if (reducerFields.includes(field))
    throw refuse('REDUCER_FIELD_SET', field, `${field} has a reducer: append to it or replace it instead of setting it`);
  if (!plainFields.includes(field)) throw refuse('UNKNOWN_STATE_KEY', field, `the state has no field ${inWords(field)}`);
  return { ...patch, [field]: value };
}

const pendingMessages = (patch: Patch): readonly MessageDelta[] => (patch.messages ?? []) as readonly MessageDelta[];

const appendMessages = (patch: Patch, messages: readonly MemoryMessage[]): Patch =>
  messages.length === 0 ? patch : { ...patch, messages: [...pendingMessages(patch), ...messages] };

/** Replaces all of memory, including messages that were appended before. */
const replaceMessages = (patch: Patch, messages: readonly MemoryMessage[]): Patch => ({ ...patch, messages: [removeAll, ...dialogueOf(messages)] });

function appendUser(patch: Patch, text: string, id: unknown): Patch {
  const content = text.trim();
  return content === '' ? patch : appendMessages(patch, [{ role: 'human', content, ...(typeof id === 'string' ? { id } : {}) }]);
}

/** Calls and results enter memory together. */
function wholeExchange(messages: readonly MemoryMessage[]): readonly MemoryMessage[] {
  const calls = messages.flatMap(toolCallsOf).map((call) => call.id);
  const answers = messages.flatMap((message) => answeredCall(message) ?? []);
  const alone = [...calls.filter((id) => !answers.includes(id)), ...answers.filter((id) => !calls.includes(id))];
  if (alone.length > 0) throw refuse('UNPAIRED_TOOL_CALL', 'calls', `calls need their results: ${alone.join(', ')} has no counterpart`);
  return messages.filter((message) => message.role !== 'system' && message.internal !== true);
}

/** The summary and the shortened memory are one patch, so that neither exists without the other. */
function compact(patch: Patch, result: unknown): Patch {
  const summary = memberText('memory.compact', result, 'summary');
  const messages = isObject(result) ? messagesIn('memory.compact', result.messages) : [];
  return { ...set(patch, 'compression__context', summary), messages: [removeAll, ...messages.filter((message) => message.role !== 'system')] };
}

function initPlan(patch: Patch, plan: unknown): Patch {
  const { goal, understanding, tasks } = isObject(plan) ? plan : {};
  return {
    ...patch,
    mapreduce_goal: goal ?? null,
    mapreduce_understanding: understanding ?? null,
    mapreduce_tasks: tasks ?? [],
    mapreduce_task: null,
    mapreduce_results: { overwrite: [] },
  };
}

/** A reset discards earlier results of the same patch. Appending after a reset is refused. */
function appendResults(patch: Patch, results: readonly unknown[]): Patch {
  const pending = patch.mapreduce_results ?? [];
  if (!Array.isArray(pending)) throw refuse('PATCH_CONFLICT', 'mapreduce_results', 'this patch reset the results: append to them in the next patch');
  return { ...patch, mapreduce_results: [...pending, ...results] };
}

function finishAgent(patch: Patch, result: unknown): Patch {
  return {
    ...patch,
    last_agent_status: memberText('routing.finishAgent', result, 'status'),
    last_agent_failure_kind: readMember(result, 'failureKind') ?? null,
    last_agent_error: readMember(result, 'error') ?? null,
    active_agent: null,
    assigned_task: null,
  };
}

const taskMark = (taskId: string): string => `【TASK ${taskId}】`;
const taskPattern = /^【TASK ([^】]+)】/;

/** The one line that an agent leaves in memory. It contains nothing of the agent's dialogue. */
function executionSummary(state: State, result: unknown): MemoryMessage {
  const facts: readonly (readonly [string, Json | undefined])[] = [
    ['agent', memberText('memory.appendExecutionSummary', result, 'agentId')],
    ['task', readMember(result, 'taskId') ?? newestTask(state)],
    ['status', memberText('memory.appendExecutionSummary', result, 'status')],
    ['failure_kind', readMember(result, 'failureKind')],
    ['deliverable', readMember(result, 'deliverableKey')],
    ['error', readMember(result, 'error')],
  ];
  const words = facts.flatMap(([name, value]) => (value === undefined || value === null || value === '' ? [] : [`${name}=${oneLine(value)}`]));
  return { role: 'ai', content: `【RESULT】${words.join(' ')}`, name: 'datapillar' };
}

const newestTask = (state: State): string | undefined =>
  readMessages(state.messages)
    .filter((message) => message.name === 'react_controller')
    .map((message) => taskPattern.exec(message.content)?.[1])
    .findLast((task) => task !== undefined);

const oneLine = (value: unknown): string => String(value).replace(/\s+/g, ' ').trim();

function requireText(call: string, value: unknown): string {
  if (typeof value === 'string') return value;
  throw refuse('INVALID_STATE_CALL', 'calls', `${call} takes a text, not ${inWords(value)}`);
}

function messagesIn(call: string, value: unknown): readonly MemoryMessage[] {
  const read = memoryMessage.array().safeParse(value);
  if (read.success) return read.data;
  throw refuse('INVALID_STATE_CALL', 'calls', `${call} takes a list of messages with role and content, not ${inWords(value)}`);
}

const readMember = (value: unknown, key: string): Json | undefined => (isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined);

function memberText(call: string, value: unknown, key: string): string {
  const member = readMember(value, key);
  if (typeof member === 'string') return member;
  throw refuse('INVALID_STATE_CALL', 'calls', `${call} takes an object with the text ${key}, not ${inWords(value)}`);
}
