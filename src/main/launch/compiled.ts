import * as modules from 'node:module';
import { join } from 'node:path';
import { attempt } from '../../core/base/index.js';
import { makeFolders, privately } from '../../core/files/index.js';
import { findDataDir } from './places.js';

/**
 * Stores the compiled code of all modules that this thread loads from now on, so that later starts need not compile them. Only this user can
 * read the folder. On Node 20, which has no such cache, for a user without a home folder, and where the folder cannot be made, it does nothing.
 * The folder is made here, because Node tries forever to make one in a file system such as /proc.
 */
export function storeCompiledCode(): void {
  // A package with machine code asks for a report of this process to know its system. One without the network is made in half the time.
  Object.assign(process.report, { excludeNetwork: true });
  // Only the main thread can change the mask. It made the folder before it started others.
  const store = (): void =>
    // Without the cache, a start takes longer.
    attempt(() => {
      const folder = join(findDataDir(), 'compiled');
      makeFolders(folder);
      modules.enableCompileCache?.(folder);
    });
  try {
    privately(store);
  } catch {
    // A worker cannot change the mask of new files.
    store();
  }
}
