import { type JsonObject, stringAt } from '../../base/index.js';
import type { FileBytes, PlanContext, Progress } from '../format.js';
import { type Meaning, measureProgress, type RecordMark } from '../shared/progress.js';
import { scanDocument, scanLines } from './parse-values.js';
import { historyIn, isMessage, isSummary, readCalls, readParts, readSpokenText, responsesIn, rewindIn, roleInTurn } from './schema.js';

/**
 * The progress of a session that the agent is still writing. Nothing marks the end of a turn: an answer is written before it is known whether it
 * calls a tool, and again with the tool's result. Sessions of older versions are documents that are rewritten each time.
 */
export function progress(file: FileBytes, granularity: PlanContext['granularity']): Progress {
  // A document can only be read completely.
  const fresh = file.subarray(0, file.length);
  if (scanDocument(fresh)) return { settled: 0, resting: fresh.length, open: true, ended: false };
  const marks: RecordMark[] = [];
  for (const { record, sort, range } of scanLines(fresh, { mayGrow: true }).pieces) {
    if (sort === 'half') break;
    const mark: RecordMark = { range, ...(record && sort === 'record' ? meaningOf(record) : { is: 'quiet' }) };
    const last = marks.at(-1);
    // Notes of the agent after an answer belong to it.
    if (mark.is === 'quiet' && last?.is === 'answer') marks[marks.length - 1] = { ...last, range: { start: last.range.start, end: range.end } };
    else marks.push(mark);
  }
  return { ...measureProgress(marks, granularity), ended: false };
}

function meaningOf(record: JsonObject): Meaning {
  if (historyIn(record)?.some(isSummary) === true || rewindIn(record) !== undefined) return { is: 'last' };
  if (!isMessage(record)) return { is: 'quiet' };
  switch (roleInTurn(record)) {
    case 'prompt':
      return { is: 'prompt' };
    case 'answer': {
      const calls = readCalls(record).flatMap((call) => stringAt(call, 'id') ?? []);
      return { is: 'answer', calls, mayEndTurn: readSpokenText(record).trim() !== '' };
    }
    case 'result':
      return { is: 'result', calls: responsesIn(readParts(record.content)).flatMap((response) => stringAt(response, 'id') ?? []) };
    default:
      return { is: 'quiet' };
  }
}
