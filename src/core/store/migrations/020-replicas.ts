/**
 * Replicas are set up on a machine, outside of the project. The project holds their names, and which objects each of them has.
 * `legacyPlace` is the place that an older version stored in the project. Nothing reads it: a project from elsewhere must not name places.
 */
export const replicas = /* sql */ `
CREATE TABLE replicaCopy (
  artifact INTEGER NOT NULL,
  replica  TEXT NOT NULL,
  project  INTEGER NOT NULL,
  at       INTEGER NOT NULL,
  PRIMARY KEY (artifact, replica)
) WITHOUT ROWID;
INSERT INTO replicaCopy (artifact, replica, project, at) SELECT artifact, tier, project, at FROM tierCopy;
DROP TABLE tierCopy;

CREATE TABLE replica (
  project     INTEGER NOT NULL,
  name        TEXT NOT NULL,
  legacyPlace TEXT,
  PRIMARY KEY (project, name)
) WITHOUT ROWID;
INSERT INTO replica (project, name, legacyPlace) SELECT project, name, place FROM tier;
DROP TABLE tier;
`;
