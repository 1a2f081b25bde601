// sessions: sessions and branches as people see them. A session is one row, even if it has many files or checkpoints.
// It lists and names them, locates a commit in them, and stores a person's marks: name, pin, tags, archive, deletion.
// A deletion hides. The content stays until a person frees it (release.ts); the file of an agent stays as it is.

export { changeBranch, changeSession, deleteSession } from './change.js';
export { diagnose, repairSession } from './diagnose.js';
export { pageIsDue, storeFirstPage, titledGraph } from './graph.js';
export { namelessTitle, readSession, type SessionFacts } from './list.js';
export { listSessions, storedSessions } from './pages.js';
export { findPlace } from './place.js';
export { releaseDeleted } from './release.js';
export { type SessionSpan, spansOf, staleSpans } from './spans.js';
export { forgetClusters, forgetClustersOf, type StatedCluster, sessionsAreDue, storeCluster, storedProgress, storedState } from './stored.js';
