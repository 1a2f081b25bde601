// launch: how an engine is started and reached: its places on this machine, the words between it and its host, a worker.
// Hosts import this and never the engine itself: the shell's own Node may be too old to load it, and a thread that
// draws or listens has no business with a database.
export type { EngineOptions } from '../../core/project/index.js';
export * from './places.js';
export { findProject } from './projects.js';
export type { ContractClient, FromEngine, ToEngine } from './protocol.js';
export { startWorker, type WorkerEngine } from './worker.js';
