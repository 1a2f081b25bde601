import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { StemmaError } from '../../base/index.js';
import { codeOf } from '../io.js';
import { type FolderPlace, keyOf, type Tier } from './tier.js';

/** A folder as a backing store: on another disk, or one that something else carries away. */
export function folderTier(name: string, { dir }: FolderPlace, newName: () => string): Tier {
  const answered = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      const code = codeOf(error);
      if (code === undefined) throw error;
      throw new StemmaError('UNAVAILABLE', `the backing store ${name} at ${dir} does not answer (${code})`, { tier: name, reason: code });
    }
  };
  return {
    name,
    put: (hash, bytes) =>
      answered(async () => {
        const file = join(dir, keyOf(hash));
        const beside = `${file}.${newName()}`;
        // A folder that is not mounted must not be made again on the disk below it.
        await (await open(dir, 'r')).close();
        await mkdir(dirname(file), { recursive: true });
        try {
          const handle = await open(beside, 'wx', 0o600);
          try {
            await handle.writeFile(bytes);
            await handle.sync();
          } finally {
            await handle.close();
          }
          await rename(beside, file);
        } catch (error) {
          await rm(beside, { force: true });
          throw error;
        }
      }),
    get: (hash) =>
      answered(async () => {
        try {
          return await readFile(join(dir, keyOf(hash)));
        } catch (error) {
          // A folder that is not mounted has none of its objects: that is not the same as this one missing.
          if (codeOf(error) === 'ENOENT' && (await isThere(dir))) return undefined;
          throw error;
        }
      }),
    close: () => {},
  };
}

async function isThere(dir: string): Promise<boolean> {
  try {
    await (await open(dir, 'r')).close();
    return true;
  } catch {
    return false;
  }
}
