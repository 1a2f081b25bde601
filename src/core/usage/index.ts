// usage: the token counts of providers for each model call. facts.ts and backfill.ts store the counts of replies; an import stores the counts of
// its own commits. context.ts, calls.ts, sessions.ts and fillers.ts answer the procedures of `usage` from them.
// It keeps the rules of test/spec/usage.md.

export { backfillBatch, type CallRecorder, countCalls, openRecorder, pendingAmong, pendingCommits } from './backfill.js';
export { growthsOf, saveFactors } from './calibrate.js';
export { usageCalls } from './calls.js';
export { cardCallPrefix } from './card-calls.js';
export { callStates, callsByCommit, compactedAt, costsAt, countedGraph, lastModels, type UnstoredWindows, unstoredWindows } from './commits.js';
export { usageCompaction } from './compaction.js';
export { countedInput, usageOfContext, usageOfFork, usageSeries } from './context.js';
export { contextsAreDue, isTurn, type Lost, lossesSinceSums, turnSumsOf } from './context-sums.js';
export { dayMs, noteChangedCalls, sumSessions } from './facts.js';
export { rowName } from './filler-facts.js';
export { type FillerSizes, usageFillers } from './fillers.js';
export { type CountedGrowth, fitFactors, isUsable, sizeBy } from './fit.js';
export { largestRows, usageLargest } from './largest.js';
export { catchUpLedger, forgetSums, ledgerIsDue } from './ledger.js';
export { pathIn } from './mentions.js';
export { nameIn } from './names.js';
export { catchUpCalls, catchUpMeasures, catchUpUsage, prepareUsage, usageIsDue } from './prepare.js';
export { windowOfCall } from './price-table.js';
export { costOf, loadPrices, moneyOf } from './prices.js';
export { callsIn } from './rows.js';
export { usageSessions } from './sessions.js';
export { settingsState, withPrices } from './settings.js';
export { pricesShown } from './shown-prices.js';
export { usageSides } from './sides.js';
export { type FactPartition, factPartitions, monthOfDay } from './tables.js';
export { loadTokenizer, withTokenizer } from './tokenizer.js';
export { driftsOf } from './totals.js';
export { type Lasted, lastedIn, lossesAlong, type TurnEntries, type TurnFacts, turnEntriesIn, turnFacts } from './turn-facts.js';
