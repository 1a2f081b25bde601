// intake: agents' histories from disk into the chain: found, recognized, planned by their format, and stored in one transaction a file.
// What a file holds is in commits and side data together, so that the file itself comes back byte for byte (C16b).
// Nothing of a transcript is followed, executed or used as a path.
export { type Detected, detect } from './detect.js';
export { foundSessions, foundSources } from './discover.js';
export type { FoundFile } from './files.js';
export { type Taken, type Taking, takeIn } from './grown.js';
export { type HookEvent, hasArrived, readHookEvent } from './hook.js';
export { type ImportEvent, type ImportInput, importPaths } from './import.js';
export { follow, type Live, type LiveOptions, type LiveStatus, type LiveTimes, type WatchedPlace } from './live.js';
export { type AgentRoot, historyFolders } from './places.js';
export { openPlanner, type Planner } from './planner.js';
export { contentsOnDisk } from './restore.js';
export { getSource, listSources, makeFolders, proveSource, writeNew, writeNewParts } from './sources.js';
