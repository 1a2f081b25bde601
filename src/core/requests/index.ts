// requests: model calls as they were sent. record/ stores them, rebuild/ restores and verifies their bodies, compare/ compares them,
// runtimes/ has one folder for each runtime with recorded calls, and shared/ reads JSON, pages and wire formats.
// It keeps rules R1 to R5 of test/spec/requests.md. Digests are verified on this machine.

export { diffRequests } from './compare/diff.js';
export { diffParts, getPart, listParts } from './compare/library.js';
export { requestSeries } from './compare/series.js';
export {
  type LayerText,
  type OwnCall,
  type OwnQuestion,
  type OwnRun,
  ownBody,
  ownCallPrefix,
  ownId,
  ownSpans,
  printOf,
  recordOwnRun,
  type TextChange,
  writtenBody,
} from './rebuild/own.js';
export {
  callsOfCommit,
  commitsWithCalls,
  getRequest,
  listRequests,
  listRequestsInSteps,
  ownRun,
  saveProofs,
  settingsBody,
} from './rebuild/requests.js';
export { catchUpAnswers, pendingAnswers } from './rebuild/stored-answers.js';
export { bodiesFormat, type RawBody, readBodyIndex, takeBodies } from './record/bodies.js';
export { captureCall, wireFormat } from './record/capture.js';
export { joinAnswers } from './record/join.js';
export { hasCalls, type ReadCalls, readCalls, takeRecords } from './record/record.js';
export type { StoredRange } from './record/texts.js';
export { callFormats, storeTravelingCall, type TravelingCall, travelingCalls } from './record/travel.js';
export { contentBefore } from './runtimes/before.js';
export { callsOfDelta } from './runtimes/counts.js';
export { sentSize, unknownUsage } from './runtimes/runtime.js';
export { wireOf, wordsOf } from './shared/words.js';
