import { StemmaError } from '../base/index.js';
import { importableFormats } from '../formats/index.js';
import { filesUnder, ioReason, readEnds } from './files.js';
import { mayHold, withHolding } from './members.js';

export interface Detected {
  readonly path: string;
  readonly format: string;
  readonly sessions: number;
  readonly bytes: number;
  /** 0 to 1. */
  readonly confidence: number;
}

const headLength = 64 * 1024;

/** What each file at and under the paths is, as far as its beginning tells; files of no known format are left out. */
export function detect(paths: readonly string[]): Detected[] {
  return filesUnder(paths, mayHold).files.flatMap(({ path, bytes }) => {
    try {
      const held = withHolding(path, undefined, ({ format, members }) => ({
        path,
        format: format.id,
        sessions: [...members].length,
        bytes,
        confidence: 1,
      }));
      if (held) return [held];
      const best = recognized(readEnds(path, headLength).head, path);
      return best ? [{ path, format: best.format.id, sessions: 1, bytes, confidence: best.confidence }] : [];
    } catch (error) {
      if (!(error instanceof StemmaError)) ioReason(error);
      return [];
    }
  });
}

/** The format that is surest of the file, if any is. A few whole lines are tried first: most files say at once what they are. */
export function recognized(head: Uint8Array, path: string): Recognized | undefined {
  const few = head.subarray(0, head.subarray(0, fewBytes).lastIndexOf(newline) + 1);
  const certain = few.length > 0 ? importableFormats.find((format) => format.recognize(few, path) === 1) : undefined;
  if (certain) return { format: certain, confidence: 1 };
  const [best] = importableFormats
    .map((format) => ({ format, confidence: format.recognize(head, path) }))
    .filter(({ confidence }) => confidence > 0)
    .sort((a, b) => b.confidence - a.confidence);
  return best;
}
const fewBytes = 4 * 1024;
const newline = 0x0a;

interface Recognized {
  readonly format: (typeof importableFormats)[number];
  readonly confidence: number;
}
