/** Replaces the index by principal, which cost every commit a page of the log, by a table that is filled on demand (chain/principals.ts). */
export const principals = /* sql */ `
DROP INDEX contextPrincipal;
CREATE TABLE principalCommit (
  project   INTEGER NOT NULL,
  principal TEXT NOT NULL,
  createdAt INTEGER NOT NULL,
  context   INTEGER NOT NULL REFERENCES context(seq),
  PRIMARY KEY (project, principal, createdAt, context)
) WITHOUT ROWID;
`;
