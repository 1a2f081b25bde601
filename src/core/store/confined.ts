import { randomBytes } from 'node:crypto';
import type { DatabaseSync as Database, constants as SqliteConstants } from 'node:sqlite';
import { badRequest, inWords, StemmaError, unavailable } from '../base/index.js';
import { attachForReading, derivedFile, derivedTables, removeDerived } from './derived/index.js';
import { openGuard } from './guard.js';

type Value = string | number | bigint | Uint8Array | null;

interface ConfinedOptions {
  readonly file: string;
  /** As in `ConnectionOptions`. */
  readonly mark: string | undefined;
  /** The views by name, with their SELECT statements. */
  readonly views: Readonly<Record<string, string>>;
  /** Functions that only the views may call. */
  readonly functions: Readonly<Record<string, (...values: Value[]) => Value>>;
  /** Whether integers are read as numbers, which is faster and fails for integers that a number cannot hold. */
  readonly isRaw?: boolean;
  /** Whether what does not fit in memory while rows are sorted goes to files without names. Else such a statement fails. */
  readonly isSpilling?: boolean;
}

/** A database in which only some views can be read. */
export type ConfinedDatabase = Awaited<ReturnType<typeof openConfined>>;

/** The tables that are functions and read nothing but their arguments. */
const plainTables: ReadonlySet<string> = new Set(['json_each', 'json_tree']);
/** The longest text or blob that a statement may build. */
const maxValue = 16 * 1024 * 1024;

/**
 * Opens a database read-only, for statements that a person or an agent wrote. It uses `node:sqlite`, which has an authorizer: SQLite asks it about
 * every table, column and function while it compiles a statement. It answers yes for the views, and for what a view itself reads. Nothing else is reachable, whatever the statement says. Versions of Node
 * without an authorizer use a guard (guard.ts).
 */
export async function openConfined({ file, mark, views, functions, isRaw = false, isSpilling = false }: ConfinedOptions) {
  const { DatabaseSync, constants } = await import('node:sqlite');
  const db = new DatabaseSync(file, { readOnly: true, allowExtension: false, timeout: 5_000 });
  db.exec('PRAGMA trusted_schema = OFF; PRAGMA mmap_size = 0; PRAGMA cache_size = -16384');
  db.exec(`PRAGMA temp_store = ${isSpilling ? 'FILE' : 'MEMORY'}`);
  const derived = derivedFile(file);
  if (!attachForReading(db, derived, mark)) {
    db.close();
    removeDerived(derived);
    throw withoutDerived();
  }
  for (const [name, call] of Object.entries(functions)) db.function(name, { deterministic: true, varargs: true }, call as never);
  // SQLite names the view that reads a table, and a statement may call a subquery like a view. So what reads tables has a name that no statement knows.
  const secret = `v${randomBytes(16).toString('hex')}_`;
  let refused: string | undefined;
  const names = Object.keys(views);
  const refusing = `${secret}refuse`;
  const guard = 'setAuthorizer' in db ? undefined : openGuard(db, { refusing, functions: Object.keys(functions), plainTables });
  for (const [name, sql] of Object.entries(views)) {
    db.exec(`CREATE TEMP VIEW ${secret}${name} AS ${guard?.qualified(sql) ?? sql}`);
    db.exec(`CREATE TEMP VIEW ${name} AS SELECT * FROM ${secret}${name}`);
  }
  const refuse = (what: string): void => {
    refused ??= what;
  };
  if (guard) guard.hide();
  else authorize(db, { constants, secret, names, functions, refuse });
  // Older versions of Node have no limits to set.
  const { limits } = db as Partial<typeof db>;
  if (limits) Object.assign(limits, { length: maxValue, attach: 0, sqlLength: 200_000 });
  return {
    /** @throws BAD_REQUEST for a statement that is wrong or not allowed; UNAVAILABLE if it needs too much memory. */
    select: (sql: string, values: readonly (string | number | null)[] = []) => {
      refused = guard?.refusal(sql);
      if (refused !== undefined) throw asRefusal(undefined, refused, names);
      return selectIn({ db, isRaw }, sql, values, (error) => {
        if (!(error instanceof Error && /^(?:database disk image is malformed|file is not a database)/.test(error.message))) {
          const hidden = refused === undefined && !(error instanceof StemmaError) ? guard?.hiddenIn(sql, error) : undefined;
          return asRefusal(error, hidden === undefined ? refused : `reads the table ${hidden}`, names);
        }
        removeDerived(derived);
        return withoutDerived();
      });
    },
    close: (): void => db.close(),
  };
}

interface Authorized {
  readonly constants: typeof SqliteConstants;
  /** The beginning of the names of what reads tables. */
  readonly secret: string;
  readonly names: readonly string[];
  readonly functions: ConfinedOptions['functions'];
  readonly refuse: (what: string) => void;
}

/** Lets SQLite ask about everything that a statement does, and refuses what is not in the views. */
function authorize(db: Database, { constants, secret, names, functions, refuse }: Authorized): void {
  db.enableDefensive(true);
  // A named subquery of which no column is read looks like a table of that name.
  const own = db.prepare('SELECT name FROM sqlite_schema UNION ALL SELECT name FROM pragma_module_list').all();
  const tables = new Set([...own.map(({ name }) => String(name)), ...derivedTables].map((name) => name.toLowerCase()));
  const isSubquery = (table: string): boolean => !tables.has(table.toLowerCase()) && !/^(sqlite_|pragma_)/i.test(table);
  const shown = new Set(names);
  const { SQLITE_OK, SQLITE_DENY, SQLITE_SELECT, SQLITE_READ, SQLITE_FUNCTION, SQLITE_RECURSIVE } = constants;
  const deny = (what: string): number => {
    refuse(what);
    return SQLITE_DENY;
  };
  db.setAuthorizer((action, first, second, _database, view) => {
    const isInside = view?.startsWith(secret) === true;
    switch (action) {
      case SQLITE_SELECT:
      case SQLITE_RECURSIVE:
        return SQLITE_OK;
      case SQLITE_READ:
        if (isInside || shown.has(first ?? '') || first?.startsWith(secret) || plainTables.has(first ?? '')) return SQLITE_OK;
        if (second === '' && isSubquery(first ?? '')) return SQLITE_OK;
        return deny(`reads the table ${first}`);
      case SQLITE_FUNCTION:
        if (isInside || !(second === 'load_extension' || Object.hasOwn(functions, second ?? ''))) return SQLITE_OK;
        return deny(`calls the function ${second}`);
      default:
        return deny(words.get(action) ?? 'does more than read');
    }
  });
}

/** The reason of the refusal when the file of derived data is missing or damaged. It is removed then, so that the writer makes it again. */
export const missingDerived = 'derived';

const withoutDerived = (): StemmaError =>
  unavailable('The facts that SQL reads are being made again. Ask again in a moment.', { reason: missingDerived });

/** What a refused statement would do, by the number of SQLite's action. */
const words: ReadonlyMap<number, string> = new Map(
  (
    [
      ['creates an index', [1, 3]],
      ['creates a table', [2, 4, 29]],
      ['creates a trigger', [5, 7]],
      ['creates a view', [6, 8]],
      ['deletes rows', [9]],
      ['drops an index', [10, 12]],
      ['drops a table', [11, 13, 30]],
      ['drops a trigger', [14, 16]],
      ['drops a view', [15, 17]],
      ['inserts rows', [18]],
      ['sets a PRAGMA', [19]],
      ['begins or ends a transaction', [22, 32]],
      ['updates rows', [23]],
      ['attaches a database', [24]],
      ['detaches a database', [25]],
      ['alters a table', [26]],
      ['rebuilds an index', [27]],
      ['analyzes tables', [28]],
    ] as const
  ).flatMap(([does, actions]) => actions.map((action) => [action, does] as const)),
);

function selectIn(
  { db, isRaw }: { readonly db: Database; readonly isRaw: boolean },
  sql: string,
  values: readonly (string | number | null)[],
  refusal: (error: unknown) => StemmaError,
) {
  const guarded = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw refusal(error);
    }
  };
  const statement = guarded(() => {
    const prepared = db.prepare(sql);
    // SQLite compiles the first statement only.
    const rest = sql.slice(sql.indexOf(prepared.sourceSQL) + prepared.sourceSQL.length);
    if (!/^(?:\s|;|--[^\n]*(?:\n|$)|\/\*[\s\S]*?(?:\*\/|$))*$/.test(rest))
      throw badRequest('sql', `Give one statement. After it stands ${inWords(rest.trim())}.`);
    (prepared as unknown as { setReturnArrays(enabled: boolean): void }).setReturnArrays(true);
    return prepared;
  });
  const columns = guarded(() => statement.columns().map(({ name }) => name));
  if (columns.length === 0) throw badRequest('sql', 'The statement returns no columns. Only SELECT statements are allowed.');
  return {
    columns,
    /** Rows one at a time. An integer that a number cannot hold is a text. @throws as `select` */
    *rows(): Iterable<readonly (string | number | null)[]> {
      let passed = 0;
      try {
        statement.setReadBigInts(false);
        for (const row of statement.iterate(...values) as unknown as Iterable<Value[]>) {
          yield isRaw ? (row as (string | number | null)[]) : row.map(plain);
          passed += 1;
        }
        return;
      } catch (error) {
        if (isRaw || (error as NodeJS.ErrnoException).code !== 'ERR_OUT_OF_RANGE') throw refusal(error);
      }
      // Numbers are read in half the time of big integers, which only an integer that a number cannot hold needs. From there on, all are read so.
      const again = guarded(() => {
        statement.setReadBigInts(true);
        return statement.iterate(...values) as unknown as Iterator<Value[]>;
      });
      for (let next = guarded(() => again.next()); !next.done; next = guarded(() => again.next())) if (passed-- <= 0) yield next.value.map(plain);
    },
  };
}

function plain(value: Value): string | number | null {
  // SQLite refuses it where it has limits.
  if (typeof value === 'object' && value !== null && value.length > maxValue) throw tooMuch(`a value has ${value.length} bytes`);
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  return value;
}

const tooMuch = (why: string): StemmaError =>
  unavailable(`The statement needs more memory than it may use: ${why}. Read fewer rows, or shorter texts.`, { reason: 'memory', field: 'sql' });

/** The refusal of a statement, in words. */
function asRefusal(error: unknown, refused: string | undefined, names: readonly string[]): StemmaError {
  if (error instanceof StemmaError) return error;
  const message = error instanceof Error ? error.message : String(error);
  const can = `SQL here reads the views ${names.join(', ')}`;
  if (refused !== undefined) return badRequest('sql', `The statement ${refused}. ${can}, and changes nothing.`);
  if (/out of memory|too big/i.test(message)) return tooMuch(message);
  if (/no such table/i.test(message)) return badRequest('sql', `${message}. ${can}.`);
  return badRequest('sql', `SQLite refuses the statement: ${message}.`);
}
