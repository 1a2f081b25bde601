import type { ByteRange } from '../../base/index.js';
import type { PlanContext, Progress } from '../format.js';

/**
 * What a record of a growing file means for its turn, in any runtime: `prompt`; `command`, a prompt of the runtime that starts no answer;
 * `answer`; `result`; `part`, anything else in a turn. `last` ends its turn. `ends` says that the turn before it is complete. `starts`
 * completes any turn before it. `quiet` is bookkeeping and belongs to the turn before it.
 */
export interface Mark {
  readonly range: ByteRange;
  readonly is: 'prompt' | 'command' | 'answer' | 'result' | 'part' | 'last' | 'ends' | 'starts' | 'quiet';
  /** The calls that an answer makes or a result answers. */
  readonly calls?: readonly string[];
  /** Probably the last answer of its turn, if it makes no calls, although the file does not say so. */
  readonly mayEndTurn?: boolean;
}

/** The progress of a growing file, by the marks of its new records. */
export function progressOf(marks: Iterable<Mark>, granularity: PlanContext['granularity']): Omit<Progress, 'ended'> {
  const calls = new Set<string>();
  let settled = 0;
  let resting = 0;
  let open = false;
  /** A prompt can consist of several records, and a person can send two prompts. So a prompt completes a turn only if an answer came before it. */
  let answered = false;
  /** Bookkeeping after a complete turn belongs to that turn. */
  let trailing = false;
  const settle = (at: number): void => {
    settled = resting = at;
    open = answered = false;
    calls.clear();
  };
  for (const { range, is, calls: named = [], mayEndTurn = false } of marks) {
    if (is === 'quiet' || (is === 'ends' && !open)) {
      if (trailing) settled = resting = range.end;
      continue;
    }
    trailing = is === 'last' || is === 'ends';
    switch (is) {
      case 'last':
      case 'ends':
        settle(range.end);
        break;
      case 'answer':
        open = answered = true;
        for (const id of named) calls.add(id);
        resting = calls.size === 0 && mayEndTurn ? range.end : settled;
        break;
      case 'result':
        open = answered = true;
        resting = settled;
        for (const id of named) calls.delete(id);
        if (granularity === 'tool_call' && calls.size === 0) {
          settle(range.end);
          trailing = true;
        }
        break;
      case 'prompt':
      case 'command':
      case 'starts':
        if (answered) settle(range.start);
        open ||= is === 'prompt';
    }
  }
  return { settled, resting, open };
}
