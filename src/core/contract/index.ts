// contract: everything that Stemma can do, as one typed table of procedures with the schemas of what goes in and out.
// Five doors lead to it and add nothing: message port, WebSocket, HTTP, command line, MCP.
// No Node and no I/O: the only part of the engine that the window may import.
import { artifactContract, projectContract } from './project.js';
import { contextContract, exportContract } from './context.js';
import { importContract, libraryContract, sourceContract } from './intake.js';

export * from './context.js';
export * from './entry.js';
export * from './intake.js';
export * from './project.js';
export * from './scalars.js';
export type { ArtifactRef, ContextId, EntryKey, ErrorCode, Timestamp } from '../base/index.js';
export { errorCodes } from '../base/index.js';

export const contract = {
  project: projectContract,
  artifact: artifactContract,
  context: contextContract,
  export: exportContract,
  import: importContract,
  source: sourceContract,
  library: libraryContract,
};
export type Contract = typeof contract;
