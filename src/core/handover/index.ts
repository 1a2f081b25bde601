// handover: delegation between agents. Packs a context by rules, dispatches turns, and commits each turn's input and output
// on its agent's chain. Each call builds on the one before: plan -> pack -> packWithInstruction -> delegate -> forkJoin,
// launchPrincipal and askExpert. The rules are in test/spec/handover.md.
export { agentNamed, currentOutput, registerAgent, requireAgent, toAgent } from './agents.js';
export { batchOf, endDueBatches, endIfDue, forkJoin } from './batches.js';
export { type CallReply, type CardCall, callsOfTurn, recordCall, recordReply } from './calls.js';
export { type DecidedParts, profileRules, sharedCall, toMemory, toMessages } from './composed.js';
export { askExpert, delegate, launchPrincipal, validBoxes } from './delegate.js';
export { pack, packWithInstruction, previewPack } from './pack.js';
export { modelCards, turnCards } from './pinned.js';
export { callSettings, dataOf, finalTool, renderPrompt, requestOf, stepBudget } from './request.js';
export { submitted } from './submit.js';
export { type AgentTurnRow, isOpen, newestCommitOf, openTurns, toTurn, turnNamed, turnsOf, turnsOfCommits } from './turn-rows.js';
export {
  adoptCommit,
  answerTurn,
  beginTurn,
  deliver,
  finishTurn,
  handoverMap,
  type InputOptions,
  makeTurnInput,
  outcomeOf,
  submitTurn,
  suspendTurn,
  turnInput,
  writeTurn,
} from './turns.js';
