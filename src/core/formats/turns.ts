import type { ByteRange } from '../base/index.js';
import type { PlanContext, Progress } from './format.js';

/**
 * What a record of a growing file means to the turn in which it stands, whichever runtime wrote it:
 * `prompt`, and `command` (a prompt of the runtime's own, which starts no answer), `answer`, `result`, `part` (anything else of a turn);
 * `last`: the turn ends with it; `ends`: it says that the turn before it, if one goes on, is over; `starts`: what goes on is over before
 * it; `quiet`: bookkeeping, which belongs to the turn behind which it stands.
 */
export interface Mark {
  readonly range: ByteRange;
  readonly is: 'prompt' | 'command' | 'answer' | 'result' | 'part' | 'last' | 'ends' | 'starts' | 'quiet';
  /** Calls that an answer makes, and those that a result answers. */
  readonly calls?: readonly string[];
  /** An answer after which nobody but a person speaks, if it makes no calls, though the file does not say so. */
  readonly looksOver?: boolean;
}

/** How far a file has come whose agent is still writing, by the marks of what is new in it. */
export function progressOf(marks: Iterable<Mark>, granularity: PlanContext['granularity']): Omit<Progress, 'ended'> {
  const calls = new Set<string>();
  let settled = 0;
  let resting = 0;
  let open = false;
  /** A prompt can be several records, and a person can ask twice: a turn is over before a prompt only where something answered. */
  let answered = false;
  /** What follows a turn and is no part of the next goes with it. */
  let trailing = false;
  const settle = (at: number): void => {
    settled = resting = at;
    open = answered = false;
    calls.clear();
  };
  for (const { range, is, calls: named = [], looksOver = false } of marks) {
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
        resting = calls.size === 0 && looksOver ? range.end : settled;
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
        if (answered) settle(range.start);
        open ||= is === 'prompt';
        break;
      case 'starts':
        if (answered) settle(range.start);
    }
  }
  return { settled, resting, open };
}
