/** Compressed blocks and chunks of objects, retention, and which replicas hold an object. */
export const storage = /* sql */ `
-- Neighboring objects compressed together. An object is a byte range of the decompressed block.
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
-- A large object consists of other objects: their numbers and sizes, and a checksum of the list.
ALTER TABLE artifact ADD COLUMN chunks BLOB;
-- When an ephemeral object expires.
ALTER TABLE artifact ADD COLUMN expiresAt INTEGER;
-- When the same content was last stored again: garbage counts as young from then.
ALTER TABLE artifact ADD COLUMN touchedAt INTEGER;
-- Why the content is gone: 'expired', 'evicted' (a replica holds it) or 'lost' (a repair could not restore it).
ALTER TABLE artifact ADD COLUMN gone TEXT;
CREATE INDEX artifactExpiry ON artifact(expiresAt) WHERE expiresAt IS NOT NULL;
CREATE INDEX artifactPack ON artifact(pack) WHERE pack IS NOT NULL;
CREATE INDEX artifactBlock ON artifact(block) WHERE block IS NOT NULL;

-- Which replica holds which object.
CREATE TABLE tierCopy (
  artifact INTEGER NOT NULL,
  tier     TEXT NOT NULL,
  project  INTEGER NOT NULL,
  at       INTEGER NOT NULL,
  PRIMARY KEY (artifact, tier)
) WITHOUT ROWID;

-- The progress of background work, by its name.
CREATE TABLE progress (
  project INTEGER NOT NULL,
  name    TEXT NOT NULL,
  value   INTEGER NOT NULL,
  PRIMARY KEY (project, name)
) WITHOUT ROWID;
`;
