import { storeCompiledCode } from '../launch/index.js';

/** The entry of a thread for long work. It loads the work after the cache of compiled code is on. */
storeCompiledCode();
const { workForParent } = await import('./thread.js');
await workForParent();
