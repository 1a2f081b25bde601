/** Counts of rows and of changes, so that neither a window that follows a project nor its totals read whole tables. */
export const areaCounts = /* sql */ `
-- Kept by temporary triggers (area-counts.ts), and counted anew after a migration and a repair.
CREATE TABLE areaCount (
  project INTEGER NOT NULL,
  area    TEXT NOT NULL,
  -- Grows by one with every change, so that no two changes cancel out.
  changes INTEGER NOT NULL,
  -- Number of rows now.
  total   INTEGER NOT NULL,
  PRIMARY KEY (project, area)
) WITHOUT ROWID;
`;
