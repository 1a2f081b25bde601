import { isObject, type JsonObject, stringAt } from '../../base/index.js';
import type { FileBytes, PlanContext, Progress } from '../format.js';
import { measureProgress, type RecordMark } from '../shared/progress.js';
import { eachRecord, type RecordPiece } from './parse-lines.js';
import { type ChainedRole, callIdsOf, firstTextOf, isChained, readBlocks, readContent, resultIdsOf, roleInTree } from './schema.js';

/**
 * The progress of a session that Claude Code is still writing. A turn ends with an answer whose stop reason says so, an interruption, the next
 * prompt, or the summary of a compaction. Older versions write no stop reason; there an answer without calls probably ends the turn.
 */
export function progress(fresh: FileBytes, granularity: PlanContext['granularity']): Progress {
  const marks: RecordMark[] = [];
  let isSidechain: boolean | undefined;
  let ended = false;
  const { end } = eachRecord(fresh, { mayGrow: true }, (piece) => {
    const { record, sort } = piece;
    if (sort === 'half') return;
    if (record && isChained(record)) isSidechain ??= record.isSidechain === true;
    if (isChainedPiece(piece)) ended = false;
    else if (record?.type === 'cost-state') ended = true;
    // Older versions write subagents into the session's own file. Their turns are not turns of the session.
    const isOther = isChainedPiece(piece) && (record?.isSidechain === true) !== isSidechain;
    if (!isOther) marks.push(markOf(piece));
  });
  const found = measureProgress(marks, granularity);
  return ended ? { settled: end, resting: end, open: found.open, ended } : { ...found, ended };
}

const isChainedPiece = ({ record, sort }: RecordPiece): boolean => record !== undefined && sort === 'record' && isChained(record);

function markOf(piece: RecordPiece): RecordMark {
  const { range, record } = piece;
  if (!record || !isChainedPiece(piece)) return { range, is: 'quiet' };
  const part = roleInTree(record);
  switch (part) {
    case 'quiet':
      return { range, is: endsTurn(record) ? 'ends' : 'quiet' };
    case 'assistant':
      if (isLastWord(record)) return { range, is: 'last' };
      return { range, is: 'answer', calls: callIdsOf(record), mayEndTurn: stopOf(record) === undefined && saysSomething(record) };
    case 'result':
      return { range, is: 'result', calls: resultIdsOf(record) };
    case 'summary':
      return { range, is: 'last' };
    case 'prompt':
    case 'command':
      return { range, is: part };
    case 'boundary':
      return { range, is: 'starts' };
    default:
      return { range, is: isInterruption(record, part) ? 'last' : 'part' };
  }
}

const stopOf = (record: JsonObject): string | undefined => stringAt(record.message, 'stop_reason');

/** Whether the record ends an answer, so that only the person can speak next. The thinking of an answer is a separate record before it. */
function isLastWord(record: JsonObject): boolean {
  const stop = stopOf(record);
  return stop !== undefined && stop !== 'tool_use' && stop !== 'pause_turn' && saysSomething(record);
}

const saysSomething = (record: JsonObject): boolean =>
  typeof readContent(record) === 'string' ||
  readBlocks(record).some((block) => isObject(block) && block.type !== 'thinking' && block.type !== 'redacted_thinking');

const endsTurn = ({ type, subtype }: JsonObject): boolean => type === 'system' && (subtype === 'turn_duration' || subtype === 'stop_hook_summary');

const isInterruption = (record: JsonObject, part: ChainedRole): boolean =>
  part === 'aside' && firstTextOf(readContent(record)).trimStart().startsWith('[Request interrupted by user');
