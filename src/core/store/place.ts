import { conflict } from '../base/index.js';
import { identityAt, isSameFile } from '../files/index.js';

/** The opened files and folders. Their paths may lead to others later, if a person moves a folder and puts another one in its place. */
export type OpenedPlace = ReturnType<typeof placeAt>;

/** Remembers the identity of the file at each path. */
export function placeAt(paths: readonly string[]) {
  const known = paths.map((path) => ({ path, identity: identityAt(path) }));
  // Every transaction calls this, so it compares numbers and builds no strings.
  const isSame = ({ path, identity }: (typeof known)[number]): boolean => isSameFile(identityAt(path), identity);
  const replaced = (): string | undefined => known.find((one) => !isSame(one))?.path;
  return {
    /** Whether each path still leads to the file or folder that was opened. */
    isSame: () => replaced() === undefined,
    /** @throws CONFLICT if a path leads to another file or folder, or does not exist. */
    require: (): void => {
      const path = replaced();
      if (path === undefined) return;
      const what = identityAt(path) === undefined ? 'was moved or deleted' : 'was replaced by another one';
      throw conflict(`${path} ${what} while the project was open. Nothing was written. Put it back, or open the project at its new path.`, {
        reason: 'replaced',
        path,
      });
    },
  };
}
