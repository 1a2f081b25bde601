import { type JsonObject, stringAt } from '../../base/index.js';
import type { FileBytes, PlanContext, Progress } from '../format.js';
import { measureProgress, type RecordMark } from '../shared/progress.js';
import { eachLine, isPrompt, readLine, startsTurn } from './schema.js';

/** The progress of a rollout being written. The flat form of 2025 records no turns: there, a message without calls probably ends one. */
export function progress(fresh: FileBytes, granularity: PlanContext['granularity']): Progress {
  const marks: RecordMark[] = [];
  let saysTurns = false;
  eachLine(fresh, { mayGrow: true }, ({ record, range, sort }) => {
    if (sort === 'half') return;
    const mark: RecordMark = { range, ...(record ? meaningOf(record) : { is: 'quiet' }) };
    saysTurns ||= mark.is === 'starts';
    marks.push(saysTurns ? { ...mark, mayEndTurn: false } : mark);
  });
  return { ...measureProgress(marks, granularity), ended: false };
}

export const endsTurn: ReadonlySet<unknown> = new Set(['task_complete', 'turn_complete', 'turn_aborted']);

function meaningOf(record: JsonObject): Omit<RecordMark, 'range'> {
  const { sort, payload } = readLine(record);
  switch (sort) {
    case 'event':
      return { is: startsTurn(payload) ? 'starts' : endsTurn.has(payload.type) ? 'ends' : 'quiet' };
    case 'compacted':
      return { is: 'last' };
    case 'item':
      return itemMeaning(payload);
    default:
      return { is: 'quiet' };
  }
}

function itemMeaning(item: JsonObject): Omit<RecordMark, 'range'> {
  const type = stringAt(item, 'type') ?? '';
  if (type === 'message') return item.role === 'assistant' ? { is: 'answer', mayEndTurn: true } : { is: isPrompt(item) ? 'prompt' : 'part' };
  const call = stringAt(item, 'call_id');
  const calls = call === undefined ? [] : [call];
  if (type.endsWith('_output')) return { is: 'result', calls };
  return { is: 'answer', calls: type.endsWith('_call') ? calls : [] };
}
