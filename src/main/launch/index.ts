// launch: starts an engine and connects to it: paths on this machine, the messages between engine and host, a worker.
// Hosts import this folder and never the engine: the shell's Node may be too old to load the engine, and a database
// must not block the thread of a window or a server.
export type { Diagnostics, UpdateCheck } from '../../core/contract/index.js';
export type { ClientKind, EngineOptions } from '../../core/project/index.js';
export { commandIn, engineNode, forNode, ownCommand, projectNode, shellCommand } from './command.js';
export { storeCompiledCode } from './compiled.js';
export { damageSentence, hear, hearDamage, hearing } from './damage.js';
export { readStandardInput } from './input.js';
export { appendLog, diagnosticsOf, installedAs, logEvent } from './log.js';
export * from './places.js';
export { type ChosenProject, findProject, searchedFolders } from './projects.js';
export { type ContractClient, type Frame, type FromEngine, maxFrameBytes, type ToEngine } from './protocol.js';
export { readUpdates, updatesFile } from './update-settings.js';
export { startWorker, type WorkerEngine } from './worker.js';
