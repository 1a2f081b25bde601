import { cards } from './schema-cards.js';
import { experiments } from './schema-experiments.js';
import { captures, requests } from './schema-requests.js';
import { modelRuns } from './schema-runs.js';
import { search, searchRoom } from './schema-search.js';
import { spaces } from './schema-spaces.js';
import { storage, templates, tiers } from './schema-storage.js';
import { ticketAnswers, ticketStarts, tickets } from './schema-tickets.js';

/**
 * The tables, as the steps that make them. Numbers of rows (`no`, `seq`) are local and never shown; ids and hashes are
 * what leaves the database. Every row carries its project's number, and every query is bound to it.
 */

const first = /* sql */ `
CREATE TABLE project (
  no        INTEGER PRIMARY KEY,
  projectId TEXT NOT NULL UNIQUE,
  name      TEXT NOT NULL,
  createdAt INTEGER NOT NULL
);

-- An append-only file of large objects. A process writes only to packs that it made.
CREATE TABLE pack (
  no        INTEGER PRIMARY KEY,
  file      TEXT NOT NULL UNIQUE,
  createdAt INTEGER NOT NULL
);

CREATE TABLE artifact (
  no          INTEGER PRIMARY KEY,
  project     INTEGER NOT NULL,
  -- The first 48 bits of the hash: a small index finds the row, the hash in the row decides.
  key         INTEGER NOT NULL,
  hash        BLOB NOT NULL,
  size        INTEGER NOT NULL,
  storedSize  INTEGER NOT NULL,
  -- 0 as it is, 1 zstd
  encoding    INTEGER NOT NULL,
  contentType TEXT NOT NULL,
  policy      TEXT NOT NULL,
  labels      TEXT,
  createdAt   INTEGER NOT NULL,
  -- Large objects lie in a pack; small ones beside their metadata; neither: a snapshot that can be made again.
  pack        INTEGER REFERENCES pack(no),
  packStart   INTEGER,
  data        BLOB
);
CREATE INDEX artifactKey ON artifact(key);

-- A run of commits each of which is the first child of the one before. Walks read it as one range.
CREATE TABLE line (
  no      INTEGER PRIMARY KEY,
  project INTEGER NOT NULL,
  -- The commit that the line branches off from; null where a conversation begins.
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
  -- Tokens of the whole context here, as the model had it.
  contextTokens INTEGER NOT NULL,
  errors        INTEGER NOT NULL DEFAULT 0,
  -- What its delta holds, hidden entries included.
  entries       INTEGER NOT NULL DEFAULT 0,
  -- Made in Stemma by a fork.
  forked        INTEGER NOT NULL DEFAULT 0,
  createdAt     INTEGER NOT NULL
);
CREATE UNIQUE INDEX contextId ON context(project, id);
CREATE INDEX contextLine ON context(line, depth);
CREATE INDEX contextPrincipal ON context(project, principal, createdAt) WHERE principal IS NOT NULL;

-- What may change of a commit, as it was before each change.
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

-- The entries of a delta without their content, as its format's parser saw them: derived, and made again when missing.
CREATE TABLE outline (
  artifact INTEGER PRIMARY KEY REFERENCES artifact(no),
  format   TEXT NOT NULL,
  parser   INTEGER NOT NULL,
  data     TEXT NOT NULL
);

-- Which commit holds a runtime's record (a line's uuid, a tool call's id): by it, later files find their place.
CREATE TABLE record (
  project INTEGER NOT NULL,
  record  TEXT NOT NULL,
  context INTEGER NOT NULL REFERENCES context(seq),
  PRIMARY KEY (project, record)
) WITHOUT ROWID;

-- A chain that was started by a tool call in another: a subagent's.
CREATE TABLE started (
  context    INTEGER PRIMARY KEY REFERENCES context(seq),
  project    INTEGER NOT NULL,
  toolCallId TEXT NOT NULL
);

-- Materialized contexts, by what they are a function of. The artifacts can be dropped and made again.
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

-- An imported file, and how it is put together from what is stored.
CREATE TABLE source (
  no         INTEGER PRIMARY KEY,
  project    INTEGER NOT NULL,
  sourceId   TEXT NOT NULL UNIQUE,
  path       TEXT NOT NULL,
  format     TEXT NOT NULL,
  size       INTEGER NOT NULL,
  hash       BLOB NOT NULL,
  -- Up to here whole records were taken in; what came after was a torn end that may still grow.
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

/** What a materialization could not take along; null where it was kept before that was counted. */
const losses = /* sql */ `
ALTER TABLE materialized ADD COLUMN losses TEXT;
`;

/** Nothing of its own: rows get sums with every migration (`keepSums`), so that a project of before them needs one. */
const sums = '-- rows carry sums from here on';

/**
 * An index of every commit by its principal cost each commit a page of the log, and few ask by it: the table is filled when somebody does
 * (chain/principals.ts).
 */
const principals = /* sql */ `
DROP INDEX contextPrincipal;
CREATE TABLE principalCommit (
  project   INTEGER NOT NULL,
  principal TEXT NOT NULL,
  createdAt INTEGER NOT NULL,
  context   INTEGER NOT NULL REFERENCES context(seq),
  PRIMARY KEY (project, principal, createdAt, context)
) WITHOUT ROWID;
`;

/** Nothing of its own: what is kept of a materialization is taken at its word, and so its rows get sums with this migration. */
const keptSums = '-- rows of materialized carry sums from here on';

/** Never change a step that has been released: add one. */
export const steps: readonly string[] = [
  first,
  requests,
  spaces,
  cards,
  tickets,
  search,
  storage,
  tiers,
  templates,
  losses,
  ticketStarts,
  modelRuns,
  captures,
  experiments,
  ticketAnswers,
  sums,
  principals,
  searchRoom,
  keptSums,
];
