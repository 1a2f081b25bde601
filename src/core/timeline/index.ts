// timeline: what an agent reads that lives among people and other agents: a list of events with named senders.
// render/ is pure: seven blocks of fixed text around what was given, and the rules of marks, depths and windows.
// spaces/ is the store behind it: entities, spaces, messages, and runs that wait, go on and are committed to the chain.
export { renderBlock, renderTimeline, timelineMessages } from './render/timeline.js';
export { goalsOf, memoriesOf, plansOf, setGoals, setMemory, setPlan } from './spaces/agent.js';
export { previewTimeline, runTimeline } from './spaces/input.js';
export { post, wouldTrigger } from './spaces/posting.js';
export { enterSpace, finishRun, getRun, listRuns, readMessages, send, startByTrigger, tick } from './spaces/runs.js';
export { addEntity, createSpace, getSpace, joinSpace, leaveSpace, listEntities, listSpaces, readReceipt, spaceMessages } from './spaces/spaces.js';
export { contextTimeline } from './spaces/transcript.js';
