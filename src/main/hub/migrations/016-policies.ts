/** Work on a project sees neither the rows of other projects nor hashes of tokens. */
export const policies = [
  'ALTER TABLE project ENABLE ROW LEVEL SECURITY',
  // A session that has not chosen its project yet finds it here.
  "CREATE POLICY own ON project TO stemma_project USING (no = coalesce(nullif(current_setting('stemma.project', true), '')::integer, no))",
  'ALTER TABLE token ENABLE ROW LEVEL SECURITY',
  "CREATE POLICY own ON token TO stemma_project USING (project IS NULL OR project = current_setting('stemma.project')::integer)",
  // Older hubs read only the number and the name of a token in such work.
  'REVOKE SELECT ON token FROM stemma_project',
  'GRANT SELECT (no, name, project, shared) ON token TO stemma_project',
];
