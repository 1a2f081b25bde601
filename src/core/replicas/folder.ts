import { randomUUID } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { StemmaError } from '../base/index.js';
import { absolutePath, FileRefused, fileErrorCode, privateFile, privateFolder, readSafely, statInside, syncFolderLater } from '../files/index.js';
import { type BackingStore, type FolderPlace, objectKey } from './store.js';

/** Opens a folder as a backing store, for example on another disk or one that another program synchronizes. */
export function openFolderStore(name: string, place: FolderPlace): BackingStore {
  const dir = absolutePath(place.dir);
  const answered = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      const code = fileErrorCode(error);
      if (code === undefined) throw error;
      throw new StemmaError('UNAVAILABLE', `The replica ${name} at ${dir} does not answer (${code})`, { replica: name, reason: code });
    }
  };
  const durable = new Set([dir]);
  /** Syncs a folder and those above it, once per folder: another upload, or a killed process, may have created them without a sync. */
  const makeDurable = async (folder: string): Promise<void> => {
    if (durable.has(folder)) return;
    await makeDurable(dirname(folder));
    await syncFolderLater(dirname(folder));
    durable.add(folder);
  };
  const write = (key: string, bytes: Uint8Array, isDurable: boolean): Promise<void> =>
    answered(async () => {
      const file = join(dir, key);
      const beside = `${file}.${randomUUID()}`;
      // An unmounted folder must not be created on the disk below it.
      await (await open(dir, 'r')).close();
      await mkdir(dirname(file), { recursive: true, mode: privateFolder });
      try {
        const handle = await open(beside, 'wx', privateFile);
        try {
          await handle.writeFile(bytes);
          if (isDurable) await handle.sync();
        } finally {
          await handle.close();
        }
        await rename(beside, file);
        if (!isDurable) return;
        // The replica may hold the only copy later, so the name must be as durable as the bytes.
        await syncFolderLater(dirname(file));
        await makeDurable(dirname(file));
      } catch (error) {
        await rm(beside, { force: true });
        throw error;
      }
    });
  return {
    putFile: (name, bytes) => write(name, bytes, false),
    put: (hash, bytes) => write(objectKey(hash), bytes, true),
    get: (hash) =>
      answered(async () => {
        try {
          return await readObject(dir, objectKey(hash));
        } catch (error) {
          // If the folder itself is missing (unmounted), it is unknown whether it holds the object.
          if (fileErrorCode(error) === 'ENOENT' && (await folderExists(dir))) return undefined;
          throw error;
        }
      }),
    remove: (hash) => answered(() => rm(join(dir, objectKey(hash)), { force: true })),
    close: () => {},
  };
}

/** Stemma stores no larger object. */
const maxObjectBytes = 2 * 1024 ** 3 - 1;

/** Reads only regular files and follows no link, because the folder may be shared. @throws FileRefused, and the error of the file system. */
async function readObject(dir: string, key: string): Promise<Uint8Array> {
  const path = join(dir, key);
  const { size = 0 } = statInside(dir, key) ?? {};
  if (size > maxObjectBytes) throw new FileRefused('EFBIG', path, `has ${size} bytes; the limit is ${maxObjectBytes}`);
  const handle = await open(path, readSafely);
  try {
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

async function folderExists(dir: string): Promise<boolean> {
  try {
    await (await open(dir, 'r')).close();
    return true;
  } catch {
    return false;
  }
}
