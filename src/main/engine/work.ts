import { workerData } from 'node:worker_threads';
import { storeCompiledCode } from '../launch/index.js';
import { goSecond, protectFiles } from '../system/index.js';

/** The entry of the engine's threads. It loads their work after the cache of compiled code is on. */
storeCompiledCode();
protectFiles();
switch ((workerData as { readonly kind?: string }).kind) {
  case 'writer':
    (await import('./writer.js')).writeForFront();
    break;
  case 'ahead':
    goSecond();
    (await import('./ahead.js')).readForWriter();
    break;
  case 'reader':
    (await import('./reader.js')).readForFront();
    break;
  default:
    goSecond();
    await (await import('./thread.js')).workForParent();
}
