// base: values that every folder of the engine uses: branded ids, the error type, bytes, JSON and time.
// It runs anywhere: no Node, no I/O.
// It does not know commits or transcripts.
export * from './attempt.js';
export * from './bytes.js';
export * from './clock.js';
export * from './damage.js';
export * from './defined.js';
export * from './errors.js';
export * from './ids.js';
export * from './json.js';
export * from './mailbox.js';
export * from './nesting.js';
export * from './number-of.js';
export * from './once.js';
export * from './people.js';
export * from './recent.js';
export * from './repository.js';
export * from './search.js';
export * from './steps.js';
