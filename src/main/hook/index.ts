// hook: what an agent runs at its own events: it checkpoints the transcript that the event names, and nothing else.
// It is small on purpose: an agent waits for it at every turn, so that it loads the store and the readers of transcripts alone.
// Whatever goes wrong, the agent goes on: nothing on standard output, exit code 0 (test/spec/capture.md, L8).
export { runHook } from './run.js';
