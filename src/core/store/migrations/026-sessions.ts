/** What a person set on sessions and branches: names, pins, tags, archives and deletions. */
export const sessions = /* sql */ `
CREATE TABLE sessionMark (
  no         INTEGER PRIMARY KEY,
  project    INTEGER NOT NULL,
  sessionId  TEXT NOT NULL,
  title      TEXT,
  tags       TEXT,
  pinnedAt   INTEGER,
  archivedAt INTEGER,
  deletedAt  INTEGER
);
CREATE UNIQUE INDEX sessionMarkSession ON sessionMark(project, sessionId);

-- A branch is named by its first commit, which stays the same as it grows.
CREATE TABLE branchMark (
  no         INTEGER PRIMARY KEY,
  project    INTEGER NOT NULL,
  context    INTEGER NOT NULL REFERENCES context(seq),
  title      TEXT,
  archivedAt INTEGER,
  deletedAt  INTEGER
);
CREATE UNIQUE INDEX branchMarkContext ON branchMark(context);
`;
