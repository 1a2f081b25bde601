import { type JsonObject, stringAt } from '../../base/index.js';
import type { RecordRole, TreeRecord } from '../shared/branches.js';
import { objectsIn } from '../shared/drafts.js';
import type { RecordMark } from '../shared/progress.js';
import type { About, RecordPlace, RecordRules } from '../shared/records.js';
import { callNamed } from '../shared/subagents.js';
import { type Gathered, gather, readEntries } from './parse.js';
import { dialect, formatId, laneOf, readData, readType } from './schema.js';

/** Plans commits from events: a chain in file order, and a separate chain for the events of each subagent. */
export const rules: RecordRules<Gathered> = {
  formatId,
  template: 'copilot-cli',
  dialect,
  about,
  place,
  entries: readEntries,
  gather,
  keeps: keptSystem,
  mark,
  prompt: (record) => (readType(record) === 'user.message' && laneOf(record) === undefined ? stringAt(readData(record), 'content') : undefined),
};

function about(records: readonly JsonObject[]): About {
  const start = records.find((record) => readType(record) === 'session.start');
  const resumed = records.find((record) => readType(record) === 'session.resume');
  const folder = (record: JsonObject | undefined): string | undefined => {
    return record && stringAt(readData(record).context, 'cwd');
  };
  const named = records.findLast((record) => readType(record) === 'session.title_changed' || readType(record) === 'session.renamed');
  return {
    sessionId: start && stringAt(readData(start), 'sessionId'),
    cwd: folder(start) ?? folder(resumed),
    title: named && (stringAt(readData(named), 'title') ?? stringAt(readData(named), 'name')),
  };
}

function place(record: JsonObject): RecordPlace | undefined {
  const name = stringAt(record, 'id');
  if (name === undefined || name === '' || typeof record.type !== 'string') return undefined;
  const lane = laneOf(record);
  const call = lane === undefined ? undefined : (stringAt(readData(record), 'parentToolCallId') ?? startedIn(record));
  const starts = startingCalls(record);
  return {
    name,
    part: roleInTurn(record),
    ...(lane !== undefined && { lane }),
    ...(call !== undefined && { startedBy: { toolCallId: call } }),
    ...(starts.length > 0 && { others: starts.map(callNamed) }),
  };
}

const startingCalls = (record: JsonObject): readonly string[] =>
  readType(record) === 'assistant.message'
    ? objectsIn(readData(record).toolRequests).flatMap((call) => (call.name === 'task' ? (stringAt(call, 'toolCallId') ?? []) : []))
    : [];

/** The call that an event of a subagent's start names. */
const startedIn = (record: JsonObject): string | undefined =>
  readType(record).startsWith('subagent.') ? stringAt(readData(record), 'toolCallId') : undefined;

const rolesInTurn: ReadonlyMap<string, RecordRole> = new Map([
  ['user.message', 'prompt'],
  ['assistant.message', 'answer'],
  ['tool.execution_complete', 'result'],
  ['session.resume', 'lead'],
  ['session.info', 'lead'],
]);

const roleInTurn = (record: JsonObject): RecordRole =>
  readType(record) === 'session.compaction_complete' && readData(record).success === true
    ? 'compaction'
    : (rolesInTurn.get(readType(record)) ?? 'quiet');

/** After a compaction, the agent sends the last recorded system prompt again. */
function keptSystem(_: JsonObject, before: readonly TreeRecord[]): readonly TreeRecord[] {
  const last = before.findLast(({ piece }) => piece.record && readType(piece.record) === 'system.message');
  return last ? [last] : [];
}

/** Each model call ends with a separate event. A turn ends with a model call without tool calls, or with an error. */
function mark(record: JsonObject): Omit<RecordMark, 'range'> | undefined {
  const type = readType(record);
  if (type === 'session.resume') return { is: 'starts' };
  return ['session.error', 'session.shutdown', 'abort'].includes(type) ? { is: 'ends' } : undefined;
}
