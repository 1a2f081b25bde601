import { type Generated, Kysely, PostgresDialect, sql, type Transaction } from 'kysely';
import pg from 'pg';
import { StemmaError } from '../../core/base/index.js';
import type { HubRole } from '../../core/sync/index.js';
import type { PoolUse } from './metrics.js';
import { migrate } from './migrate.js';
import { migrations } from './migrations/index.js';

/** The tables of the hub. The migrations explain their columns. */
export interface Tables {
  project: { no: Generated<number>; id: Generated<string>; name: string; created_at: Generated<Date>; retention: number | null };
  token: {
    no: Generated<number>;
    hash: Buffer;
    name: string;
    role: HubRole;
    project: number | null;
    created_at: Generated<Date>;
    expires_at: Date | null;
    revoked_at: Date | null;
    /** The verified name of a person who signs in at the issuer. Null for a token. */
    identity: string | null;
    /** For a share link: the name of the shared commit. */
    shared: Buffer | null;
    /** For a link to a comparison: the name of the other commit. */
    against: Buffer | null;
    /** For a share link: the number of the token that made it. */
    made_by: number | null;
  };
  item: {
    project: number;
    seq: string;
    kind: string;
    name: Buffer;
    digest: Buffer;
    body: Buffer;
    by: number | null;
    at: Generated<Date>;
    about: Buffer | null;
  };
  pack: { no: Generated<string>; project: number; hash: Buffer; size: string; at: Generated<Date>; removed_at: Date | null };
  object: { project: number; hash: Buffer; type: string; pack: string; start: string; size: string; expired_at: Date | null };
  whole: { project: number; hash: Buffer; type: string; size: string; parts: Buffer[] };
  outline: { project: number; hash: Buffer; format: string; parser: number; data: Buffer };
  presence: { project: number; token: number; name: string; at: Generated<Date> };
  audit: {
    no: Generated<string>;
    project: number | null;
    at: Generated<Date>;
    by: string;
    action: string;
    count: string;
    what: Generated<string | null>;
  };
}

/** A transaction that sees the rows of one project only. Row-level security enforces this for every query. */
export type InProject = Transaction<Tables>;

interface ProjectWork<T> {
  /** True if a crash may lose everything that the work writes. */
  readonly isRead?: boolean;
  /** Returns the line of the audit log about the result, if the call is audited. */
  readonly note?: (result: T) => AuditNote | undefined;
}

/** A line of the audit log. */
interface AuditNote {
  /** The number of the token of the caller. */
  readonly by: number;
  readonly action: string;
  readonly count: number;
  /** The kinds, numbers and hashes of the items that were read or written. */
  readonly what?: string | undefined;
}

/** The hub's database. */
export interface HubDatabase {
  readonly all: Kysely<Tables>;
  inProject<T>(project: number, work: (tx: InProject) => Promise<T>, options?: ProjectWork<T>): Promise<T>;
  pool(): PoolUse;
  close(): Promise<void>;
}

const connections = 10;

/** Connects and brings the schema up to date. Several hubs may start at once. @throws UNAVAILABLE if the database does not answer. */
export async function openHubDatabase(url: string): Promise<HubDatabase> {
  const pool = new pg.Pool({ connectionString: url, max: connections });
  // A lost idle connection is replaced at its next use.
  pool.on('error', () => {});
  const all = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  const database: HubDatabase = {
    all,
    inProject: (project, work, { isRead = false, note } = {}) =>
      all.connection().execute(async (connection) => {
        try {
          await sql.raw(beginSql(project, isRead)).execute(connection);
          const result = await work(connection as InProject);
          await sql.raw(commitSql(project, note?.(result))).execute(connection);
          return result;
        } catch (error) {
          // A lost connection has rolled back its transaction already.
          await sql`ROLLBACK`.execute(connection).catch(() => {});
          throw error;
        }
      }),
    pool: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    close: () => all.destroy(),
  };
  try {
    await migrate(all as unknown as Kysely<unknown>, migrations);
    await proveUsable(database);
  } catch (error) {
    await all.destroy();
    const { message } = error as Error;
    throw new StemmaError(
      'UNAVAILABLE',
      `The hub's database cannot be used: ${message}. Check --database and the rights of its user.`,
      { reason: message },
      { cause: error },
    );
  }
  return database;
}

/** Checks that the database accepts work on a project, which runs under a separate database role. @throws the error of the database. */
export async function proveUsable({ inProject }: HubDatabase): Promise<void> {
  await inProject(0, (tx) => tx.selectFrom('item').select('seq').limit(1).execute(), { isRead: true });
}

/**
 * Begins a transaction that sees one project. It is one text without parameters, because such a text can hold several statements and saves round
 * trips: a hub mostly waits for its database. A read does not sync the disk, so a crash may lose its line in the audit log.
 */
const beginSql = (project: number, isRead: boolean): string =>
  `BEGIN; SET LOCAL ROLE stemma_project; SET LOCAL stemma.project = ${pg.escapeLiteral(String(project))}${isRead ? '; SET LOCAL synchronous_commit = off' : ''}`;

const commitSql = (project: number, note: AuditNote | undefined): string =>
  note === undefined
    ? 'COMMIT'
    : `INSERT INTO audit (project, by, action, count, what)
       SELECT ${Number(project)}, name, ${pg.escapeLiteral(note.action)}, ${Number(note.count)}, ${note.what === undefined ? 'NULL' : pg.escapeLiteral(note.what)}
         FROM token WHERE no = ${Number(note.by)}; COMMIT`;
