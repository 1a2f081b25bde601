/** Objects that are stored in several parts. */
export const parts = [
  // Objects that are too large for one file: their parts are objects of their own, in this order.
  `CREATE TABLE whole (
     project integer NOT NULL REFERENCES project(no),
     hash    bytea NOT NULL,
     type    text NOT NULL,
     size    bigint NOT NULL,
     parts   bytea[] NOT NULL,
     PRIMARY KEY (project, hash)
   )`,
  'ALTER TABLE whole ENABLE ROW LEVEL SECURITY',
  "CREATE POLICY own ON whole TO stemma_project USING (project = current_setting('stemma.project')::integer)",
  'GRANT SELECT, INSERT ON whole TO stemma_project',
];
