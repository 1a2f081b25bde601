// requests: model calls as they were sent: what runtimes recorded of them, stored once by content, rebuilt, proved and compared.
// A runtime is one value of the interface in runtime.ts: its folder here and a word in runtimes.ts, by the format of its commits.
// Rules R1 to R5 of test/spec/requests.md live here; a digest is checked on this machine.
export { captureCall, wireFormat } from './capture.js';
export { diffRequests } from './diff.js';
export { joinAnswers } from './join.js';
export { diffParts, getPart, listParts } from './library.js';
export { type OwnCall, type OwnQuestion, type OwnRun, ownBody, printOf, recordOwnRun, type TextChange } from './own.js';
export { hasCalls, type ReadCalls, type RecordsInput, readCalls, type TakenRecords, takeRecords } from './record.js';
export { getRequest, listRequests, ownRun, type RequestFilter, recordedRequests } from './requests.js';
export { requestSeries } from './series.js';
export type { StoredRange } from './texts.js';
export { wireOf, wordsOf } from './words.js';
