import * as modules from 'node:module';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import { privately } from '../../core/files/index.js';
import { dataDirOf } from './places.js';

/**
 * Stores the compiled code of all modules that this thread loads from now on, so that later starts need not compile them. Only this user can
 * read the folder. It does nothing on Node 20, which has no such cache.
 */
export function storeCompiledCode(): void {
  // Only the main thread can change the mask. It made the folder before it started others.
  const store = (): void => void modules.enableCompileCache?.(join(dataDirOf(), 'compiled'));
  if (isMainThread) privately(store);
  else store();
}
