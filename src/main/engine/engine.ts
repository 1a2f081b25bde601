import { storeCompiledCode } from '../launch/index.js';

/** The entry of the engine. It loads the engine after the cache of compiled code is on. */
storeCompiledCode();
const { answerHost } = await import('./hosts.js');
answerHost();
