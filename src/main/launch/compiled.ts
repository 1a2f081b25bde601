import * as modules from 'node:module';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import { dataDirOf } from './places.js';

/**
 * Stores the compiled code of all modules that this thread loads from now on, so that later starts need not compile them. Only this user can
 * read the folder. It does nothing on Node 20, which has no such cache.
 */
export function storeCompiledCode(): void {
  // Only the main thread can change the mask. It made the folder before it started others.
  const mask = isMainThread ? process.umask(0o077) : undefined;
  modules.enableCompileCache?.(join(dataDirOf(), 'compiled'));
  if (mask !== undefined) process.umask(mask);
}
