import type { JsonObject } from '../../base/index.js';
import type { PlanContext, Progress } from '../format.js';
import { callsOf, historyIn, isMessage, isSummary, partOf, rewindIn, textOf } from './record.js';
import { scanDocument, scanLines } from './values.js';

/**
 * How far a session has come that the agent is still writing. Nothing says that a turn is over: an answer is written before it is known
 * whether it calls a tool, and again when the tool has answered. So one that says something looks over, and is when the next prompt,
 * a way back or a compression stands behind it. Older sessions are documents, written as a whole each time.
 */
export function progress(fresh: Uint8Array, granularity: PlanContext['granularity']): Progress {
  if (scanDocument(fresh)) return { settled: 0, resting: fresh.length, open: true, ended: false };
  let settled = 0;
  let resting = 0;
  let open = false;
  const settle = (at: number): void => {
    settled = resting = at;
    open = false;
  };
  for (const { record, sort, range } of scanLines(fresh, { mayGrow: true }).pieces) {
    if (sort === 'half') break;
    if (!record || sort !== 'record' || !isTelling(record)) {
      // What the agent notes behind a turn goes with it.
      if (resting === range.start) resting = range.end;
      if (!open && settled === range.start) settled = range.end;
      continue;
    }
    const part = isMessage(record) ? partOf(record) : 'quiet';
    if (historyIn(record) || rewindIn(record) !== undefined) {
      if (open) settle(range.start);
      settle(range.end);
    } else if (part === 'prompt') {
      if (open) settle(range.start);
      open = true;
    } else if (part === 'answer') {
      open = true;
      resting = callsOf(record).length === 0 && textOf(record).trim() !== '' ? range.end : settled;
    } else {
      open = true;
      resting = settled;
      if (granularity === 'tool_call') settle(range.end);
    }
  }
  return { settled, resting, open, ended: false };
}

/** The lines that say how far it has come: messages of a person, the model and its tools, and what is done to the history. */
const isTelling = (record: JsonObject): boolean =>
  historyIn(record)?.some(isSummary) === true ||
  rewindIn(record) !== undefined ||
  (isMessage(record) && ['prompt', 'answer', 'result'].includes(partOf(record)));
