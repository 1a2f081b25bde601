/** Agent templates. */
export const templates = /* sql */ `
-- Versions of a named agent template, each with its content.
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

-- One row each time an agent was started from a template and a context.
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
