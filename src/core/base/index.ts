// base: what every folder of the engine stands on.
// Branded ids, the one error type, bytes, JSON that never lies, and time.
// Runs anywhere: no Node, no I/O, and nothing here knows what a commit or a transcript is.
export * from './bytes.js';
export * from './clock.js';
export * from './errors.js';
export * from './ids.js';
export * from './json.js';
export * from './recent.js';
export * from './steps.js';
