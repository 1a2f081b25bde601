/** What a card turn was given when it began, and its model calls. */
export const turnInputs = /* sql */ `
CREATE TABLE turnInput (
  turn    INTEGER PRIMARY KEY REFERENCES agentTurn(no),
  project INTEGER NOT NULL,
  at      INTEGER NOT NULL,
  -- [[cardId, digest of the card], …] as JSON, in the order of the model's input.
  cards   TEXT NOT NULL,
  -- [cardId, digest of the card] as JSON; null for a turn without a profile card.
  profile TEXT,
  -- The digest of the first call's prompt and messages.
  digest  TEXT NOT NULL
);

CREATE TABLE cardCall (
  no      INTEGER PRIMARY KEY,
  project INTEGER NOT NULL,
  turn    INTEGER NOT NULL REFERENCES agentTurn(no),
  -- The cards sys.rendered_prompt, sys.tools (if there are tools) and sys.parameters.
  box     INTEGER NOT NULL REFERENCES box(no),
  -- Number of cards of the output box that the model saw.
  outputs INTEGER NOT NULL,
  -- A last message that no card holds, such as the notice about the remaining steps.
  note    TEXT,
  -- input: a performer outside of Stemma read the input. stemma: Stemma sent it to a model.
  source  TEXT NOT NULL,
  digest  TEXT NOT NULL,
  at      INTEGER NOT NULL,
  -- {tokens, ms, cost, stop} as JSON; null where the performer did not report it.
  reply   TEXT
);
CREATE INDEX cardCallTurn ON cardCall(turn);
CREATE INDEX cardCallBox ON cardCall(box);
`;
