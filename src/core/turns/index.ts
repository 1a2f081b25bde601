// turns: what a turn of an agent was: its trigger, its input, its output; proved, stepped through, run again, compared.
// A turn is named by its commit. What a transcript does not say is null, never guessed.
// Nothing of a transcript is executed here or anywhere: running again asks a model, and answers its calls from the recording.
export { type Answered, answerContext, askContext } from './answer.js';
export { commonBase, compareCalls, compareContexts, compareMany, compareTurns, fieldsOf, sideOf } from './compare.js';
export { followingTurns } from './following.js';
export { type ModelProvider, type ModelRequest, type ReplyPiece, recordedProvider } from './providers.js';
export { openQuestions, type Questions } from './questions.js';
export { reproduceTurn } from './reproduce.js';
export { turnRequest } from './request.js';
export { type Rerun, rerunTurn } from './rerun.js';
export { fileAt, replaySteps, stateAt, stepEntries } from './state.js';
export { listTurns, turnOf } from './turns.js';
export { type WhatIf, whatIf } from './what-if.js';
