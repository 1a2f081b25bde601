import * as modules from 'node:module';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import { makeFolders, privately } from '../../core/files/index.js';
import { dataDirOf } from './places.js';

/**
 * Stores the compiled code of all modules that this thread loads from now on, so that later starts need not compile them. Only this user can
 * read the folder. It does nothing on Node 20, which has no such cache, for a user without a home folder, and where the folder cannot be made: Node
 * itself would try forever on file systems such as /proc, which a home folder that does not exist may name.
 */
export function storeCompiledCode(): void {
  // Only the main thread can change the mask. It made the folder before it started others.
  const store = (): void => {
    try {
      const folder = join(dataDirOf(), 'compiled');
      makeFolders(folder);
      modules.enableCompileCache?.(folder);
    } catch {
      // Without the cache, a start takes longer.
    }
  };
  if (isMainThread) privately(store);
  else store();
}
