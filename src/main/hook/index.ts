// hook: the command that an agent runs at its own events. It stores the new part of the transcript that the event names.
// It is small, because the agent waits for it at every turn: it loads only the store and the readers of transcripts.
// An error never stops the agent: it prints nothing on standard output and exits with code 0 (test/spec/capture.md, L8).
export { runHook } from './run.js';
