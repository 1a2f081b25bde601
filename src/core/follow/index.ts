// follow: sessions of agents while they work. It watches history folders and answers the hooks of agents.
// It imports finished turns from files that grow and from databases in use.
// core/import reads and stores the files; this folder decides when, and how far.

export type { TranscriptGrowth } from './growth.js';
export { type HookEvent, hasArrived, readHookEvent } from './hook.js';
export { importGrowth } from './import-growth.js';
export { follow, type Live, type LiveOptions, type LiveStatus, type LiveTimes } from './live.js';
export { checkpointInProgress } from './recordings.js';
