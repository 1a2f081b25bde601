import { StemmaError } from '../base/index.js';
import type { OutputOf } from '../contract/index.js';
import { filesUnder, ioReason, readEnds } from './files.js';
import { mainDocumentOf, mayHold, withHolding } from './members.js';
import { headLength, recognized } from './recognize.js';

/** Detects the format of each file at and under the paths by its first bytes. Leaves out files of unknown formats. */
export function detect(paths: readonly string[]): OutputOf<'import.detect'> {
  return filesUnder(paths, mayHold).files.flatMap((file) => {
    const { path, bytes } = file;
    try {
      if (mainDocumentOf(file) !== undefined) return [];
      const held = withHolding(file, undefined, ({ format, members }) => ({
        path,
        format: format.id,
        sessions: [...members].length,
        bytes,
        confidence: 1,
      }));
      if (held) return [held];
      const best = recognized(readEnds(file, headLength).head, path);
      return best ? [{ path, format: best.format.id, sessions: 1, bytes, confidence: best.confidence }] : [];
    } catch (error) {
      if (!(error instanceof StemmaError)) ioReason(error);
      return [];
    }
  });
}
