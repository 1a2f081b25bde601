// experiments: turns that are rerun in several ways, side by side: the provider, the changes, the reply, and a person's verdict.
// Checks read replies and run nothing in them (P5).
// Every save and every verdict is a version. Replies are ordinary branches.
export {
  caseNamed,
  getExperiment,
  judgeResult,
  listExperiments,
  missingCases,
  removeExperiment,
  runExperiment,
  saveExperiment,
} from './experiments.js';
export { newestVersion } from './rows.js';
export { exportExperiment } from './table.js';
