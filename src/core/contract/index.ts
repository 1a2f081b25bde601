// contract: everything that Stemma can do, as one typed table of procedures with the schemas of what goes in and out.
// Five doors lead to it and add nothing: message port, WebSocket, HTTP, command line, MCP.
// No Node and no I/O: the only part of the engine that the window may import.

import { captureContract } from './capture.js';
import { boxContract, cardContract, profileContract, readsContract } from './card.js';
import { composeContract } from './compose.js';
import { contextContract, exportContract } from './context.js';
import { experimentContract } from './experiment.js';
import { agentContract, handoverContract } from './handover.js';
import { importContract, libraryContract, sourceContract } from './intake.js';
import { artifactContract, projectContract } from './project.js';
import { providerContract } from './provider.js';
import { requestContract } from './request.js';
import { searchContract } from './search.js';
import { instantiateContract, templateContract } from './template.js';
import { ticketContract } from './ticket.js';
import { tierContract } from './tier.js';
import { runContract, spaceContract, timelineContract } from './timeline.js';
import { turnContract } from './turn.js';

export type { ArtifactRef, ContextId, EntryKey, ErrorCode, Timestamp } from '../base/index.js';
export * from './capture.js';
export * from './card.js';
export * from './compose.js';
export * from './context.js';
export * from './entry.js';
export * from './experiment.js';
export * from './handover.js';
export * from './intake.js';
export * from './kinds.js';
export * from './project.js';
export * from './provider.js';
export * from './request.js';
export * from './scalars.js';
export * from './search.js';
export * from './template.js';
export * from './ticket.js';
export * from './tier.js';
export * from './timeline.js';
export * from './turn.js';

export const contract = {
  project: projectContract,
  artifact: artifactContract,
  tier: tierContract,
  template: templateContract,
  context: { ...contextContract, instantiate: instantiateContract },
  export: exportContract,
  import: importContract,
  capture: captureContract,
  source: sourceContract,
  library: libraryContract,
  ticket: ticketContract,
  search: searchContract,
  request: requestContract,
  turn: turnContract,
  experiment: experimentContract,
  provider: providerContract,
  compose: composeContract,
  timeline: timelineContract,
  space: spaceContract,
  run: runContract,
  card: cardContract,
  box: boxContract,
  profile: profileContract,
  handover: handoverContract,
  agent: agentContract,
  projects: readsContract,
};
export type Contract = typeof contract;
