// project: a project folder: made, opened, shared by those who open it, checked; and the engine that holds the open ones.
// A session is one connection to the engine; it works in the project that it opened last.
// Places on the machine come from outside: the engine reads no environment.

export type { ProviderAccount } from '../contract/index.js';
export type { AgentRoot } from '../intake/index.js';
export type { ModelProvider, ModelRequest, ReplyPiece } from '../turns/index.js';
export { type Accounts, accountsOf, type NewAccount } from './accounts.js';
export { type Capture, captureStatus, stopWatching, watchAgents } from './capture.js';
export { changes } from './changes.js';
export { checkProject, type Problem } from './check.js';
export { compactContext } from './compaction.js';
export { damageBehind } from './damage.js';
export { createEngine, createSession, type Engine, type EngineOptions, type Session } from './engine.js';
export { historiesIn, type ProjectFolder } from './folder.js';
export { checkpointAt, type HookEvent, hasArrived, openForHook, readHookEvent } from './hook.js';
export { createProject, openProject, type Project, projectInfo } from './project.js';
export { repairProject } from './repair.js';
export { projectServices } from './retrievers.js';
export { roots } from './roots.js';
export { atOnce, inSteps } from './steps.js';
export { storageOf } from './storage.js';
export { extractive, type SummarizeInput, summarizeCommits } from './summaries.js';
