/** Model calls as they were sent: messages in pages, shapes, and the runtime's own records of the calls. */
export const requests = /* sql */ `
-- Messages of model calls are stored in pages: objects with the texts of \`count\` messages, numbered from \`first\`.
CREATE TABLE requestPage (
  first    INTEGER PRIMARY KEY,
  project  INTEGER NOT NULL,
  source   INTEGER NOT NULL REFERENCES source(no),
  count    INTEGER NOT NULL,
  artifact INTEGER NOT NULL REFERENCES artifact(no)
);

-- A message's number by the SHA-256 that runtimes name it by. Each hash was verified against the message's text.
CREATE TABLE requestMessage (
  project INTEGER NOT NULL,
  hash    BLOB NOT NULL,
  no      INTEGER NOT NULL,
  PRIMARY KEY (project, hash)
) WITHOUT ROWID;

-- The parts that stay the same from call to call: system prompt and tools, stored once per content.
CREATE TABLE requestShape (
  no      INTEGER PRIMARY KEY,
  project INTEGER NOT NULL,
  hash    BLOB NOT NULL,
  system  INTEGER REFERENCES artifact(no),
  tools   INTEGER REFERENCES artifact(no),
  -- All other members of the body, as JSON.
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

-- A message that a call names but that was never recorded. Lists refer to it by its negative number.
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
  -- The runtime's own record of the call: a byte range of an object.
  page         INTEGER NOT NULL REFERENCES artifact(no),
  start        INTEGER NOT NULL,
  size         INTEGER NOT NULL,
  at           INTEGER NOT NULL,
  model        TEXT,
  shape        INTEGER REFERENCES requestShape(no),
  -- The list of messages: the first \`keep\` of the base, then \`tail\`. Every few calls \`list\` holds the whole list,
  -- so that a walk along the bases stays short. \`steps\` is the length of the walk to the next whole list.
  base         INTEGER REFERENCES request(no),
  keep         INTEGER NOT NULL,
  tail         BLOB NOT NULL,
  list         BLOB,
  steps        INTEGER NOT NULL,
  messageCount INTEGER NOT NULL,
  -- The record of the reply's first line, which leads to its commit; without a reply, of the line before the call.
  replyRecord  TEXT,
  replyMessage TEXT,
  place        TEXT,
  input        INTEGER,
  output       INTEGER,
  cacheRead    INTEGER,
  cacheWrite   INTEGER,
  -- Why the messages, or the system prompt and tools, are not available; null if they are.
  flaw         TEXT,
  shapeFlaw    TEXT,
  -- Whether the rebuilt body has the recorded digest: 1 yes, 0 no (\`finding\` says why), null not checked yet.
  proved       INTEGER,
  finding      TEXT
);
CREATE UNIQUE INDEX requestId ON request(project, requestId);
CREATE INDEX requestConversationOf ON request(conversation);
`;
