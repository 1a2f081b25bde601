// engine: the process that holds the projects and answers the contract. It runs as Electron's utility process,
// as a plain Node process beside Electron, or as a worker of the web host; never on a thread that draws or listens.
// This door is for those who start one: where its places are, and how to start and reach it.
export * from './places.js';
export type { ContractClient, FromEngine, ToEngine } from './protocol.js';
export { startEngine } from './start.js';
export { startWorker, type WorkerEngine } from './worker.js';
