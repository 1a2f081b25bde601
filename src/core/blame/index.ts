// blame: which turn wrote a line of a file, and which session made a commit of git. It carries recorded edits out again and compares the result
// with the file. What they do not prove is unknown.
// It keeps the rules of test/spec/blame.md.
export { blameFile } from './blame.js';
export { sessionsOfCommit } from './commit.js';
export { type Git, noteFile } from './notes.js';
export { traceFile } from './trace.js';
