/** The sessions that Stemma wrote for an agent to continue. What the agent adds to one belongs to the session of its commit. */
export const resumed = /* sql */ `
CREATE TABLE resumed (
  no        INTEGER PRIMARY KEY,
  project   INTEGER NOT NULL,
  sessionId TEXT NOT NULL,
  -- The commit that was handed to the agent.
  context   INTEGER NOT NULL REFERENCES context(seq)
);
CREATE UNIQUE INDEX resumedSession ON resumed(project, sessionId);
`;
