/** Model calls as they were sent: messages in pages, shapes, and the runtime's own records of the calls. */
export const requests = /* sql */ `
-- Messages of model calls lie in pages: artifacts that hold the texts of \`count\` messages, numbered from \`first\` on.
CREATE TABLE requestPage (
  first    INTEGER PRIMARY KEY,
  project  INTEGER NOT NULL,
  source   INTEGER NOT NULL REFERENCES source(no),
  count    INTEGER NOT NULL,
  artifact INTEGER NOT NULL REFERENCES artifact(no)
);

-- A message's number by the SHA-256 that runtimes name it by. Only what was found to have that hash stands here.
CREATE TABLE requestMessage (
  project INTEGER NOT NULL,
  hash    BLOB NOT NULL,
  no      INTEGER NOT NULL,
  PRIMARY KEY (project, hash)
) WITHOUT ROWID;

-- What stays the same from call to call: system prompt and tools, once by content.
CREATE TABLE requestShape (
  no      INTEGER PRIMARY KEY,
  project INTEGER NOT NULL,
  hash    BLOB NOT NULL,
  system  INTEGER REFERENCES artifact(no),
  tools   INTEGER REFERENCES artifact(no),
  -- Members of other names, as JSON.
  rest    TEXT
);
CREATE UNIQUE INDEX requestShapeHash ON requestShape(project, hash);

-- The main conversation of a source (agentId '') or one subagent's.
CREATE TABLE requestConversation (
  no        INTEGER PRIMARY KEY,
  project   INTEGER NOT NULL,
  source    INTEGER NOT NULL REFERENCES source(no),
  sessionId TEXT NOT NULL,
  agentId   TEXT NOT NULL
);
CREATE UNIQUE INDEX requestConversationName ON requestConversation(source, sessionId, agentId);
CREATE INDEX requestConversationSession ON requestConversation(project, sessionId);

-- A message that a call of the source names and that cannot be had. Lists name it by the negative number.
CREATE TABLE requestGap (
  no      INTEGER PRIMARY KEY,
  project INTEGER NOT NULL,
  source  INTEGER NOT NULL REFERENCES source(no),
  hash    BLOB NOT NULL,
  reason  TEXT NOT NULL
);
CREATE UNIQUE INDEX requestGapHash ON requestGap(source, hash);

CREATE TABLE request (
  no           INTEGER PRIMARY KEY,
  project      INTEGER NOT NULL,
  requestId    TEXT NOT NULL,
  conversation INTEGER NOT NULL REFERENCES requestConversation(no),
  -- The runtime's own record of the call, as bytes of an artifact.
  page         INTEGER NOT NULL REFERENCES artifact(no),
  start        INTEGER NOT NULL,
  size         INTEGER NOT NULL,
  at           INTEGER NOT NULL,
  model        TEXT,
  shape        INTEGER REFERENCES requestShape(no),
  -- The list of messages: the first \`keep\` of the base's, then \`tail\`; \`list\` repeats it whole every so often,
  -- so that no walk is long. \`steps\` counts the walk to the next such.
  base         INTEGER REFERENCES request(no),
  keep         INTEGER NOT NULL,
  tail         BLOB NOT NULL,
  list         BLOB,
  steps        INTEGER NOT NULL,
  messageCount INTEGER NOT NULL,
  -- The record of the reply's first line, by which its commit is found; of the line before the call where none came.
  replyRecord  TEXT,
  replyMessage TEXT,
  place        TEXT,
  input        INTEGER,
  output       INTEGER,
  cacheRead    INTEGER,
  cacheWrite   INTEGER,
  -- Why its list of messages, or its system prompt and tools, cannot be had; null where they can.
  flaw         TEXT,
  shapeFlaw    TEXT,
  -- Whether the rebuilt body has the recorded digest: 1 it has, 0 not (\`finding\` says why), null not looked at yet.
  proved       INTEGER,
  finding      TEXT
);
CREATE UNIQUE INDEX requestId ON request(project, requestId);
CREATE INDEX requestConversationOf ON request(conversation);
`;

/** Calls that were captured on the wire. */
export const captures = /* sql */ `
-- Whose words the body is in; null for what a runtime recorded of its own.
ALTER TABLE request ADD COLUMN provider TEXT;
-- The commit that holds the answer to a captured call, and there its first entry.
ALTER TABLE request ADD COLUMN context INTEGER;
ALTER TABLE request ADD COLUMN replyKey TEXT;
CREATE INDEX requestContext ON request(context) WHERE context IS NOT NULL;

-- By what an answer is known whose transcript is not imported yet: the provider's id of the message, of its tool calls, its first words.
CREATE TABLE requestReply (
  project INTEGER NOT NULL,
  mark    TEXT NOT NULL,
  request INTEGER NOT NULL REFERENCES request(no),
  PRIMARY KEY (project, mark, request)
) WITHOUT ROWID;
CREATE INDEX requestReplyOf ON requestReply(request);
`;
