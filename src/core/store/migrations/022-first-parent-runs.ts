/** Gives runs of commits their standard name. The indexes keep their columns. */
export const firstParentRuns = /* sql */ `
ALTER TABLE line RENAME TO firstParentRun;
ALTER TABLE context RENAME COLUMN line TO run;
DROP INDEX lineOrigin;
CREATE INDEX firstParentRunOrigin ON firstParentRun(origin) WHERE origin IS NOT NULL;
DROP INDEX contextLine;
CREATE INDEX contextRun ON context(run, depth);
`;
