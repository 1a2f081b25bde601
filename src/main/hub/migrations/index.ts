// migrations: the schema of the hub's PostgreSQL database, one step after the other.
// Kysely runs the steps that a database does not have yet, in order.
// A released step never changes.
import { type Kysely, sql } from 'kysely';
import type { JsonObject } from '../../../core/base/index.js';
import { aboutOf } from '../names.js';

/** Every statement of the first step: projects, tokens, items, objects in packs, and who did what. */
const first = `
CREATE TABLE project (
  no         integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id         uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
  name       text NOT NULL UNIQUE,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE token (
  no         integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- SHA-256 of the token. The token itself is shown once and stored nowhere.
  hash       bytea NOT NULL UNIQUE,
  name       text NOT NULL,
  role       text NOT NULL,
  -- Null: every project.
  project    integer REFERENCES project(no),
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz,
  revoked_at timestamptz
);
-- Every version of every item. The last that arrived is valid.
CREATE TABLE item (
  project integer NOT NULL REFERENCES project(no),
  seq     bigint NOT NULL,
  kind    text NOT NULL,
  -- SHA-256 of the kind and of what names the row: names may be longer than an index takes.
  name    bytea NOT NULL,
  digest  bytea NOT NULL,
  -- The item as JSON in UTF-8. Not jsonb: that refuses texts with NUL, which transcripts have.
  body    bytea NOT NULL,
  by      integer REFERENCES token(no),
  at      timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (project, seq)
);
CREATE INDEX item_of ON item (project, name, seq);
-- Objects that arrived together, compressed as one file of the bucket.
CREATE TABLE pack (
  no      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  project integer NOT NULL REFERENCES project(no),
  -- BLAKE3 of the file, which is its name in the bucket.
  hash    bytea NOT NULL,
  size    bigint NOT NULL
);
CREATE TABLE object (
  project integer NOT NULL REFERENCES project(no),
  hash    bytea NOT NULL,
  type    text NOT NULL,
  pack    bigint NOT NULL REFERENCES pack(no),
  start   bigint NOT NULL,
  size    bigint NOT NULL,
  PRIMARY KEY (project, hash)
);
CREATE TABLE audit (
  no      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  project integer REFERENCES project(no),
  at      timestamptz NOT NULL DEFAULT now(),
  by      text NOT NULL,
  action  text NOT NULL,
  count   bigint NOT NULL
);
CREATE INDEX audit_of ON audit (project, no);
-- Work on a project runs as this role, which sees the rows of that project only.
DO $$ BEGIN CREATE ROLE stemma_project NOLOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$;
GRANT stemma_project TO CURRENT_USER;
GRANT SELECT, INSERT ON item, pack, object, audit TO stemma_project;
GRANT SELECT ON project, token TO stemma_project`;

const guarded = ['item', 'pack', 'object', 'audit'];

const statements = (text: string): string[] => {
  // The DO block has semicolons of its own.
  const [before = '', block = '', after = ''] = text.split(/(DO \$\$.*\$\$;)/s);
  return [...before.split(';\n'), block, ...after.split(';\n')].map((each) => each.trim()).filter((each) => each !== '' && each !== ';');
};

/** Share links: tokens that open one commit with what comes before it. */
const share = [
  // The name of the commit that a link opens, and the token that made the link.
  'ALTER TABLE token ADD COLUMN shared bytea, ADD COLUMN made_by integer REFERENCES token(no)',
  // The name of the item that an item continues (a commit its parent) or belongs to.
  'ALTER TABLE item ADD COLUMN about bytea',
  'CREATE INDEX item_about ON item (project, about) WHERE about IS NOT NULL',
];

/** Who uses a project now: when each token was last seen. */
const presence = `
CREATE TABLE presence (
  project integer NOT NULL REFERENCES project(no),
  token   integer NOT NULL REFERENCES token(no),
  name    text NOT NULL,
  at      timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (project, token)
);
ALTER TABLE presence ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON presence TO stemma_project USING (project = current_setting('stemma.project')::integer);
GRANT SELECT, INSERT, UPDATE ON presence TO stemma_project`;

/** Fills `about` for the items that the hub holds. */
async function fillAbout(db: Kysely<unknown>): Promise<void> {
  const rowsAtOnce = 1_000;
  for (let last: { project: number; seq: string } | undefined = { project: 0, seq: '0' }; last !== undefined; ) {
    const { rows }: { rows: { project: number; seq: string; kind: string; body: Buffer }[] } = await sql<{
      project: number;
      seq: string;
      kind: string;
      body: Buffer;
    }>`SELECT project, seq, kind, body FROM item WHERE (project, seq) > (${last.project}, ${last.seq}::bigint) ORDER BY project, seq LIMIT ${rowsAtOnce}`.execute(
      db,
    );
    for (const { project, seq, kind, body } of rows) {
      const about = aboutOf(kind, JSON.parse(body.toString()) as JsonObject);
      if (about) await sql`UPDATE item SET about = ${about} WHERE project = ${project} AND seq = ${seq}::bigint`.execute(db);
    }
    last = rows.at(-1);
  }
}

/**
 * Members who sign in at an issuer. They are rows of `token` whose hash nobody has a token for, so that an older hub keeps working and
 * what such a member wrote has an author like everything else.
 */
const identity = ['ALTER TABLE token ADD COLUMN identity text', 'CREATE INDEX token_of_identity ON token (identity) WHERE identity IS NOT NULL'];

/** Links to a comparison: the name of the other commit. */
const comparison = ['ALTER TABLE token ADD COLUMN against bytea'];

/** Retention: how long the contents of a project stay. */
const retention = [
  // Days that contents stay after they arrived. Null: for ever.
  'ALTER TABLE project ADD COLUMN retention integer',
  // When a file of the bucket arrived. Files from before this step count as new.
  'ALTER TABLE pack ADD COLUMN at timestamptz NOT NULL DEFAULT now()',
  'ALTER TABLE pack ADD COLUMN removed_at timestamptz',
  // Set when the content of an object was removed. Its row stays, so that commits can still name it.
  'ALTER TABLE object ADD COLUMN expired_at timestamptz',
  // A later push brings the content back.
  'GRANT UPDATE (pack, start, size, expired_at) ON object TO stemma_project',
  'CREATE INDEX object_in_pack ON object (pack)',
];

/** Objects that are stored in several parts. */
const parts = [
  // Objects that are too large for one file: their parts are objects of their own, in this order.
  `CREATE TABLE whole (
     project integer NOT NULL REFERENCES project(no),
     hash    bytea NOT NULL,
     type    text NOT NULL,
     size    bigint NOT NULL,
     parts   bytea[] NOT NULL,
     PRIMARY KEY (project, hash)
   )`,
  'ALTER TABLE whole ENABLE ROW LEVEL SECURITY',
  "CREATE POLICY own ON whole TO stemma_project USING (project = current_setting('stemma.project')::integer)",
  'GRANT SELECT, INSERT ON whole TO stemma_project',
];

/** Outlines of commits, for people who open a project without a clone. */
const outlines = [
  // What a commit holds, without its texts: made of its content at the first question, so that readers need not fetch it.
  `CREATE TABLE outline (
     project integer NOT NULL REFERENCES project(no),
     hash    bytea NOT NULL,
     format  text NOT NULL,
     parser  integer NOT NULL,
     data    bytea NOT NULL,
     PRIMARY KEY (project, hash, format, parser)
   )`,
  'ALTER TABLE outline ENABLE ROW LEVEL SECURITY',
  "CREATE POLICY own ON outline TO stemma_project USING (project = current_setting('stemma.project')::integer)",
  'GRANT SELECT, INSERT ON outline TO stemma_project',
];

/** What a call read or wrote, by kinds, numbers of records and hashes: never content. */
const auditedWhat = ['ALTER TABLE audit ADD COLUMN what text'];

/** Work on a project sees neither the rows of other projects nor hashes of tokens. */
const policies = [
  'ALTER TABLE project ENABLE ROW LEVEL SECURITY',
  // A session that has not chosen its project yet finds it here.
  "CREATE POLICY own ON project TO stemma_project USING (no = coalesce(nullif(current_setting('stemma.project', true), '')::integer, no))",
  'ALTER TABLE token ENABLE ROW LEVEL SECURITY',
  "CREATE POLICY own ON token TO stemma_project USING (project IS NULL OR project = current_setting('stemma.project')::integer)",
  // Older hubs read only the number and the name of a token in such work.
  'REVOKE SELECT ON token FROM stemma_project',
  'GRANT SELECT (no, name, project, shared) ON token TO stemma_project',
];

const execute = async (db: Kysely<unknown>, all: readonly string[]): Promise<void> => {
  for (const statement of all) await sql.raw(statement).execute(db);
};

/** A step that only executes statements. */
const step = (all: readonly string[]) => ({ up: (db: Kysely<unknown>): Promise<void> => execute(db, all) });

/** The steps by name, in order. */
export const migrations = {
  '001-first': step([
    ...statements(first),
    ...guarded.flatMap((table) => [
      `ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY`,
      `CREATE POLICY own ON ${table} TO stemma_project USING (project = current_setting('stemma.project')::integer)`,
    ]),
  ]),
  '002-share': {
    up: async (db: Kysely<unknown>): Promise<void> => {
      await execute(db, share);
      await fillAbout(db);
    },
  },
  '003-presence': step(presence.split(';\n')),
  '010-identity': step(identity),
  '011-comparison': step(comparison),
  '012-retention': step(retention),
  '013-parts': step(parts),
  '014-outlines': step(outlines),
  '015-audit': step(auditedWhat),
  '016-policies': step(policies),
};
