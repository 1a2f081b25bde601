/**
 * What can be made again has a database file of its own from here on (derived/tables.ts), and is made again there. Earlier versions of Stemma made
 * these tables in earlier steps. `progress` keeps how far work on what was recorded has come.
 */
export const derivedApart = /* sql */ `
DROP TABLE IF EXISTS outline;
DROP TABLE IF EXISTS principalCommit;
DROP TABLE IF EXISTS runSum;
DROP TABLE IF EXISTS searchEntry;
DROP TABLE IF EXISTS searchState;
DROP TABLE IF EXISTS searchWords;
DROP TABLE IF EXISTS usageCall;
DROP TABLE IF EXISTS usageCommit;
DROP TABLE IF EXISTS usageCopy;
DROP TABLE IF EXISTS usageFactor;
DROP TABLE IF EXISTS usageLedger;
DROP TABLE IF EXISTS usageMeasure;
DROP TABLE IF EXISTS usageQuarter;
DROP TABLE IF EXISTS usageSession;
DROP TABLE IF EXISTS usageSlice;
DROP TABLE IF EXISTS usageSliced;
DROP TABLE IF EXISTS usageSum;
DROP TABLE IF EXISTS usageTool;
DROP TABLE IF EXISTS usageToolSlice;
DROP TABLE IF EXISTS usageTotal;
DELETE FROM progress WHERE name IN ('runs', 'principals') OR name LIKE 'usage%' OR name LIKE 'analysis%';
`;
