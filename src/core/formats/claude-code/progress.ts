import type { JsonObject } from '../../base/index.js';
import { isObject, stringAt } from '../../base/index.js';
import type { PlanContext, Progress } from '../format.js';
import { scanLines } from './lines.js';
import { blocksOf, contentOf, firstTextOf, isChained, type Part, partOf, resultIdsOf } from './record.js';

/**
 * How far a session has come that Claude Code is still writing. A turn is over where the answer's own stop reason says so, where the
 * person interrupts, where the next prompt stands, and where a compaction has its summary. Older versions write no reason: there an
 * answer without calls looks over.
 */
export function progress(fresh: Uint8Array, granularity: PlanContext['granularity']): Progress {
  const { pieces, end } = scanLines(fresh, { mayGrow: true });
  const first = pieces.find(({ record }) => record && isChained(record))?.record;
  const calls = new Set<string>();
  let settled = 0;
  let resting = 0;
  let open = false;
  let ended = false;
  /** What follows a turn and is no part of the next goes with it. */
  let trailing = false;
  const settle = (at: number): void => {
    settled = resting = at;
    open = false;
    trailing = true;
    calls.clear();
  };
  for (const { record, sort, range } of pieces) {
    if (sort === 'half') break;
    if (!record || sort !== 'record' || !isChained(record)) {
      if (record?.type === 'cost-state') ended = true;
      if (trailing) settled = resting = range.end;
      continue;
    }
    // Subagents of older versions stand in the session's own file; their turns are not its turns.
    if ((record.isSidechain === true) !== (first?.isSidechain === true)) continue;
    ended = false;
    const part = partOf(record);
    if (part === 'quiet') {
      if (open && endsTurn(record)) settle(range.end);
      else if (trailing) settled = resting = range.end;
      continue;
    }
    trailing = false;
    if (part === 'assistant') {
      open = true;
      for (const id of callsOf(record)) calls.add(id);
      if (isLastWord(record)) settle(range.end);
      else resting = calls.size === 0 && stopOf(record) === undefined && saysSomething(record) ? range.end : settled;
    } else if (part === 'result') {
      open = true;
      resting = settled;
      for (const id of resultIdsOf(record)) calls.delete(id);
      if (granularity === 'tool_call' && calls.size === 0) settle(range.end);
    } else if (part === 'summary' || isInterruption(record, part)) settle(range.end);
    else if (part === 'prompt' || part === 'command') {
      if (open) settle(range.start);
      trailing = false;
      open = part === 'prompt';
    } else if (part === 'boundary' && open) {
      settle(range.start);
      trailing = false;
    }
  }
  return ended ? { settled: end, resting: end, open, ended } : { settled, resting, open, ended };
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
