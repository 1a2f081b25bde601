/** Recordings of running agents, so that any process can checkpoint the turn in progress before the agent writes a ticket. */
export const followed = /* sql */ `
CREATE TABLE followed (
  no          INTEGER PRIMARY KEY,
  project     INTEGER NOT NULL,
  -- The followed files and folders, as a JSON list.
  places      TEXT NOT NULL,
  -- Only sessions in this directory or below it.
  cwd         TEXT,
  granularity TEXT NOT NULL,
  principal   TEXT,
  ticketId    TEXT,
  machine     TEXT,
  -- The session that has the principal, once it is known.
  sessionId   TEXT,
  since       INTEGER NOT NULL
);
CREATE INDEX followedPrincipal ON followed(project, principal);
`;
