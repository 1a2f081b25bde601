// handover: what one agent gives another. Packing by rules, the calls that hand out turns, the turns themselves, and
// where they meet the chain: a turn's input and output are commits of its agent. Every call reuses the one before it:
// plan -> pack -> packWithInstruction -> delegate -> fork, launch and ask. Rules H1 to H17 of test/spec/handover.md live here.
export { agentNamed, agentOf, currentOutput, registerAgent, toAgent } from './agents.js';
export { type BatchOptions, batchOf, forkJoin } from './batches.js';
export { askExpert, delegate, launchPrincipal, validBoxes } from './delegate.js';
export { handoverMap } from './map.js';
export { type PackInput, pack, packWithInstruction, previewPack } from './pack.js';
export { type Request, renderPrompt, requestOf, stepBudget } from './request.js';
export { submitted } from './submit.js';
export { turnsOf } from './turn-rows.js';
export { answerTurn, beginTurn, finishTurn, modelCards, outcomeOf, submitTurn, suspendTurn, turnInput, writeTurn } from './turns.js';
