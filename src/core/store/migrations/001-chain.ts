/** Commits, objects, imported files and what is derived from them. Row numbers (`no`, `seq`) are local and never leave the database. */
export const chain = /* sql */ `
CREATE TABLE project (
  no        INTEGER PRIMARY KEY,
  projectId TEXT NOT NULL UNIQUE,
  name      TEXT NOT NULL,
  createdAt INTEGER NOT NULL
);

-- An append-only file of large objects. A process appends only to packs that it created.
CREATE TABLE pack (
  no        INTEGER PRIMARY KEY,
  file      TEXT NOT NULL UNIQUE,
  createdAt INTEGER NOT NULL
);

CREATE TABLE artifact (
  no          INTEGER PRIMARY KEY,
  project     INTEGER NOT NULL,
  -- The first 48 bits of the hash. The index finds candidates; the hash in the row decides.
  key         INTEGER NOT NULL,
  hash        BLOB NOT NULL,
  size        INTEGER NOT NULL,
  storedSize  INTEGER NOT NULL,
  -- 0 plain, 1 zstd
  encoding    INTEGER NOT NULL,
  contentType TEXT NOT NULL,
  policy      TEXT NOT NULL,
  labels      TEXT,
  createdAt   INTEGER NOT NULL,
  -- Large objects are in a pack, small ones in data. An object with neither is a cache that can be rebuilt.
  pack        INTEGER REFERENCES pack(no),
  packStart   INTEGER,
  data        BLOB
);
CREATE INDEX artifactKey ON artifact(key);

-- A run of commits, each the first child of the one before. A walk reads a line as one index range.
CREATE TABLE line (
  no      INTEGER PRIMARY KEY,
  project INTEGER NOT NULL,
  -- The commit that the line branches off from; null for the first line of a conversation.
  origin  INTEGER REFERENCES context(seq)
);
CREATE INDEX lineOrigin ON line(origin) WHERE origin IS NOT NULL;

CREATE TABLE context (
  seq           INTEGER PRIMARY KEY,
  project       INTEGER NOT NULL,
  id            TEXT NOT NULL,
  digest        BLOB NOT NULL,
  parent        INTEGER REFERENCES context(seq),
  line          INTEGER NOT NULL REFERENCES line(no),
  depth         INTEGER NOT NULL,
  type          TEXT NOT NULL,
  artifact      INTEGER NOT NULL REFERENCES artifact(no),
  format        TEXT NOT NULL,
  template      TEXT NOT NULL,
  principal     TEXT,
  machine       TEXT,
  sessionId     TEXT,
  checkpoint    TEXT NOT NULL,
  ticketId      TEXT,
  threadId      TEXT,
  summary       TEXT,
  tags          TEXT,
  messageCount  INTEGER NOT NULL,
  tokenCount    INTEGER NOT NULL,
  -- Tokens of the whole context up to this commit, as the model saw it.
  contextTokens INTEGER NOT NULL,
  errors        INTEGER NOT NULL DEFAULT 0,
  -- Entries of the delta, hidden ones included.
  entries       INTEGER NOT NULL DEFAULT 0,
  -- 1 if a fork in Stemma created it.
  forked        INTEGER NOT NULL DEFAULT 0,
  createdAt     INTEGER NOT NULL
);
CREATE UNIQUE INDEX contextId ON context(project, id);
CREATE INDEX contextLine ON context(line, depth);
CREATE INDEX contextPrincipal ON context(project, principal, createdAt) WHERE principal IS NOT NULL;

-- The previous summary and tags of a commit, one row per change.
CREATE TABLE contextVersion (
  no      INTEGER PRIMARY KEY,
  project INTEGER NOT NULL,
  context INTEGER NOT NULL REFERENCES context(seq),
  at      INTEGER NOT NULL,
  author  TEXT,
  summary TEXT,
  tags    TEXT
);
CREATE INDEX contextVersionContext ON contextVersion(context);

-- Which commit holds a runtime's record (a line's uuid, a tool call's id). Later imports attach their commits by it.
CREATE TABLE record (
  project INTEGER NOT NULL,
  record  TEXT NOT NULL,
  context INTEGER NOT NULL REFERENCES context(seq),
  PRIMARY KEY (project, record)
) WITHOUT ROWID;

-- The first commit of a subagent, and the tool call that started it.
CREATE TABLE started (
  context    INTEGER PRIMARY KEY REFERENCES context(seq),
  project    INTEGER NOT NULL,
  toolCallId TEXT NOT NULL
);

-- Materialized contexts by commit, stop and format. Their objects are caches.
CREATE TABLE materialized (
  context      INTEGER NOT NULL REFERENCES context(seq),
  stop         TEXT NOT NULL,
  format       TEXT NOT NULL,
  project      INTEGER NOT NULL,
  artifact     INTEGER NOT NULL REFERENCES artifact(no),
  tier         TEXT NOT NULL,
  messageCount INTEGER NOT NULL,
  tokenCount   INTEGER NOT NULL,
  PRIMARY KEY (context, stop, format)
) WITHOUT ROWID;

-- An imported file, and the pieces of stored objects that it consists of.
CREATE TABLE source (
  no         INTEGER PRIMARY KEY,
  project    INTEGER NOT NULL,
  sourceId   TEXT NOT NULL UNIQUE,
  path       TEXT NOT NULL,
  format     TEXT NOT NULL,
  size       INTEGER NOT NULL,
  hash       BLOB NOT NULL,
  -- Everything before this byte consists of whole records. The rest is a torn end that may still grow.
  resumeAt   INTEGER NOT NULL,
  resumeHash BLOB NOT NULL,
  sessionId  TEXT,
  title      TEXT,
  cwd        TEXT,
  tips       TEXT NOT NULL,
  -- [artifact, start, length] of each piece, in file order, as JSON.
  pieces     TEXT NOT NULL,
  importedAt INTEGER NOT NULL
);
CREATE INDEX sourcePath ON source(project, path);
CREATE INDEX sourceSession ON source(project, sessionId);
`;
