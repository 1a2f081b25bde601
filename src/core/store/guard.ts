/** What the guard needs of a connection. */
interface Confinable {
  exec(sql: string): unknown;
  prepare(sql: string): { all(): readonly Readonly<Record<string, unknown>>[] };
}

interface GuardOptions {
  /** The beginning of the name of a function that is missing, so that SQLite compiles nothing with it. No statement knows it. */
  readonly refusing: string;
  /** The functions that only the views may call. */
  readonly functions: readonly string[];
  /** The tables that are functions and may be read. */
  readonly plainTables: ReadonlySet<string>;
}

/**
 * Confines statements to views where SQLite in Node has no authorizer (before Node 24.10). Three things together leave nothing else to read:
 * every table is hidden by a temporary view of its name, which SQLite finds first and cannot compile; the views themselves name the schemas of
 * their tables; and a statement that names a schema, a table of SQLite or a function of the views is refused before it is compiled.
 * Reads the schemas of the database, so call it before the views are made.
 */
export function openGuard(db: Confinable, { refusing, functions, plainTables }: GuardOptions) {
  const names = (sql: string): string[] => Array.from(db.prepare(sql).all(), ({ name }) => String(name));
  const schemas = names('SELECT name FROM pragma_database_list');
  const schemaOf = new Map<string, string>();
  for (const schema of schemas.toReversed())
    for (const name of names(`SELECT name FROM "${schema}".sqlite_schema WHERE type IN ('table', 'view')`)) schemaOf.set(name.toLowerCase(), schema);
  const modules = new Set(names('SELECT name FROM pragma_module_list').map((name) => name.toLowerCase()));
  for (const name of plainTables) modules.delete(name);
  const known = new Set(schemas.map((name) => name.toLowerCase())).add('main').add('temp');
  const own = new Set(functions.map((name) => name.toLowerCase()));
  return {
    /** The statement of a view, with the schemas of its tables. */
    qualified: (sql: string): string =>
      sql.replace(/\b(FROM|JOIN)\s+(\w+)/g, (all, word, name: string) => {
        const schema = schemaOf.get(name.toLowerCase());
        return schema === undefined ? all : `${word} ${schema}.${name}`;
      }),
    /** Hides the tables. Call it when the views exist. */
    hide: (): void => {
      const taken = new Set(names('SELECT name FROM temp.sqlite_schema').map((name) => name.toLowerCase()));
      for (const name of schemaOf.keys())
        if (!taken.has(name) && !name.startsWith('sqlite_')) db.exec(`CREATE TEMP VIEW ${quoted(name)} AS SELECT ${quoted(refusing + name)}()`);
    },
    /** What the statement does that it may not do; undefined if nothing. */
    refusal: (sql: string): string | undefined => {
      const tokens = tokenize(sql);
      if (typeof tokens === 'string') return tokens;
      const first = tokens[0]?.name ?? '';
      if (tokens.length > 0 && !/^(select|with|values)$/.test(first)) return `begins with ${first.toUpperCase() || 'a sign'}`;
      for (const [at, { name }] of tokens.entries()) {
        if (name === undefined) continue;
        const after = tokens[at + 1]?.sign;
        if (after === '.' && known.has(name)) return `names the schema ${name}`;
        if (after === '(' && own.has(name)) return `calls the function ${name}`;
        if (/^(sqlite|pragma)_\w+$/.test(name) || modules.has(name)) return `reads the table ${name}`;
      }
      return undefined;
    },
    /** The hidden table that a statement reads, if SQLite could not compile it. */
    hiddenIn: (sql: string, error: unknown): string | undefined => {
      const missing = error instanceof Error ? error.message.split(refusing)[1] : undefined;
      if (missing !== undefined) return missing;
      const tokens = tokenize(sql);
      if (typeof tokens === 'string') return undefined;
      const reads = tokens.find(({ name }, at) => {
        const before = tokens[at - 1];
        return name !== undefined && schemaOf.has(name) && (before?.sign === ',' || /^(from|join|in|into|update)$/.test(before?.name ?? ''));
      });
      return reads?.name;
    },
  };
}

/** A name as SQL has it. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

interface Token {
  /** A word or a quoted text in small letters: SQLite takes any of them as a name. */
  readonly name?: string;
  readonly sign?: string;
}

const token =
  /[ \t\n\f\r]+|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|(?<quoted>"(?:[^"]|"")*"|`(?:[^`]|``)*`|'(?:[^']|'')*'|\[[^\]]*\])|(?<word>[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*)|(?<sign>[0-9][\w$]*|[-+*/%<>=!|&~(),;.?])/y;

/** Divides a statement into words and signs as SQLite does. Returns what is wrong with a statement that SQLite could divide otherwise. */
function tokenize(sql: string): readonly Token[] | string {
  // SQLite ends at a zero byte, and takes a byte order mark as a space.
  if (/[\0\ufeff]/.test(sql)) return 'contains a zero byte or a byte order mark';
  const tokens: Token[] = [];
  token.lastIndex = 0;
  while (token.lastIndex < sql.length) {
    const at = token.lastIndex;
    const found = token.exec(sql);
    if (!found) return `has ${JSON.stringify(sql[at])} in a place where it cannot stand`;
    const { quoted, word, sign } = found.groups ?? {};
    if (quoted !== undefined) {
      const [quote] = quoted;
      const inner = quoted.slice(1, -1);
      tokens.push({ name: (quote === '[' ? inner : inner.replaceAll(`${quote}${quote}`, quote as string)).toLowerCase() });
    } else if (word !== undefined) tokens.push({ name: word.toLowerCase() });
    else if (sign !== undefined) tokens.push({ sign });
  }
  return tokens;
}
