/** What content costs for each model, fitted to counted tokens. */
export const usageFactors = /* sql */ `
-- Tokens per unit of a measure of content, for a model, when it had \`calls\` calls. Derived from calls.
CREATE TABLE usageFactor (
  project INTEGER NOT NULL,
  model   TEXT NOT NULL,
  measure TEXT NOT NULL,
  factor  REAL NOT NULL,
  calls   INTEGER NOT NULL,
  PRIMARY KEY (project, model, measure)
) WITHOUT ROWID;
`;
