import { type BigIntStats, statSync } from 'node:fs';
import { StemmaError } from '../base/index.js';

/** The opened files and folders. Their paths may lead to others later, if a person moves a folder and puts another one in its place. */
export interface Place {
  /** Whether each path still leads to the file or folder that was opened. */
  isSame(): boolean;
  /** @throws CONFLICT if a path leads to another file or folder, or does not exist. */
  require(): void;
}

/** Remembers the device and inode of each path. */
export function placeAt(paths: readonly string[]): Place {
  const known = paths.map((path) => ({ path, identity: identityOf(path) }));
  // Every transaction calls this, so it compares numbers and builds no strings.
  const isSame = ({ path, identity }: (typeof known)[number]): boolean => {
    const now = identityOf(path);
    return now?.dev === identity?.dev && now?.ino === identity?.ino;
  };
  const replaced = (): string | undefined => known.find((one) => !isSame(one))?.path;
  return {
    isSame: () => replaced() === undefined,
    require: () => {
      const path = replaced();
      if (path === undefined) return;
      const what = identityOf(path) === undefined ? 'was moved or deleted' : 'was replaced by another one';
      throw new StemmaError(
        'CONFLICT',
        `${path} ${what} while the project was open. Nothing was written. Put it back, or open the project at its new path.`,
        { reason: 'replaced', path },
      );
    },
  };
}

/** Undefined if the path does not exist. Inodes of some file systems exceed a number. */
function identityOf(path: string): Pick<BigIntStats, 'dev' | 'ino'> | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false });
}
