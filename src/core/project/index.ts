// project: project folders (create, open, share, check), and the engine that holds the open ones.
// A session is one connection to the engine. It works in the project that it opened last.
// The engine reads no environment: paths on the machine are passed in.

export type { Git } from '../blame/index.js';
export type { Offer } from '../chain/index.js';
export { changeSettings, readSettings } from '../chain/index.js';
export type { ProviderAccount } from '../contract/index.js';
export type { AgentRoot } from '../import/index.js';
export type { CheckResult } from '../integrity/index.js';
export type { Vault } from '../replicas/index.js';
export type { AgentOrder, AgentPiece, AgentProgram, MadeFolder, Workshop } from '../runner/index.js';
export type { ModelProvider, ModelRequest, ReplyPiece } from '../turns/index.js';
export { type Access, isUntrusted, requireWrite } from './access.js';
export { type Accounts, accountsOf, type NewAccount } from './accounts.js';
export { type AheadThread, answerAhead, filesAhead } from './ahead.js';
export { askProject, writeFor } from './analyst.js';
export type { Analyst, AnalystOrder, Ask } from './ask.js';
export { analystMs, answerOrder } from './asking.js';
export { backUpIfDue, backUpNow, claimBackup, reportBackups, setBackups } from './backups.js';
export { captureStatus, checkpointWriter, stopWatching, watchAgents } from './capture.js';
export { type CacheSize, cacheShares, cacheSize, type OpenedForReading, openForReading, type ReadPlace, shareCaches } from './chains.js';
export { changes } from './changes.js';
export { conversionOf, needsConversion } from './conversion.js';
export { resolveLink, updatesOf } from './desktop.js';
export { createEngine, type Engine, type EngineOptions, type ReadingThreads } from './engine.js';
export { countFindings, findIn, rulesFolder, rulesIn } from './findings.js';
export { historiesIn } from './folder.js';
export { graphAtAGlance } from './glance.js';
export { checkpointAt, type HookEvent, hasArrived, openForHook, readHookEvent } from './hook.js';
export { changePrices, ownUsageSettings } from './own-prices.js';
export { createProject, type ForProjects, openProject, type Project, projectInfo } from './project.js';
export { type DerivedKind, type Reading, type ReadProject, requireProject } from './reading.js';
export { checkProject, repairProject } from './repair.js';
export { roots } from './roots.js';
export { type ClientKind, createSession, isDue, prepare, type Session } from './session.js';
export { atOnce, inSteps } from './steps.js';
export { storageOf } from './storage.js';
export * from './team.js';
export { doWork, orderFor, type WorkOrder } from './work.js';
export { runInWorker, WorkerFailed } from './worker.js';
