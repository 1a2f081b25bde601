/** The time of a session's first call, beside that of its latest. Derived from `usageQuarter`. */
export const usageFirst = /* sql */ `
-- The quarter of an hour of the first call. A session within one day or month then needs no look at its quarters.
ALTER TABLE usageSum ADD COLUMN first INTEGER NOT NULL DEFAULT 0;
UPDATE usageSum SET first = (
  SELECT MIN(q.quarter) FROM usageQuarter q
   WHERE q.project = usageSum.project AND q.session = usageSum.session AND q.agent = usageSum.agent AND q.subagent = usageSum.subagent
     AND q.model = usageSum.model);
`;
