/** Waits for an answer in a space: of runs, and of people. A run also has its wait in its own row, while it lasts. */
export const waits = /* sql */ `
CREATE TABLE spaceWait (
  -- The message that set the wait.
  message INTEGER PRIMARY KEY REFERENCES spaceMessage(no),
  project INTEGER NOT NULL,
  space   INTEGER NOT NULL REFERENCES space(no),
  waiter  INTEGER NOT NULL REFERENCES entity(no),
  -- The only sender whose message ends it; null if a reply or any person does.
  "from"  INTEGER REFERENCES entity(no),
  until   INTEGER NOT NULL,
  endedAt INTEGER,
  -- The message that ended it; null if its time ran out.
  answer  INTEGER REFERENCES spaceMessage(no)
);
CREATE INDEX spaceWaitOpen ON spaceWait(space) WHERE endedAt IS NULL;
`;
