// assist: work that helps people and agents with a project: summaries and compaction, by a model or extracted from the text,
// judgments of what a compaction lost, and retrievers that need no network.
// If a model does not reply, nothing is written. Providers are passed in; this folder knows no keys and no network.
export { restoreState, saveState } from './blackboard.js';
export { compactContext } from './compaction.js';
export { composedRows, composition } from './composition.js';
export { judgeCompaction } from './judge.js';
export { listInstantiations, listSummaries, versionsOfCommit } from './missing.js';
export { layerSources, projectServices } from './retrievers.js';
export { extractive, type SummarizeInput, summarizeCommits } from './summaries.js';
export {
  defaultSummarizer,
  openSummarizer,
  type Summarizer,
  type SummarizerPlan,
  type SummarizerSettings,
  unsavedSummarizer,
} from './summarizer.js';
