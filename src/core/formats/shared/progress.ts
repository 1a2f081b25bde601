import type { ByteRange } from '../../base/index.js';
import { endsAfterResults, endsBeforeResults, type FileBytes, type Granularity, type Progress } from '../format.js';
import { type Dialect, eachPiece, type RecordPiece } from './jsonl.js';

/**
 * What a record of a growing file means for its turn, in any runtime: `prompt`; `command`, a prompt of the runtime that starts no answer;
 * `answer`; `result`; `part`, anything else in a turn. `last` ends its turn. `ends` says that the turn before it is complete. `starts`
 * completes any turn before it. `quiet` is bookkeeping and belongs to the turn before it.
 */
export interface RecordMark {
  readonly range: ByteRange;
  readonly is: 'prompt' | 'command' | 'answer' | 'result' | 'part' | 'last' | 'ends' | 'starts' | 'quiet';
  /** The calls that an answer makes or a result answers. */
  readonly calls?: readonly string[];
  /** Probably the last answer of its turn, if it makes no calls, although the file does not say so. */
  readonly mayEndTurn?: boolean;
}

/** The progress of a growing file, by the marks of its new records. */
export function measureProgress(marks: Iterable<RecordMark>, granularity: Granularity): Omit<Progress, 'ended'> {
  const calls = new Set<string>();
  let settled = 0;
  let resting = 0;
  let open = false;
  /** A prompt can consist of several records, and a person can send two prompts. So a prompt completes a turn only if an answer came before it. */
  let answered = false;
  /** Bookkeeping after a complete turn belongs to that turn. */
  let trailing = false;
  /** True if the last record is of an answer. */
  let isAnswer = false;
  const settle = (at: number): void => {
    settled = resting = at;
    open = answered = false;
    calls.clear();
  };
  const isFine = endsBeforeResults(granularity);
  const mayRest = (waits: boolean, mayEndTurn: boolean): boolean => (waits ? isFine : mayEndTurn);
  const partBefore = ({ start }: ByteRange, wasAnswer: boolean): number => (wasAnswer && isFine ? start : settled);
  for (const { range, is, calls: named = [], mayEndTurn = false } of marks) {
    if (is === 'quiet' || (is === 'ends' && !open)) {
      if (trailing) settled = resting = range.end;
      continue;
    }
    trailing = is === 'last' || is === 'ends';
    const wasAnswer = isAnswer;
    isAnswer = is === 'answer';
    switch (is) {
      case 'last':
      case 'ends':
        settle(range.end);
        break;
      case 'answer':
        open = answered = true;
        for (const id of named) calls.add(id);
        resting = mayRest(calls.size > 0, mayEndTurn) ? range.end : settled;
        break;
      case 'result':
        open = answered = true;
        resting = settled = partBefore(range, wasAnswer);
        for (const id of named) calls.delete(id);
        if (endsAfterResults(granularity) && calls.size === 0) {
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

/** What a record means for its turn, wherever it is. */
export type Meaning = Omit<RecordMark, 'range'>;

/** The progress of a growing file of lines, by what each line means. */
export function lineProgress(fresh: FileBytes, dialect: Dialect, granularity: Granularity, meaningOf: (piece: RecordPiece) => Meaning): Progress {
  const marks: RecordMark[] = [];
  eachPiece(fresh, dialect, { mayGrow: true }, (piece) => {
    if (piece.sort !== 'half') marks.push({ range: piece.range, ...meaningOf(piece) });
  });
  return { ...measureProgress(marks, granularity), ended: false };
}
