import { type Generated, Kysely, PostgresDialect, type PostgresPool, type PostgresPoolClient, sql, type Transaction } from 'kysely';
import pg from 'pg';
import { StemmaError, stringAt, unavailable } from '../../core/base/index.js';
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

interface AuditLine extends Omit<AuditNote, 'by'> {
  readonly project: number | null;
  readonly by: string;
}

/** Adds a line to the audit log. */
export const addToAudit = (all: Kysely<Tables>, line: AuditLine): Promise<unknown> =>
  all
    .insertInto('audit')
    .values({ ...line, count: String(line.count) })
    .execute();

/** Rows in parts that one statement can store: PostgreSQL takes at most 65,535 parameters. */
export function* inStatements<Row>(rows: readonly Row[]): Generator<readonly Row[]> {
  for (let at = 0; at < rows.length; at += 5_000) yield rows.slice(at, at + 5_000);
}

interface ProjectWork<T> {
  /** True if a crash may lose everything that the work writes. */
  readonly isRead?: boolean;
  /** Returns the line of the audit log about the result, if the call is audited. */
  readonly note?: (result: T) => AuditNote | undefined;
}

interface AuditNote {
  /** The number of the token of the caller. */
  readonly by: number;
  readonly action: string;
  readonly count: number;
  /** The kinds, numbers and hashes of the items that were read or written. */
  readonly what?: string | undefined;
}

export interface HubDatabase {
  readonly all: Kysely<Tables>;
  inProject<T>(project: number, work: (tx: InProject) => Promise<T>, options?: ProjectWork<T>): Promise<T>;
  /** A number for the database: a backup that is restored lies in another one. Undefined if the server does not say. */
  readonly mark: number | undefined;
  pool(): PoolUse;
  close(): Promise<void>;
}

/** `graceMs`: milliseconds after `statementMs`, until the hub gives up a database that did not end the statement. */
const usual = { connections: 10, connectMs: 10_000, statementMs: 30_000, graceMs: 5_000 };

/** Connects and updates the schema. A lost connection ends only the call that used it. @throws UNAVAILABLE if the database does not answer */
export async function openHubDatabase(url: string, given: Partial<typeof usual> = {}): Promise<HubDatabase> {
  const limits = { ...usual, ...given };
  const pool = poolOf({
    connectionString: url,
    max: limits.connections,
    connectionTimeoutMillis: limits.connectMs,
    // The server ends a statement first, if it can still answer.
    query_timeout: limits.statementMs + limits.graceMs,
    keepAlive: true,
  });
  const all = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: guarded(pool) }) });
  const database: Omit<HubDatabase, 'mark'> = {
    all,
    inProject: (project, work, { isRead = false, note } = {}) =>
      all.connection().execute(async (connection) => {
        try {
          await sql.raw(beginSql(project, isRead, limits.statementMs)).execute(connection);
          const result = await work(connection as InProject);
          await sql.raw(commitSql(project, note?.(result))).execute(connection);
          return result;
        } catch (error) {
          // A lost connection has rolled back its transaction already.
          if (!isLost(error)) await sql`ROLLBACK`.execute(connection).catch(() => {});
          throw error;
        }
      }),
    pool: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    close: () => all.destroy(),
  };
  try {
    await prepare(url, limits);
    await proveUsable(database);
    return { ...database, mark: await markOf(all) };
  } catch (error) {
    await all.destroy();
    const { message } = (error as Error).cause instanceof Error ? ((error as Error).cause as Error) : (error as Error);
    const problem = `The hub's database cannot be used: ${message}. Check --database and the rights of its user.`;
    throw unavailable(problem, { reason: message }, { cause: error });
  }
}

async function markOf(all: Kysely<Tables>): Promise<number | undefined> {
  const about = sql<{ mark: string }>`SELECT left(md5(system_identifier || ' ' || oid), 12) AS mark
    FROM pg_control_system(), pg_database WHERE datname = current_database()`;
  const { rows } = await about.execute(all).catch(() => ({ rows: [] }));
  return rows[0] && Number.parseInt(rows[0].mark, 16);
}

/** Brings the schema up to date over connections of its own, because a step may take longer than a call. */
async function prepare(url: string, { connectMs }: typeof usual): Promise<void> {
  const steps = new Kysely<unknown>({
    dialect: new PostgresDialect({ pool: poolOf({ connectionString: url, max: 3, connectionTimeoutMillis: connectMs }) }),
  });
  try {
    await migrate(steps, migrations);
  } finally {
    await steps.destroy();
  }
}

/** A pool whose connections may be lost at any time: without a listener, an error of a connection in use would end the process. */
function poolOf(config: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool(config);
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

/** The pool with errors that callers understand. It does not use a connection again that was lost or that did not answer in time. */
const guarded = (pool: pg.Pool): PostgresPool => ({
  connect: async () => {
    const client = await pool.connect().catch((error: unknown) => {
      throw asAnswer(error);
    });
    let mustClose = false;
    const query = (text: string, values: readonly unknown[]) =>
      client.query(text, [...values]).catch((error: unknown) => {
        const answer = asAnswer(error);
        mustClose ||= isLost(answer);
        throw answer;
      });
    return { query: query as unknown as PostgresPoolClient['query'], release: () => client.release(mustClose) };
  },
  end: () => pool.end(),
});

/** Classes of PostgreSQL's error codes that the values of a call cause: wrong, too large, or twice in one statement. */
const valueErrors = /^(?:21|22|23|54)/;
/** The server ends, starts, has no connection left, or ended the statement because of a time limit. */
const busyErrors = /^(?:08|57|53|55P03|40|25P0[234])/;

/** Turns an error of the database into the answer to a call: UNAVAILABLE if it did not answer, BAD_REQUEST for values that it refuses. */
function asAnswer(error: unknown): unknown {
  if (error instanceof StemmaError) return error;
  const code = stringAt(error, 'code') ?? '';
  const { message } = error as Error;
  if (valueErrors.test(code))
    return new StemmaError('BAD_REQUEST', `The hub cannot store this value (${code}).`, { field: 'input' }, { cause: error });
  const isDriver = code === '' && /connect|timeout|terminated|queryable/i.test(message);
  if (!isDriver && !/^E[A-Z]+$/.test(code) && !busyErrors.test(code)) return error;
  const problem = "The hub's database does not answer at the moment. Try again: what has arrived stays.";
  const answer = unavailable(problem, { reason: code === '' ? message : code }, { cause: error });
  if (!/^(?:57014|55P03|40)/.test(code)) lost.add(answer);
  return answer;
}

/** Errors after which a connection must not be used again. */
const lost = new WeakSet<object>();
const isLost = (error: unknown): boolean => error instanceof StemmaError && lost.has(error);

/** Checks that the database accepts work on a project, which runs under a separate database role. @throws the error of the database. */
export async function proveUsable({ inProject }: Pick<HubDatabase, 'inProject'>): Promise<void> {
  await inProject(0, (tx) => tx.selectFrom('item').select('seq').limit(1).execute(), { isRead: true });
}

/**
 * Begins a transaction that sees one project. It is one text without parameters, because such a text can hold several statements and saves round
 * trips: a hub mostly waits for its database. A read does not sync the disk, so a crash may lose its line in the audit log.
 */
export const beginSql = (project: number, isRead: boolean, statementMs: number): string =>
  [
    'BEGIN',
    'SET LOCAL ROLE stemma_project',
    `SET LOCAL stemma.project = ${pg.escapeLiteral(String(project))}`,
    `SET LOCAL statement_timeout = ${Number(statementMs)}`,
    `SET LOCAL idle_in_transaction_session_timeout = ${2 * Number(statementMs)}`,
    // Every query on a project has an index. Without this, old statistics let the planner read whole tables.
    'SET LOCAL enable_seqscan = off',
    'SET LOCAL enable_sort = off',
    ...(isRead ? ['SET LOCAL synchronous_commit = off'] : []),
  ].join('; ');

const commitSql = (project: number, note: AuditNote | undefined): string =>
  note === undefined
    ? 'COMMIT'
    : `INSERT INTO audit (project, by, action, count, what)
       SELECT ${Number(project)}, name, ${pg.escapeLiteral(note.action)}, ${Number(note.count)}, ${note.what === undefined ? 'NULL' : pg.escapeLiteral(note.what)}
         FROM token WHERE no = ${Number(note.by)}; COMMIT`;
