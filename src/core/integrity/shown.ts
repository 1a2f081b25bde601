import { corrupt, isObject, parseJson } from '../base/index.js';
import { changedSql, type ReadableDb } from '../store/index.js';

/** A kind of row that a caller names by an id: its table, and the tables whose rows belong to it. */
interface NamedRows {
  readonly table: string;
  readonly column: string;
  /** The column with the number of a row, by which its parts name it. */
  readonly number?: string;
  readonly parts?: readonly Part[];
  /** Rows that answers about it count or list. If one of them is damaged, the answer is marked, and a call about it still works. */
  readonly counted?: readonly Part[];
}

interface Part {
  readonly table: string;
  /** SQL for the number of the row to which a row `p` belongs. */
  readonly of: string;
}

const entityRows: NamedRows = {
  table: 'entity',
  column: 'entityId',
  parts: ['membership', 'goal', 'memory', 'plan'].map((table) => ({ table, of: 'p.entity' })),
};
const commitRows: NamedRows = { table: 'commits', column: 'id', number: 'seq' };

/** The rows that a field of an input or an answer names. */
const namedBy: Readonly<Record<string, readonly NamedRows[]>> = {
  ticketId: [{ table: 'ticket', column: 'ticketId', parts: [{ table: 'ticketVersion', of: 'p.ticket' }] }],
  cardId: [{ table: 'card', column: 'cardId' }],
  boxId: [{ table: 'box', column: 'boxId', parts: [{ table: 'boxPart', of: 'p.box' }] }],
  agentId: [{ table: 'agent', column: 'agentId' }],
  agentTurnId: [{ table: 'agentTurn', column: 'agentTurnId' }],
  entityId: [entityRows],
  senderId: [entityRows],
  spaceId: [{ table: 'space', column: 'spaceId', counted: [{ table: 'membership', of: 'p.space' }] }],
  messageId: [{ table: 'spaceMessage', column: 'messageId' }],
  runId: [{ table: 'run', column: 'runId' }],
  planId: [{ table: 'plan', column: 'planId' }],
  experimentId: [
    {
      table: 'experiment',
      column: 'experimentId',
      parts: [{ table: 'experimentVersion', of: 'p.experiment' }],
      counted: [
        { table: 'experimentResult', of: 'p.experiment' },
        { table: 'experimentVerdict', of: '(SELECT experiment FROM experimentResult WHERE no = p.result)' },
      ],
    },
  ],
  resultId: [{ table: 'experimentResult', column: 'resultId', parts: [{ table: 'experimentVerdict', of: 'p.result' }] }],
  jobId: [{ table: 'job', column: 'jobId', parts: [{ table: 'jobEvent', of: 'p.job' }] }],
  sourceId: [{ table: 'source', column: 'sourceId' }],
  turnId: [commitRows],
  batchId: [{ table: 'batch', column: 'batchId' }],
  sessionId: [
    { table: 'source', column: 'sessionId' },
    { table: 'sessionMark', column: 'sessionId' },
  ],
};

/** Other names of fields with ids. */
const sameField: Readonly<Record<string, string>> = {
  ...{ activeSpaceId: 'spaceId', waiterId: 'entityId', parentTurnId: 'agentTurnId' },
  ...{ contextBoxId: 'boxId', outputBoxId: 'boxId', profileBoxId: 'boxId' },
};
/** What a member `id` names, by the first letters of its value. */
const fieldOfPrefix: Readonly<Record<string, string>> = { ent: 'entityId', space: 'spaceId', msg: 'messageId', run: 'runId' };
function fieldOf(field: string, value: string): string {
  if (field === 'id') return fieldOfPrefix[value.slice(0, value.indexOf('-'))] ?? field;
  return Object.hasOwn(sameField, field) ? (sameField[field] as string) : field;
}

/** Maximum depth of the fields of an answer that are looked at. */
const maxDepth = 8;

/** The ids in a value, by the name of their field. It takes no list of the members, because an answer may have a million of them. */
function idsIn(value: unknown, found: Map<string, Set<string>> = new Map(), depth = 0): Map<string, Set<string>> {
  if (depth > maxDepth) return found;
  if (Array.isArray(value)) for (const item of value) idsIn(item, found, depth + 1);
  else if (isObject(value))
    for (const field in value) {
      const member: unknown = value[field];
      if (typeof member === 'object') idsIn(member, found, depth + 1);
      else if (typeof member === 'string') {
        const named = fieldOf(field, member);
        if (!Object.hasOwn(namedBy, named)) continue;
        const ids = found.get(named) ?? new Set();
        found.set(named, ids.add(member));
      }
    }
  return found;
}

/**
 * Which of the ids name a row that does not match its checksum, or to which such a row belongs. With `isSuspect`, rows of suspect tables are checked, those that
 * are counted for it included.
 */
function damagedAmong(db: ReadableDb, field: string, ids: ReadonlySet<string>, isSuspect?: (table: string) => boolean): ReadonlySet<string> {
  const damaged = new Set<string>();
  const asked = JSON.stringify([...ids]);
  for (const { table, column, number = 'no', parts = [], counted = [] } of namedBy[field] ?? []) {
    const named = `r."${column}" IN (SELECT value FROM json_each(?))`;
    const queries = [
      { of: table, sql: `SELECT r."${column}" AS id FROM "${table}" r WHERE ${named}`, alias: 'r' },
      ...[...parts, ...(isSuspect ? counted : [])].map((part) => ({
        of: part.table,
        sql: `SELECT r."${column}" AS id FROM "${table}" r JOIN "${part.table}" p ON ${part.of} = r."${number}" WHERE ${named}`,
        alias: 'p',
      })),
    ];
    for (const { of, sql, alias } of queries) {
      const changed = (isSuspect?.(of) ?? true) ? changedSql(db, of, alias) : undefined;
      if (changed) for (const id of db.column<string>(`${sql} AND ${changed}`, asked)) damaged.add(id);
    }
  }
  return damaged;
}

/** The tables of the rows that ids name, and of those that belong to them. */
const namedTables: readonly string[] = [
  ...new Set(
    Object.values(namedBy).flatMap((rows) =>
      rows.flatMap(({ table, parts = [], counted = [] }) => [table, ...[...parts, ...counted].map((part) => part.table)]),
    ),
  ),
];

/** With more ids, only rows of tables with known damage are checked, and of tables that were never checked. */
const mostChecked = 1_000;

/**
 * Marks each object of an answer with `damaged: true` that names a row whose checksum fails, so that nobody takes its values for true. An
 * answer without damage is returned as it is.
 */
export function markDamage<T>(db: ReadableDb, answer: T): T {
  const { rows, unchecked, stale } = db.damage().look(namedTables);
  if (rows.size + unchecked.size + stale.size === 0) return answer;
  const damaged = new Map<string, ReadonlySet<string>>();
  for (const [field, ids] of idsIn(answer)) {
    const isSuspect = (table: string): boolean => rows.has(table) || unchecked.has(table) || (stale.has(table) && ids.size <= mostChecked);
    const some = damagedAmong(db, field, ids, isSuspect);
    if (some.size > 0) damaged.set(field, some);
  }
  const isDamaged = (field: string, member: unknown): boolean =>
    typeof member === 'string' && damaged.get(fieldOf(field, member))?.has(member) === true;
  return damaged.size === 0 ? answer : (marked(answer, isDamaged) as T);
}

/** A value in which each object with such a member is marked. */
function marked(value: unknown, isDamaged: (field: string, member: unknown) => boolean): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => marked(item, isDamaged));
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([field, member]) => [field, marked(member, isDamaged)] as const);
  return { ...Object.fromEntries(members), ...(members.some(([field, member]) => isDamaged(field, member)) && { damaged: true }) };
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

/**
 * Marks each object of an answer that shows a text of a damaged row of these tables, for rows that the answer does not name by an id. The
 * tables with known damage are compared whole.
 */
export function markDamagedTexts<T>(db: ReadableDb, tables: readonly string[], answer: T): T {
  const texts = [...new Set([...db.damage().look(tables).rows.keys()].flatMap((table) => damagedTexts(db, table)))];
  const shows = (one: unknown): boolean =>
    typeof one === 'string' && texts.some((text) => one === text || (text.length >= longEnough && one.includes(text)));
  const isDamaged = (_: string, member: unknown): boolean => (Array.isArray(member) ? member.some(shows) : shows(member));
  return texts.length === 0 ? answer : (marked(answer, isDamaged) as T);
}

/** The texts in the damaged rows of a table, those inside of its JSON included. */
function damagedTexts(db: ReadableDb, table: string): readonly string[] {
  const changed = changedSql(db, table, 'r');
  const rows = changed ? db.all<Readonly<Record<string, unknown>>>(`SELECT * FROM "${table}" r WHERE ${changed}`) : [];
  return rows.flatMap((row) => Object.values(row).flatMap((value) => (typeof value === 'string' ? stringsIn(parseJson(value) ?? value) : [])));
}

const stringsIn = (value: unknown): readonly string[] =>
  typeof value === 'string' ? [value] : typeof value === 'object' && value !== null ? Object.entries(value).flat().flatMap(stringsIn) : [];

/** A shorter text may be a part of another one by chance. */
const longEnough = 6;

/** Whether a row of a table does not match its checksum. */
export function hasDamage(db: ReadableDb, table: string): boolean {
  const changed = changedSql(db, table, 'r');
  return changed !== undefined && db.one(`SELECT 1 FROM "${table}" r WHERE ${changed} LIMIT 1`) !== undefined;
}

/** Tables whose rows no id of an answer names. */
const otherTexts = [
  ...['profile', 'template', 'branchMark', 'contextVersion', 'batch', 'setting', 'ticketEvent', 'ticketAnswer', 'cardVersion', 'cardCall'],
  ...['turnInput', 'modelRun', 'instantiation', 'blackboard'],
];

/** The first row of the named tables that does not match its checksum, as an error. Undefined if all match. */
export function damageIn(db: ReadableDb): Error | undefined {
  for (const table of [...namedTables, ...otherTexts]) {
    if (hasDamage(db, table)) return corrupt(table, `A row of the table ${table} does not match its checksum, so this cannot be read. ${advice}`);
  }
  return undefined;
}
