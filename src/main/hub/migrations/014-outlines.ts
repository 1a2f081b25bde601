/** Outlines of commits, for people who open a project without a clone. */
export const outlines = [
  // What a commit holds, without its texts: made of its content at the first question, so that readers need not fetch it.
  `CREATE TABLE outline (
     project integer NOT NULL REFERENCES project(no),
     hash    bytea NOT NULL,
     format  text NOT NULL,
     parser  integer NOT NULL,
     data    bytea NOT NULL,
     PRIMARY KEY (project, hash, format, parser)
   )`,
  'ALTER TABLE outline ENABLE ROW LEVEL SECURITY',
  "CREATE POLICY own ON outline TO stemma_project USING (project = current_setting('stemma.project')::integer)",
  'GRANT SELECT, INSERT ON outline TO stemma_project',
];
