/** What jobs belong to, the questions that they ask, and the sessions that their agents write. */
export const runner = /* sql */ `
ALTER TABLE job ADD COLUMN title TEXT NOT NULL DEFAULT '';
ALTER TABLE job ADD COLUMN who TEXT;
ALTER TABLE job ADD COLUMN space TEXT;
ALTER TABLE job ADD COLUMN ticketId TEXT;
-- The rule that started it; null if a person did.
ALTER TABLE job ADD COLUMN rule TEXT;
-- The work by which a later job finds what this one has done: a later call of a resumed run is other work.
ALTER TABLE job ADD COLUMN work TEXT NOT NULL DEFAULT '';
-- The newest commit of the work, from which a later job continues.
ALTER TABLE job ADD COLUMN tip TEXT;
CREATE INDEX jobWork ON job(project, work);

CREATE TABLE jobQuestion (
  job       INTEGER NOT NULL REFERENCES job(no),
  requestId TEXT NOT NULL,
  toolName  TEXT NOT NULL,
  arguments TEXT NOT NULL,
  askedAt   INTEGER NOT NULL,
  -- Null until a person answers, perhaps in another process.
  allow     INTEGER,
  note      TEXT,
  PRIMARY KEY (job, requestId)
) WITHOUT ROWID;

-- Sessions that command-line agents write for jobs. An import leaves them out: their content is in the chain already.
CREATE TABLE jobSession (
  project   INTEGER NOT NULL,
  sessionId TEXT NOT NULL,
  job       INTEGER NOT NULL REFERENCES job(no),
  PRIMARY KEY (project, sessionId)
) WITHOUT ROWID;
`;
