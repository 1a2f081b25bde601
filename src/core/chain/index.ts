// chain: context commits and what is asked of them: checkpoint, walk, materialize, resolve, fork, compact, the picture in lanes.
// A chain is runs of commits ("lines") with depths, so that a walk is a range scan and a fork is one row.
// Rules C1 to C16 of test/spec/chain.md live here; content is read and written by formats.
export type { Chain, ContextRow, Materialized, Resolved, Step } from './chain.js';
export { addCommit, type CheckpointInput, checkpoint, digestOf, type NewCommit } from './checkpoint.js';
export { compact, snapshot } from './compact.js';
export { type ContextQuery, contextEntries, entries, entriesInTurn, find, outlineRows } from './entries.js';
export { childrenOf, commitAt, commitOf, commonAncestor, isAncestor } from './find.js';
export { commitEndingAt, type ForkInput, fork, remember, rememberAll } from './fork.js';
export { graph } from './graph.js';
export { type LaneRow, type Lanes, layOut, type Node } from './lanes.js';
export {
  type Assembled,
  type AssembleOptions,
  assemble,
  idsOf,
  materialize,
  materializedBytes,
  remakeSnapshot,
  tierAlong,
  writable,
} from './materialize.js';
export { outlineOf, parsedOf, saveOutline, storedOutline } from './outline.js';
export { dropList, newestOf, wronglyListed } from './principals.js';
export { commitsAfter, history, resolve, show, type TipFilter, tips, update } from './read.js';
export { keepRestPoints, restIsDue } from './rest.js';
export { type Instance, type Instantiation, instantiate, listTemplates, putTemplate, type Template, templateOf } from './templates.js';
export { lineage, type Walk, walk } from './walk.js';
