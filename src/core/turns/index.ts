// turns: a turn of an agent, from its trigger to its reply: list, reproduce, step through, rerun, compare.
// A turn has the id of its commit. Values that a transcript does not contain are null, never guessed.
// Stemma executes nothing from a transcript: a rerun calls a model and answers its tool calls from the recording.
export { answerContext, askContext, askedBody, type PreviewOf, stepBody, stepContext } from './answer.js';
export { commonBase, compareCalls, compareContexts, compareFields, compareFiles, compareMany, compareTurns, sideOf } from './compare.js';
export { type ContextCall, composeContext, nearestCall, systemPromptOf, systemTexts } from './composed.js';
export { nothingKnown, touchOf } from './files.js';
export { followingTurns } from './following.js';
export { originalOf } from './original.js';
export { type ModelProvider, type ModelRequest, mergedCost, mergedTokens, providerOf, type ReplyPiece, recordedProvider } from './providers.js';
export { openQuestions, type Questions } from './questions.js';
export { heard } from './reply.js';
export { reproduceTurn } from './reproduce.js';
export { composedBody, recordedWire, turnRequest } from './request.js';
export { rerunTurn } from './rerun.js';
export { rowFacts } from './row-facts.js';
export { fileAt, replaySteps, stateAt, stepEntries } from './state.js';
export { listTurns, sumOf, turnOf } from './turns.js';
export { whatIf } from './what-if.js';
