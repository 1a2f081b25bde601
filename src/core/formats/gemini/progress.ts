import { type JsonObject, stringAt } from '../../base/index.js';
import type { PlanContext, Progress } from '../format.js';
import { type Mark, progressOf } from '../turns.js';
import { callsOf, historyIn, isMessage, isSummary, partOf, partsOf, responsesIn, rewindIn, textOf } from './record.js';
import { scanDocument, scanLines } from './values.js';

/**
 * How far a session has come that the agent is still writing. Nothing says that a turn is over: an answer is written before it is known
 * whether it calls a tool, and again when the tool has answered. Older sessions are documents, written as a whole each time.
 */
export function progress(fresh: Uint8Array, granularity: PlanContext['granularity']): Progress {
  if (scanDocument(fresh)) return { settled: 0, resting: fresh.length, open: true, ended: false };
  const marks: Mark[] = [];
  for (const { record, sort, range } of scanLines(fresh, { mayGrow: true }).pieces) {
    if (sort === 'half') break;
    const mark: Mark = { range, ...(record && sort === 'record' ? meaningOf(record) : { is: 'quiet' }) };
    const last = marks.at(-1);
    // What the agent notes behind an answer comes with it.
    if (mark.is === 'quiet' && last?.is === 'answer') marks[marks.length - 1] = { ...last, range: { start: last.range.start, end: range.end } };
    else marks.push(mark);
  }
  return { ...progressOf(marks, granularity), ended: false };
}

function meaningOf(record: JsonObject): Omit<Mark, 'range'> {
  if (historyIn(record)?.some(isSummary) === true || rewindIn(record) !== undefined) return { is: 'last' };
  if (!isMessage(record)) return { is: 'quiet' };
  switch (partOf(record)) {
    case 'prompt':
      return { is: 'prompt' };
    case 'answer': {
      const calls = callsOf(record).flatMap((call) => stringAt(call, 'id') ?? []);
      return { is: 'answer', calls, looksOver: textOf(record).trim() !== '' };
    }
    case 'result':
      return { is: 'result', calls: responsesIn(partsOf(record.content)).flatMap((response) => stringAt(response, 'id') ?? []) };
    default:
      return { is: 'quiet' };
  }
}
