// experiments: turns that are run again in several ways, side by side: who is asked, what is changed, what came of it, what a person says.
// A reply is held against checks that are said and never run: nothing of a transcript is executed.
// Every save and every verdict is a version; replies are branches like any other.
export { getExperiment, judgeResult, listExperiments, removeExperiment, runExperiment, saveExperiment } from './experiments.js';
export { exportExperiment } from './table.js';
