/**
 * What can be made again has a database file of its own from here on (derived/tables.ts), and is made again there. `progress` keeps how far work
 * on what was recorded has come.
 */
export const derivedApart = /* sql */ `
DROP TABLE outline;
DROP TABLE principalCommit;
DROP TABLE runSum;
DROP TABLE searchEntry;
DROP TABLE searchState;
DROP TABLE searchWords;
DROP TABLE usageCall;
DROP TABLE usageCommit;
DROP TABLE usageCopy;
DROP TABLE usageFactor;
DROP TABLE usageLedger;
DROP TABLE usageMeasure;
DROP TABLE usageQuarter;
DROP TABLE usageSession;
DROP TABLE usageSlice;
DROP TABLE usageSliced;
DROP TABLE usageSum;
DROP TABLE usageTool;
DROP TABLE usageToolSlice;
DROP TABLE usageTotal;
DELETE FROM progress WHERE name IN ('runs', 'principals') OR name LIKE 'usage%' OR name LIKE 'analysis%';
`;
