// analysis: questions over many sessions. tools.ts and sessions.ts derive their facts beside those of `usage`; views.ts is what SQL may read;
// answer.ts answers a statement in a process that can be killed; findings.ts and files.ts are built on it.
// It keeps the rules of test/spec/analysis.md.
export { answer, openScopedViews, openViews, type ScopedViews } from './answer.js';
export { checkExport, type WrittenFile, writeAnswer, writeDataset } from './files.js';
export { applyRules, byTime, type RuleResults } from './findings.js';
export { catchUpFindings, type FindingPage, findingsAreDue, findingsWithin, keptCounts, keptFindings, uncheckedSessions } from './kept-findings.js';
export { analysisIsDue, analysisProgress, catchUpAnalysis } from './prepare.js';
export { type Statement, statementOf } from './question.js';
export { builtInRules, parseRule, type SqlRule } from './rules.js';
export { packedSums, packedTools, storeSums, sumsAreDue } from './sums.js';
export { catchUpTools, countTools } from './tools.js';
export { viewList, viewsVersion } from './views.js';
