/** Settings of a project for all who work on it, and states of runs that were saved with commits. */
export const blackboard = /* sql */ `
CREATE TABLE setting (
  project INTEGER NOT NULL,
  name    TEXT NOT NULL,
  -- JSON.
  value   TEXT NOT NULL,
  PRIMARY KEY (project, name)
) WITHOUT ROWID;

CREATE TABLE blackboard (
  no       INTEGER PRIMARY KEY,
  project  INTEGER NOT NULL,
  context  INTEGER NOT NULL REFERENCES context(seq),
  at       INTEGER NOT NULL,
  -- The fields of the state, as JSON.
  state    TEXT NOT NULL,
  -- The todo, knowledge and experience blocks as they were, as JSON; null unless they were to be reproduced.
  contexts TEXT
);
CREATE INDEX blackboardContext ON blackboard(context);
`;
