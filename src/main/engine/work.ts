import { storeCompiledCode } from '../launch/index.js';
import { protectFiles } from '../system/index.js';

/** The entry of a thread for long work. It loads the work after the cache of compiled code is on. */
storeCompiledCode();
protectFiles();
const { workForParent } = await import('./thread.js');
await workForParent();
