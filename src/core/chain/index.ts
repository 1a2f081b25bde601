// chain: context commits. Checkpoint, walk, materialize, resolve, fork, compact, snapshot and the commit graph.
// A chain is stored as first-parent runs: each commit has a run and a depth, so a walk is a range scan and a fork adds one row.
// The rules are in test/spec/chain.md. Formats read and write the content.

export { type Assembled, type AssembleOptions, assemble, seededIds, tierAlong, writable } from './assemble.js';
export {
  type ContextRow,
  contextColumns,
  earlierParent,
  intactColumn,
  type Offer,
  offer,
  personOf,
  type ReadChain,
  type Step,
  type WriteChain,
} from './chain.js';
export { addCommit, checkpoint } from './checkpoint.js';
export { compact, snapshot } from './compact.js';
export { goesOnWithTurn, noteGrowth } from './continued-turns.js';
export { type DeltaFacts, encodedFact, factsAlong, saveFact, storedFacts } from './delta-facts.js';
export { digestCommit, digestOfRow, isDigestOfRow, isIdOf } from './digest.js';
export * from './entries.js';
export { type EntrySums, entrySumsOf, hasSums, isMarked, saveEntrySums, stretchOf, summedContext, sumsEvery } from './entry-sums.js';
export { dropRunSums, type Families, type Family, familiesOf, runList, runSumsAreDue, startedAmong, storeRunSums, subagentsIn } from './families.js';
export { commitsOf, correctionsOf, type SummarizedCommit } from './family-commits.js';
export {
  type CommitRange,
  commitAt,
  commonAncestor,
  findChildren,
  findCommit,
  isAncestor,
  isResetSince,
  lastOfProject,
  placesTowardsRoot,
  windowRanges,
} from './find.js';
export { appendedEntries, commitEndingAt, type ForkInput, fork, graft } from './fork.js';
export { graph } from './graph.js';
export { forgetGraph } from './graph-layout.js';
export { graphMap, graphMapIsDue, storeGraphMap } from './graph-map.js';
export { hiddenBy, hiddenCommits, hiddenIn, hidingState } from './hidden.js';
export { joining } from './joining.js';
export { keep, kept, recalled } from './kept.js';
export { type LaneNode, layOut } from './lanes.js';
export { materialize, materializedBytes, readMaterialized, remakeSnapshot, saveResult } from './materialize.js';
export * from './outline.js';
export { dropList, listIsDue, listPrincipals, newestOf, otherSessionOf, principalTaken, wronglyListed } from './principals.js';
export { commitsAfter, history, resolve, show, tips, update } from './read.js';
export { allowReceived, allReceived, isShared, isWaiting, noteReceived, receivedAt, type StartKind, startKinds } from './received.js';
export { holderOf, remember, rememberAll } from './records.js';
export { keepRestPoints, restIsDue } from './rest.js';
export { type MessageSender, senderIn } from './senders.js';
export { changeSettings, readSettings } from './settings.js';
export { instantiate, listTemplates, putTemplate, templateOf, templateText } from './templates.js';
export { beginsTurn } from './turn-numbers.js';
export { type TurnParts, turnPartsAt, turnPartsIn } from './turn-parts.js';
export { openVerified } from './verified.js';
export { backwards, isResetPoint, lineage, lostParent, newestFirst, stepsUntil, type Walk, walk } from './walk.js';
