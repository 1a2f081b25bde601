// contract: everything that Stemma can do, as one typed table of procedures with the schemas of their inputs and outputs.
// Five transports expose it and add nothing: message port, WebSocket, HTTP, command line, MCP.
// It uses neither Node nor I/O, because it is the only part of the engine that the window may import.

import type { AnySchema, InferSchemaOutput } from '@orpc/contract';
import { analysisContract, findingContract } from './analysis.js';
import { captureContract } from './capture.js';
import { boxContract, cardContract, profileContract, readsContract } from './card.js';
import { composeContract } from './compose.js';
import { contextContract } from './context.js';
import { desktopContract } from './desktop.js';
import { blameContract, evidenceContract } from './evidence.js';
import { experimentContract } from './experiment.js';
import { exportContract } from './export.js';
import { agentContract, handoverContract } from './handover.js';
import { importContract, libraryContract, sourceContract } from './intake.js';
import { priceContract } from './price.js';
import { artifactContract, projectContract } from './project.js';
import { providerContract } from './provider.js';
import { replicaContract } from './replica.js';
import { requestContract } from './request.js';
import { runnerContract } from './runner.js';
import { searchContract } from './search.js';
import { branchContract, sessionContract } from './session.js';
import { runContract, spaceContract } from './space.js';
import { teamContract } from './team.js';
import { instantiateContract, templateContract } from './template.js';
import { ticketContract } from './ticket.js';
import { timelineContract } from './timeline.js';
import { turnContract } from './turn.js';
import { usageContract } from './usage.js';

export type { ArtifactRef, ContextId, EntryKey, ErrorCode, Timestamp } from '../base/index.js';
// The window may import nothing else of the core.
export { type DamagedRows, damageHeader, damageInWords, firstWhere, readDamage, writeDamage } from '../base/index.js';
export * from './analysis.js';
export * from './capture.js';
export * from './card.js';
export * from './compose.js';
export * from './context.js';
export * from './describe.js';
export * from './desktop.js';
export * from './entry.js';
export * from './evidence.js';
export * from './experiment.js';
export * from './export.js';
export * from './handover.js';
export * from './hub-place.js';
export * from './intake.js';
export { describeInvalid } from './issue.js';
export * from './kinds.js';
export * from './mapping.js';
export * from './outline.js';
export * from './price.js';
export * from './project.js';
export * from './provider.js';
export * from './replica.js';
export * from './request.js';
export * from './runner.js';
export * from './scalars.js';
export * from './search.js';
export * from './session.js';
export * from './space.js';
export * from './team.js';
export * from './template.js';
export * from './ticket.js';
export type * from './timeline.js';
export { blockInput, entityTypes, messageOrigin, resume, timelineInput, trigger } from './timeline.js';
export * from './turn.js';
export * from './usage.js';
export * as z from './z.js';

export const contract = {
  project: projectContract,
  artifact: artifactContract,
  replica: replicaContract,
  team: teamContract,
  template: templateContract,
  context: { ...contextContract, instantiate: instantiateContract },
  export: exportContract,
  import: importContract,
  capture: captureContract,
  source: sourceContract,
  session: sessionContract,
  branch: branchContract,
  library: libraryContract,
  ticket: ticketContract,
  search: searchContract,
  request: requestContract,
  turn: turnContract,
  usage: usageContract,
  price: priceContract,
  analysis: analysisContract,
  evidence: evidenceContract,
  finding: findingContract,
  blame: blameContract,
  experiment: experimentContract,
  provider: providerContract,
  compose: composeContract,
  runner: runnerContract,
  timeline: timelineContract,
  space: spaceContract,
  run: runContract,
  card: cardContract,
  box: boxContract,
  profile: profileContract,
  handover: handoverContract,
  agent: agentContract,
  projects: readsContract,
  desktop: desktopContract,
};
export type Contract = typeof contract;

/** The names of all procedures: `search.query`. */
export type ProcedureName = { [Namespace in keyof Contract]: `${Namespace}.${keyof Contract[Namespace] & string}` }[keyof Contract];
type SchemasOf<Name extends ProcedureName> = Name extends `${infer Namespace extends keyof Contract}.${infer Own}`
  ? Contract[Namespace][Own & keyof Contract[Namespace]] extends { readonly '~orpc': infer Schemas }
    ? Schemas
    : never
  : never;
/** The input of a procedure, as the engine receives it: `InputOf<'search.query'>`. */
export type InputOf<Name extends ProcedureName> =
  SchemasOf<Name> extends { readonly inputSchema?: infer Input extends AnySchema } ? InferSchemaOutput<Input> : never;
/** The output of a procedure. */
export type OutputOf<Name extends ProcedureName> =
  SchemasOf<Name> extends { readonly outputSchema?: infer Output extends AnySchema } ? InferSchemaOutput<Output> : never;
