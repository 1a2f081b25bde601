import { isObject, type JsonObject, stringAt } from '../../base/index.js';
import type { FileBytes, PlanContext, Progress } from '../format.js';
import { measureProgress, type RecordMark } from '../shared/progress.js';
import { eachLine, isChained, readMessage, readRole, roleInTurn } from './schema.js';

/** The progress of a session that pi is still writing. Each answer records why it stopped. After an error the agent may try again. */
export function progress(fresh: FileBytes, granularity: PlanContext['granularity']): Progress {
  const marks: RecordMark[] = [];
  eachLine(fresh, { mayGrow: true }, ({ record, range, sort }) => {
    if (sort === 'half') return;
    marks.push(record && isChained(record) ? { range, ...meaningOf(record) } : { range, is: 'quiet' });
  });
  return { ...measureProgress(marks, granularity), ended: false };
}

const stops: ReadonlySet<unknown> = new Set(['stop', 'length', 'aborted']);

function meaningOf(record: JsonObject): Omit<RecordMark, 'range'> {
  const part = roleInTurn(record);
  switch (part) {
    case 'compaction':
      return { is: 'last' };
    case 'prompt':
      return { is: 'prompt' };
    case 'answer': {
      const { stopReason, content } = readMessage(record);
      if (stops.has(stopReason)) return { is: 'last' };
      return { is: 'answer', calls: callsIn(content), mayEndTurn: stopReason !== 'toolUse' };
    }
    case 'result': {
      const call = stringAt(record.message, 'toolCallId');
      return { is: 'result', calls: call === undefined ? [] : [call] };
    }
    case 'lead':
      return { is: 'part' };
    default:
      return { is: readRole(record) === undefined ? 'quiet' : 'part' };
  }
}

const callsIn = (content: unknown): readonly string[] =>
  Array.isArray(content) ? content.flatMap((block) => (isObject(block) && block.type === 'toolCall' ? (stringAt(block, 'id') ?? []) : [])) : [];
