// runner: carries out turns and answers contexts with a model and Stemma's own tools, within limits that a person set.
// A job is leased: it belongs to one process at a time, and is given back when that process dies. No command of a transcript is executed.
// The rules are in test/spec/runner.md.

export { cleanUp } from './cleaning.js';
export { listJobs, logOf } from './jobs.js';
export { allowWork } from './kinds.js';
export { answerQuestion, followJob, openLiveJobs, startJob, stopJob } from './live.js';
export type { LiveJobs, RunnerParts } from './parts.js';
export { previewTicketStart, readTurnInput } from './previewed.js';
export type { AgentOrder, AgentPiece, AgentProgram, MadeFolder, Workshop } from './programs.js';
export { openPulse, pulse } from './pulse.js';
export { removeDiscarded, repeatWork } from './repeat.js';
export { previewRun, previewStart } from './run-call.js';
