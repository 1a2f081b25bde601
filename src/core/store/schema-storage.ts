/** Where objects lie once they have been packed closer, how long they stay, and who else holds them. */
export const storage = /* sql */ `
-- Neighboring objects compressed as one: an object is a range of the plain block.
CREATE TABLE block (
  no         INTEGER PRIMARY KEY,
  project    INTEGER NOT NULL,
  pack       INTEGER NOT NULL REFERENCES pack(no),
  packStart  INTEGER NOT NULL,
  storedSize INTEGER NOT NULL,
  size       INTEGER NOT NULL
);
CREATE INDEX blockPack ON block(pack);

ALTER TABLE artifact ADD COLUMN block INTEGER REFERENCES block(no);
ALTER TABLE artifact ADD COLUMN blockStart INTEGER;
-- A large object is other objects one after the other: their numbers and sizes, and a sum that proves the list.
ALTER TABLE artifact ADD COLUMN chunks BLOB;
-- When an ephemeral object's time is over.
ALTER TABLE artifact ADD COLUMN expiresAt INTEGER;
-- When the same content was last put again: garbage is young again then.
ALTER TABLE artifact ADD COLUMN touchedAt INTEGER;
-- Why there is no content here any more: 'expired', 'evicted' (a tier holds it), 'lost' (a repair gave it up).
ALTER TABLE artifact ADD COLUMN gone TEXT;
CREATE INDEX artifactExpiry ON artifact(expiresAt) WHERE expiresAt IS NOT NULL;
CREATE INDEX artifactPack ON artifact(pack) WHERE pack IS NOT NULL;
CREATE INDEX artifactBlock ON artifact(block) WHERE block IS NOT NULL;

-- Which backing store holds which object.
CREATE TABLE tierCopy (
  artifact INTEGER NOT NULL,
  tier     TEXT NOT NULL,
  project  INTEGER NOT NULL,
  at       INTEGER NOT NULL,
  PRIMARY KEY (artifact, tier)
) WITHOUT ROWID;

-- How far work in the background has come, by its name.
CREATE TABLE progress (
  project INTEGER NOT NULL,
  name    TEXT NOT NULL,
  value   INTEGER NOT NULL,
  PRIMARY KEY (project, name)
) WITHOUT ROWID;
`;

export const tiers = /* sql */ `
-- Backing stores of the project: where they are, never who may use them.
CREATE TABLE tier (
  project INTEGER NOT NULL,
  name    TEXT NOT NULL,
  -- Kind, place and what it takes, as JSON.
  place   TEXT NOT NULL,
  PRIMARY KEY (project, name)
) WITHOUT ROWID;
`;

export const templates = /* sql */ `
-- What kind of agent: versions of a name, each with its content.
CREATE TABLE template (
  no        INTEGER PRIMARY KEY,
  project   INTEGER NOT NULL,
  name      TEXT NOT NULL,
  version   INTEGER NOT NULL,
  artifact  INTEGER NOT NULL REFERENCES artifact(no),
  author    TEXT,
  createdAt INTEGER NOT NULL
);
CREATE UNIQUE INDEX templateVersion ON template(project, name, version);

-- Each time that a template and a context were put together to start an agent.
CREATE TABLE instantiation (
  no        INTEGER PRIMARY KEY,
  project   INTEGER NOT NULL,
  template  TEXT NOT NULL,
  context   INTEGER REFERENCES context(seq),
  principal TEXT,
  machine   TEXT,
  at        INTEGER NOT NULL
);
`;
