import type { OutputOf } from '../contract/index.js';
import { type FoundFile, filesUnder, readEnds, unlessDamaged } from './files.js';
import { mainDocumentOf, mayHold, withHolding } from './members.js';
import { headLength, recognized } from './recognize.js';

/** Detects the format of each file at and under the paths by its first bytes. Leaves out files of unknown formats. */
export const detect = (paths: readonly string[]): OutputOf<'import.detect'> =>
  filesUnder(paths, mayHold).files.flatMap((file) => unlessDamaged(() => detectOne(file)) ?? []);

function detectOne(file: FoundFile): OutputOf<'import.detect'>[number] | undefined {
  const { path, bytes } = file;
  if (mainDocumentOf(file) !== undefined) return undefined;
  const held = withHolding(file, undefined, ({ format, members }) => ({ format: format.id, sessions: [...members].length }));
  if (held) return { path, ...held, bytes, confidence: 1 };
  const best = recognized(readEnds(file, headLength).head, path);
  return best && { path, format: best.format.id, sessions: 1, bytes, confidence: best.confidence };
}
