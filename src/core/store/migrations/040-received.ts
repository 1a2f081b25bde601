/** What other machines sent through a hub: the items that were refused, and the starts that wait for a person. */
export const received = /* sql */ `
CREATE TABLE teamRefused (
  no      INTEGER PRIMARY KEY,
  project INTEGER NOT NULL,
  hub     TEXT NOT NULL,
  kind    TEXT NOT NULL,
  key     TEXT NOT NULL,
  digest  TEXT NOT NULL,
  -- The item, as JSON.
  body    TEXT NOT NULL,
  -- Who sent it, as JSON; null if the hub did not say.
  sender  TEXT,
  reason  TEXT NOT NULL
);
CREATE UNIQUE INDEX teamRefusedItem ON teamRefused(project, hub, kind, key, digest);

-- Rows that a pull stored and that could start work here: turns, starts of tickets, batches and versions of experiments.
CREATE TABLE received (
  project   INTEGER NOT NULL,
  kind      TEXT NOT NULL,
  row       INTEGER NOT NULL,
  -- The id of the hub's project.
  hub       TEXT NOT NULL,
  -- Who sent the version that is valid now; null if the hub did not say.
  sender    TEXT,
  isLink    INTEGER NOT NULL,
  at        INTEGER NOT NULL,
  -- When a person of this machine allowed it.
  allowedAt INTEGER,
  PRIMARY KEY (project, kind, row)
) WITHOUT ROWID;

-- Earlier versions did not record what a pull stored. Work that is still open then waits for a person.
INSERT INTO received (project, kind, row, hub, sender, isLink, at)
  SELECT project, kind, row, MIN(hub), NULL, 0, 0 FROM teamItem
   WHERE kind IN ('agentTurn', 'ticketEvent', 'batch', 'experimentVersion') AND row IS NOT NULL GROUP BY project, kind, row;
`;
