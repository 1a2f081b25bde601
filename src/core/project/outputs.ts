import { basename, dirname, join } from 'node:path';
import { StemmaError } from '../base/index.js';
import type { OutputOf } from '../contract/index.js';
import { absolutePath, realPathOf } from '../files/index.js';

/**
 * The files that a person allowed windows to write while this engine runs. A window shows transcripts that may be hostile, so a
 * person must see and confirm each path first.
 */
export type AllowedOutputs = ReturnType<typeof allowedOutputs>;

/** Creates an empty list: nothing is allowed. */
export function allowedOutputs() {
  const files = new Set<string>();
  const folders = new Set<string>();
  return {
    /** Allows the file, and others directly in its folder. Hidden files are allowed one by one, because they may change how programs behave. */
    allow: (given: string) => {
      const output = outputAt(given);
      files.add(output.path);
      folders.add(output.folder);
      return output;
    },
    /** @throws UNAUTHORIZED with `data.path` and `data.folder` unless the file is allowed. */
    check: (given: string): void => {
      const { path, folder } = outputAt(given);
      const isHidden = basename(path).startsWith('.');
      if (files.has(path) || (folders.has(folder) && !isHidden)) return;
      const message = `This window may not write ${path} yet: confirm the path with library.allowWrite, or choose another one.`;
      throw new StemmaError('UNAUTHORIZED', message, { field: 'path', path, folder });
    },
  };
}

function outputAt(given: string): OutputOf<'library.allowWrite'> {
  const path = absolutePath(given);
  const folder = realPathOf(dirname(path));
  return { path: join(folder, basename(path)), folder };
}
