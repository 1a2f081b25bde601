import { type JsonObject, stringAt } from '../../base/index.js';
import type { PlanContext, Progress } from '../format.js';
import { type Mark, progressOf } from '../turns.js';
import { isPrompt, lineOf, scanLines, startsTurn } from './record.js';

/**
 * How far a rollout has come that Codex is still writing: it says where a turn starts and where it is complete. Rollouts of 2025 in the
 * flat form do not: there a message of the model without calls looks over.
 */
export function progress(fresh: Uint8Array, granularity: PlanContext['granularity']): Progress {
  const marks: Mark[] = [];
  let saysTurns = false;
  for (const { record, range, sort } of scanLines(fresh, { mayGrow: true }).pieces) {
    if (sort === 'half') break;
    const mark: Mark = { range, ...(record ? meaningOf(record) : { is: 'quiet' }) };
    saysTurns ||= mark.is === 'starts';
    marks.push(saysTurns ? { ...mark, looksOver: false } : mark);
  }
  return { ...progressOf(marks, granularity), ended: false };
}

const ends: ReadonlySet<unknown> = new Set(['task_complete', 'turn_complete', 'turn_aborted']);

function meaningOf(record: JsonObject): Omit<Mark, 'range'> {
  const { sort, payload } = lineOf(record);
  switch (sort) {
    case 'event':
      return { is: startsTurn(payload) ? 'starts' : ends.has(payload.type) ? 'ends' : 'quiet' };
    case 'compacted':
      return { is: 'last' };
    case 'item':
      return itemMeaning(payload);
    default:
      return { is: 'quiet' };
  }
}

function itemMeaning(item: JsonObject): Omit<Mark, 'range'> {
  const type = stringAt(item, 'type') ?? '';
  if (type === 'message') return item.role === 'assistant' ? { is: 'answer', looksOver: true } : { is: isPrompt(item) ? 'prompt' : 'part' };
  const call = stringAt(item, 'call_id');
  const calls = call === undefined ? [] : [call];
  if (type.endsWith('_output')) return { is: 'result', calls };
  return { is: 'answer', calls: type.endsWith('_call') ? calls : [] };
}
