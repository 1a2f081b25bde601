// import: histories of agents from disk into the chain. It finds files, detects their format, plans commits, and stores each file in one
// transaction. Commits and side data together hold every byte, so that the file can be restored exactly. Nothing in a transcript is
// executed, and core/files opens everything that a transcript or a person names.
export { type AheadOrder, type FilesAhead, type ReadAhead, readAhead, sentBytes } from './ahead.js';
export { folderOf } from './beside.js';
export { detect } from './detect.js';
export { agentPlaces, foundSessions, foundSources } from './discover.js';
export {
  type FoundFile,
  filesUnder,
  type Hashes,
  hashesUpTo,
  ioReason,
  logOf,
  mayBeTranscript,
  type OpenFile,
  openFile,
  readEnds,
  readRange,
  readSize,
  Unreadable,
} from './files.js';
export { type FileFlaw, fileFlaws } from './flaws.js';
export { handedAt } from './handed.js';
export { importFile, importHolding, importMember, type Portion } from './import.js';
export { storeWritten, type WrittenSession, writtenFiles } from './join-fork.js';
export { mappedFormat, previewMapping } from './mapping.js';
export { documentOf, holdsConversations, isDatabaseFile, mainFileOf, measuredMembers, memberPath } from './members.js';
export { searchOutside } from './outside.js';
export { type ImportInput, importPaths } from './paths.js';
export { type AgentRoot, formatOfAgent, historyFolders, isWatched, maxWatchedBytes } from './places.js';
export { formatNamed, readHead, recognized } from './recognize.js';
export type { Regrouping } from './regroup.js';
export { principalOf, type Signed, signedName } from './signed.js';
export { getSource, importedFiles, latestSource, listSources, mayReadAgain, proveSource, type SourceRow, sourceContent } from './sources.js';
export type { FileResult } from './storing.js';
