// timeline: builds the context of an agent that works with people and other agents: events in order, each with a named sender.
// render/ has pure functions that render the blocks of the context, and the rules of marks, depths and windows.
// spaces/ stores entities, spaces, messages and runs. Runs wait, resume, and are committed to the chain when they end.
export { renderBlock, renderTimeline, timelineMessages } from './render/timeline.js';
export { goalsOf, memoriesOf, plansOf, setGoals, setMemory, setPlan } from './spaces/agent.js';
export { callMessages, commitTimeline, lastRunCommit, type RunShown, runMessages } from './spaces/commit.js';
export { invokeRun, nextCall, previewTimeline, runTimeline, type TimelineChoices } from './spaces/input.js';
export {
  enterSpace,
  finishRun,
  getRun,
  isDue,
  listRuns,
  post,
  readMessages,
  send,
  spaceLines,
  startByTrigger,
  tick,
  wouldTrigger,
} from './spaces/runs.js';
export { addEntity, createSpace, getSpace, joinSpace, leaveSpace, listEntities, listSpaces, readReceipt, spaceMessages } from './spaces/spaces.js';
export { contextMessages, contextTimeline } from './spaces/transcript.js';
export { getWait, openWaits } from './spaces/waits.js';
