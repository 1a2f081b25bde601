import { usageDefinitions } from './usage-tables.js';

/** Increase this number when a table changes: the file of another layout is dropped and filled again. */
export const derivedLayout = 13;

/** Everything that can be made again from the record and its objects, as the tables of its own database. */
const definitions = /* sql */ `
-- What the file was made from: the mark of this machine and project, and how far the record had come.
CREATE TABLE derivedFrom (
  one     INTEGER PRIMARY KEY CHECK (one = 1),
  mark    TEXT,
  newest  INTEGER NOT NULL,
  id      TEXT,
  changes INTEGER NOT NULL
);

-- How far the work that fills these tables has come.
CREATE TABLE derivedProgress (
  project INTEGER NOT NULL,
  name    TEXT NOT NULL,
  value   INTEGER NOT NULL,
  PRIMARY KEY (project, name)
) WITHOUT ROWID;

-- What is known of a delta by the rules of a name, as JSON, compressed if it is long and seldom read (chain/delta-facts.ts).
CREATE TABLE deltaFact (
  artifact INTEGER NOT NULL,
  format   TEXT NOT NULL,
  name     TEXT NOT NULL,
  -- The rules by which it was made.
  version  INTEGER NOT NULL,
  data     TEXT NOT NULL,
  PRIMARY KEY (artifact, format, name)
) WITHOUT ROWID;

-- Facts about the rows of a group of a graph, in which the whole graph is drawn (chain/graph-map.ts).
CREATE TABLE graphGroup (
  project INTEGER NOT NULL,
  name    TEXT NOT NULL,
  -- Changes with the rows of the group.
  state   TEXT NOT NULL,
  data    BLOB NOT NULL,
  PRIMARY KEY (project, name)
) WITHOUT ROWID;

-- The entries of a delta without their content, as the parser of its format read them. Compressed if it is long (chain/outline.ts).
CREATE TABLE outline (
  artifact INTEGER PRIMARY KEY,
  format   TEXT NOT NULL,
  parser   INTEGER NOT NULL,
  data     TEXT NOT NULL
);

-- The visible entries of the context of a commit, and their number and tokens by kind, as JSON. Every 64th commit of a long conversation has them
-- (chain/entry-sums.ts).
CREATE TABLE entrySum (
  context INTEGER PRIMARY KEY,
  -- The rules by which outlines were made, and the id of the commit.
  version INTEGER NOT NULL,
  id      TEXT NOT NULL,
  data    TEXT NOT NULL
);

-- What the rules of Stemma found in the sessions of a cluster (analysis/kept-findings.ts).
CREATE TABLE finding (
  no      INTEGER PRIMARY KEY,
  project INTEGER NOT NULL,
  cluster INTEGER NOT NULL,
  rule    TEXT NOT NULL,
  session TEXT,
  context TEXT,
  key     TEXT,
  at      TEXT,
  detail  TEXT NOT NULL,
  count   INTEGER NOT NULL
);
CREATE INDEX findingCluster ON finding(project, cluster);
CREATE INDEX findingRule ON finding(project, rule, at);
CREATE INDEX findingTime ON finding(project, at);

-- Commits by principal and time, for \`resolve\` (chain/principals.ts).
CREATE TABLE principalCommit (
  project   INTEGER NOT NULL,
  principal TEXT NOT NULL,
  createdAt INTEGER NOT NULL,
  context   INTEGER NOT NULL,
  PRIMARY KEY (project, principal, createdAt, context)
) WITHOUT ROWID;

-- The commits of a run with the same session, as sums: a graph finds the runs of a page without reading all commits (chain/families.ts).
CREATE TABLE runSum (
  project   INTEGER NOT NULL,
  run       INTEGER NOT NULL,
  -- Empty for commits of no session.
  sessionId TEXT NOT NULL,
  commits   INTEGER NOT NULL,
  -- Commits that were made by a fork in Stemma.
  forks     INTEGER NOT NULL,
  -- The last commit in recorded order, and the times of the earliest and the latest.
  last      INTEGER NOT NULL,
  oldest    INTEGER NOT NULL,
  newest    INTEGER NOT NULL,
  PRIMARY KEY (project, run, sessionId)
) WITHOUT ROWID;

-- The rows of the index that belong to the entries of a commit: its first entry has the row \`first\`, the next one the next row, and so on.
CREATE TABLE searchCommit (
  first   INTEGER PRIMARY KEY,
  context INTEGER NOT NULL,
  -- A digit for each entry: the place of its kind in the list of kinds (contract/kinds.ts).
  kinds   TEXT NOT NULL
);

-- Commits up to this one are indexed.
CREATE TABLE searchState (
  project INTEGER PRIMARY KEY,
  upTo    INTEGER NOT NULL
);

CREATE VIRTUAL TABLE searchWords USING fts5(words, content='', tokenize="unicode61 remove_diacritics 2 tokenchars '_'");

-- The sessions of a cluster of commits, as JSON, so that a list reads no commits (sessions/stored.ts).
CREATE TABLE sessionCluster (
  project INTEGER NOT NULL,
  -- The first run of the cluster, and all of them as a JSON list.
  run     INTEGER NOT NULL,
  runs    TEXT NOT NULL,
  -- Changes with everything that the sessions were read from.
  mark    TEXT NOT NULL,
  data    TEXT NOT NULL,
  -- The rules that were applied to it.
  rules   TEXT,
  PRIMARY KEY (project, run)
) WITHOUT ROWID;

${usageDefinitions}
-- FTS5 collects up to 8 MB of words in memory before it sorts them. With its default of 1 MB it sorts eight times as often.
INSERT INTO searchWords (searchWords, rank) VALUES ('hashsize', 8388608);
`;

/** The definitions for a schema: `derived`, or `temp` in place of a file. */
export const definitionsIn = (schema: 'derived' | 'temp'): string =>
  definitions.replaceAll(/^(CREATE (?:UNIQUE )?(?:VIRTUAL )?(?:TABLE|INDEX)|INSERT INTO) (\w+)/gm, `$1 ${schema}.$2`);

/** Each name with its definition, as SQLite stores it. */
export const definitionList: readonly (readonly [name: string, sql: string])[] = [
  ...definitions.matchAll(/^CREATE (?:UNIQUE )?(?:VIRTUAL )?(?:TABLE|INDEX) (\w+)[\s\S]*?(?=;$)/gm),
].map(([sql, name]) => [name as string, sql]);

/** The names of the tables. */
export const derivedTables: readonly string[] = [...definitions.matchAll(/^CREATE (?:VIRTUAL )?TABLE (\w+)/gm)].map(([, name]) => name as string);
