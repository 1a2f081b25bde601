import type { JsonObject } from '../../base/index.js';
import { isObject, stringAt } from '../../base/index.js';
import type { PlanContext, Progress } from '../format.js';
import { type Mark, progressOf } from '../turns.js';
import { type Piece, scanLines } from './lines.js';
import { blocksOf, contentOf, firstTextOf, isChained, type Part, partOf, resultIdsOf } from './record.js';

/**
 * How far a session has come that Claude Code is still writing. A turn is over where the answer's own stop reason says so, where the
 * person interrupts, where the next prompt stands, and where a compaction has its summary. Older versions write no reason: there an
 * answer without calls looks over.
 */
export function progress(fresh: Uint8Array, granularity: PlanContext['granularity']): Progress {
  const { pieces, end } = scanLines(fresh, { mayGrow: true });
  const half = pieces.findIndex(({ sort }) => sort === 'half');
  const whole = half < 0 ? pieces : pieces.slice(0, half);
  const first = whole.find(({ record }) => record && isChained(record))?.record;
  const found = progressOf(
    // Subagents of older versions stand in the session's own file; their turns are not its turns.
    whole.flatMap((piece) => (isOther(piece, first) ? [] : markOf(piece))),
    granularity,
  );
  const last = whole.findLast((piece) => isChainedPiece(piece) || piece.record?.type === 'cost-state');
  const ended = last?.record?.type === 'cost-state';
  return ended ? { settled: end, resting: end, open: found.open, ended } : { ...found, ended };
}

const isChainedPiece = ({ record, sort }: Piece): boolean => record !== undefined && sort === 'record' && isChained(record);

const isOther = (piece: Piece, first: JsonObject | undefined): boolean =>
  isChainedPiece(piece) && (piece.record?.isSidechain === true) !== (first?.isSidechain === true);

function markOf(piece: Piece): Mark {
  const { range, record } = piece;
  if (!record || !isChainedPiece(piece)) return { range, is: 'quiet' };
  const part = partOf(record);
  switch (part) {
    case 'quiet':
      return { range, is: endsTurn(record) ? 'ends' : 'quiet' };
    case 'assistant':
      if (isLastWord(record)) return { range, is: 'last' };
      return { range, is: 'answer', calls: callsOf(record), looksOver: stopOf(record) === undefined && saysSomething(record) };
    case 'result':
      return { range, is: 'result', calls: [...resultIdsOf(record)] };
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

/** The record ends an answer after which nobody but the person speaks. An answer's thinking stands in a record of its own before it. */
function isLastWord(record: JsonObject): boolean {
  const stop = stopOf(record);
  return stop !== undefined && stop !== 'tool_use' && stop !== 'pause_turn' && saysSomething(record);
}

const saysSomething = (record: JsonObject): boolean =>
  typeof contentOf(record) === 'string' ||
  blocksOf(record).some((block) => isObject(block) && block.type !== 'thinking' && block.type !== 'redacted_thinking');

const callsOf = (record: JsonObject): string[] =>
  blocksOf(record).flatMap((block) => (isObject(block) && block.type === 'tool_use' && typeof block.id === 'string' ? [block.id] : []));

const endsTurn = ({ type, subtype }: JsonObject): boolean => type === 'system' && (subtype === 'turn_duration' || subtype === 'stop_hook_summary');

const isInterruption = (record: JsonObject, part: Part): boolean =>
  part === 'aside' && firstTextOf(contentOf(record)).trimStart().startsWith('[Request interrupted by user');
