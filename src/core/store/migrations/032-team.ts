/** What a project last exchanged with the hub of a team. */
export const team = /* sql */ `
CREATE TABLE teamItem (
  project INTEGER NOT NULL,
  -- The id of the hub's project. Its address stays on the machine.
  hub     TEXT NOT NULL,
  kind    TEXT NOT NULL,
  -- What names the row in every project.
  key     TEXT NOT NULL,
  -- The digest that both sides hold.
  digest  TEXT NOT NULL,
  -- The row, where only its digest names it.
  row     INTEGER,
  PRIMARY KEY (project, hub, kind, key)
) WITHOUT ROWID;
`;
