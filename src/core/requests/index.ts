// requests: model calls as they were sent: what runtimes recorded of them, stored once by content, rebuilt, proved and compared.
// A call is a list of messages, a shape (system prompt and tools) and a record; its digest is checked on this machine.
// Rules R1 to R5 of test/spec/requests.md live here.
export { diffRequests } from './diff.js';
export { type RecordsInput, type TakenRecords, takeRecords } from './record.js';
export { getRequest, listRequests, type RequestFilter, recordedRequests } from './requests.js';
export type { StoredRange } from './texts.js';
