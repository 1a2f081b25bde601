import { corrupt, isObject } from '../base/index.js';
import { matchingRow, type ReadableDb, sumColumn } from '../store/index.js';

/** A kind of row that a caller names by an id: its table, and the tables whose rows belong to it. */
interface NamedRows {
  readonly table: string;
  readonly column: string;
  readonly parts?: readonly { readonly table: string; readonly of: string }[];
}

/** The rows that a field of an input or an answer names. */
const namedBy: Readonly<Record<string, readonly NamedRows[]>> = {
  ticketId: [{ table: 'ticket', column: 'ticketId', parts: [{ table: 'ticketVersion', of: 'ticket' }] }],
  cardId: [{ table: 'card', column: 'cardId' }],
  boxId: [{ table: 'box', column: 'boxId', parts: [{ table: 'boxPart', of: 'box' }] }],
  agentId: [{ table: 'agent', column: 'agentId' }],
  agentTurnId: [{ table: 'agentTurn', column: 'agentTurnId' }],
  entityId: [
    {
      table: 'entity',
      column: 'entityId',
      parts: ['membership', 'goal', 'memory'].map((table) => ({ table, of: 'entity' })),
    },
  ],
  spaceId: [{ table: 'space', column: 'spaceId' }],
  messageId: [{ table: 'spaceMessage', column: 'messageId' }],
  runId: [{ table: 'run', column: 'runId' }],
  planId: [{ table: 'plan', column: 'planId' }],
  experimentId: [{ table: 'experiment', column: 'experimentId', parts: [{ table: 'experimentVersion', of: 'experiment' }] }],
  resultId: [{ table: 'experimentResult', column: 'resultId' }],
  jobId: [{ table: 'job', column: 'jobId', parts: [{ table: 'jobEvent', of: 'job' }] }],
  sourceId: [{ table: 'source', column: 'sourceId' }],
  sessionId: [
    { table: 'source', column: 'sessionId' },
    { table: 'sessionMark', column: 'sessionId' },
  ],
};

/** Maximum depth of the fields of an answer that are looked at. */
const maxDepth = 8;

/** The ids in a value, by the name of their field. */
function idsIn(value: unknown, found: Map<string, Set<string>> = new Map(), depth = 0): Map<string, Set<string>> {
  if (depth > maxDepth) return found;
  if (Array.isArray(value)) for (const item of value) idsIn(item, found, depth + 1);
  else if (isObject(value))
    for (const [field, member] of Object.entries(value))
      if (typeof member === 'object') idsIn(member, found, depth + 1);
      else if (typeof member === 'string' && Object.hasOwn(namedBy, field)) {
        const ids = found.get(field) ?? new Set();
        found.set(field, ids.add(member));
      }
  return found;
}

/** The columns of the tables of a database. Their names do not change while it is open. */
const columns = new WeakMap<ReadableDb, Map<string, readonly string[]>>();
function columnsOf(db: ReadableDb, table: string): readonly string[] {
  const known = columns.get(db) ?? new Map<string, readonly string[]>();
  columns.set(db, known);
  const listed = known.get(table) ?? db.all<{ name: string }>('SELECT name FROM pragma_table_info(?) ORDER BY cid', table).map(({ name }) => name);
  known.set(table, listed);
  return listed;
}

/** SQL that is true for a row that does not match its checksum; undefined for a table without checksums. */
function changedSql(db: ReadableDb, table: string, alias: string): string | undefined {
  const listed = columnsOf(db, table);
  const own = listed.filter((name) => name !== sumColumn).map((name) => `"${name}"`);
  return listed.includes(sumColumn) ? `NOT ${matchingRow(own, alias)}` : undefined;
}

/** Which of the ids name a row that does not match its checksum, or to which such a row belongs. */
function damagedAmong(db: ReadableDb, field: string, ids: ReadonlySet<string>): ReadonlySet<string> {
  const damaged = new Set<string>();
  const asked = JSON.stringify([...ids]);
  for (const { table, column, parts = [] } of namedBy[field] ?? []) {
    const named = `r."${column}" IN (SELECT value FROM json_each(?))`;
    const queries = [
      { sql: `SELECT r."${column}" AS id FROM "${table}" r WHERE ${named}`, changed: changedSql(db, table, 'r') },
      ...parts.map((part) => ({
        sql: `SELECT r."${column}" AS id FROM "${table}" r JOIN "${part.table}" p ON p."${part.of}" = r.no WHERE ${named}`,
        changed: changedSql(db, part.table, 'p'),
      })),
    ];
    for (const { sql, changed } of queries) if (changed) for (const { id } of db.all<{ id: string }>(`${sql} AND ${changed}`, asked)) damaged.add(id);
  }
  return damaged;
}

/**
 * Marks each object of an answer with `damaged: true` that names a row whose checksum fails, so that nobody takes its values for true. An
 * answer without damage is returned as it is.
 */
export function markDamage<T>(db: ReadableDb, answer: T): T {
  const damaged = new Map<string, ReadonlySet<string>>();
  for (const [field, ids] of idsIn(answer)) {
    const some = damagedAmong(db, field, ids);
    if (some.size > 0) damaged.set(field, some);
  }
  return damaged.size === 0 ? answer : (marked(answer, damaged) as T);
}

function marked(value: unknown, damaged: ReadonlyMap<string, ReadonlySet<string>>): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => marked(item, damaged));
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([field, member]) => [field, marked(member, damaged)] as const);
  const isDamaged = members.some(([field, member]) => typeof member === 'string' && damaged.get(field)?.has(member));
  return { ...Object.fromEntries(members), ...(isDamaged && { damaged: true }) };
}

/**
 * Refuses a call about one row whose checksum fails: its values are not true, and a write would give it a checksum that hides that.
 * @throws CORRUPT with the id.
 */
export function refuseDamaged(db: ReadableDb, field: string, id: string): void {
  if (!Object.hasOwn(namedBy, field) || damagedAmong(db, field, new Set([id])).size === 0) return;
  throw corrupt(id, `The row of ${id} in the database does not match its checksum: it was damaged. ${advice}`, { field });
}

const advice = 'Run "stemma fsck" to see what is intact, and "stemma fsck --repair" to restore it from a backup.';

/** The first row of the named tables that does not match its checksum, as an error. Undefined if all match. */
export function damageIn(db: ReadableDb): Error | undefined {
  const tables = new Set(
    Object.values(namedBy).flatMap((rows) => rows.flatMap(({ table, parts = [] }) => [table, ...parts.map((part) => part.table)])),
  );
  for (const table of [...tables, 'profile', 'template', 'branchMark', 'contextVersion', 'batch', 'setting']) {
    const changed = changedSql(db, table, 'r');
    if (changed && db.one(`SELECT 1 FROM "${table}" r WHERE ${changed} LIMIT 1`))
      return corrupt(table, `A row of the table ${table} does not match its checksum, so this cannot be read. ${advice}`);
  }
  return undefined;
}
