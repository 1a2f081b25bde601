import { sha256Of } from '../artifacts/index.js';
import { attempt, canonicalJson, corrupt, type Json, type JsonObject, onceFor, parseJson } from '../base/index.js';
import type { ReadChain, WriteChain } from '../chain/index.js';
import { travelingCalls } from '../requests/index.js';
import { bodies } from './bodies.js';
import { findRule, type RowRule, tableOf } from './rules.js';

/** A row in the form that is sent. Equal bodies have the same digest. Two edits of one row have two digests and the same key. */
export interface SentItem {
  readonly kind: string;
  /** The name of the row, which is the same in every project. */
  readonly key: string;
  /** SHA-256 of kind and body, in hexadecimal. */
  readonly digest: string;
  readonly body: JsonObject;
  /** Who sent this version to the hub, in items that a hub returns. */
  readonly sender?: Sender | undefined;
}

/** Who sent an item, as the hub names them. Only the hub knows it, and an older hub does not say. */
export interface Sender {
  readonly name: string;
  /** True for the holder of a share link. */
  readonly isLink: boolean;
}

/** A row of a table as SQLite gives it. */
export type SqliteRow = Readonly<Record<string, null | number | string | Uint8Array>>;

/** Rows that are read at a time. */
const pageRows = 1_000;

/** Columns that are never sent. */
const neverSent = new Set(['project', 'rowSum']);

/** Columns of a commit that depend on its position in this database. */
const placeOfCommit = new Set(['seq', 'id', 'run', 'depth', 'contextTokens']);

/** Reads the rows of one project and returns their names. It caches names, so open one for each push or pull. */
export type Rows = ReturnType<typeof openRows>;

/** Opens the rows of a project for reading. */
export function openRows(chain: WriteChain) {
  const { db, project } = chain;
  const names = new Map<string, string>();
  const shape = onceFor((rule: RowRule) => readShape(db, rule));
  const rowAt = (rule: RowRule, no: number): SqliteRow => {
    const column = shape(rule).number ?? rule.numberedBy ?? '';
    const row = db.one<SqliteRow>(`SELECT * FROM "${tableOf(rule)}" WHERE "${column}" = ?`, no);
    if (!row) throw corrupt(rule.kind, `Row ${no} of ${rule.kind} does not exist, but another row refers to it.`);
    return row;
  };
  const nameOf = (table: string, no: number): string => {
    const id = `${table} ${no}`;
    let name = names.get(id);
    if (name !== undefined) return name;
    if (table === 'artifact') name = hex(db.value<Buffer>('SELECT hash FROM artifact WHERE no = ?', no));
    else if (table === 'context') name = hex(db.value<Buffer>('SELECT digest FROM commits WHERE seq = ?', no));
    else {
      const rule = findRule(table) as RowRule;
      // Reads only its key, because agents and their turns refer to each other.
      name = nameIn(rule, bodyOf(rule, rowAt(rule, no), rule.key));
    }
    names.set(id, name);
    return name;
  };
  const bodyOf = (rule: RowRule, row: SqliteRow, columns: readonly string[] = shape(rule).columns): JsonObject => {
    const body: Record<string, Json> = {};
    for (const column of columns) {
      const value = row[column] ?? null;
      const table = rule.refs?.[column];
      if (value === null) body[column] = null;
      else if (table !== undefined) body[column] = nameOf(table, value as number);
      else if (rule.lists?.[column] !== undefined) body[column] = renamed(String(value), (no) => nameOf(rule.lists?.[column] as string, Number(no)));
      else body[column] = value instanceof Uint8Array ? hex(value) : value;
    }
    return body;
  };
  return {
    shape,
    /** A row as an item. */
    item: (rule: RowRule, row: SqliteRow): SentItem => {
      const body = bodyOf(rule, row);
      const item = { kind: rule.kind, key: nameIn(rule, body), digest: digestItem(rule.kind, body), body };
      const { number } = shape(rule);
      if (number !== undefined) names.set(`${rule.kind} ${row[number]}`, item.key);
      return item;
    },
    /** All rows of a kind to send, oldest first. Skips calls that the hub is known to hold, because assembling a call is expensive. */
    *each(rule: RowRule, isKnown: (key: string) => boolean): Generator<SqliteRow, void> {
      if (rule.calls) {
        for (const call of travelingCalls(chain, (requestId) => isKnown(JSON.stringify([requestId])))) yield { ...call };
        return;
      }
      const { number, hasProject } = shape(rule);
      const [owner, table] = Object.entries(rule.refs ?? {})[0] ?? [];
      const condition = rule.where === undefined ? '' : ` AND ${rule.where}`;
      const scope = hasProject ? 'r.project = ?' : `r."${owner}" IN (SELECT no FROM "${table}" WHERE project = ?)`;
      const order = number ?? rule.numberedBy ?? rule.key?.map((name) => `"${name}"`).join(', ');
      // Reads in pages, so that the connection can do other work between them.
      for (let after = 0, page: SqliteRow[] = []; ; after += page.length) {
        const [where, from, offset] =
          number === undefined ? ['', after, ' OFFSET ?'] : [` AND ${number} > ?`, Number(page.at(-1)?.[number] ?? 0), ''];
        const select = `SELECT * FROM "${tableOf(rule)}" r WHERE ${scope}${condition}${where} ORDER BY ${order} LIMIT ${pageRows}${offset}`;
        page = db.all<SqliteRow>(select, project, from);
        yield* page;
        if (page.length < pageRows) return;
      }
    },
  };
}

/** The columns of a table that are sent, and the column of its row numbers. */
function readShape(db: ReadChain['db'], rule: RowRule) {
  if (rule.calls) return { number: 'no', blobs: new Set<string>(), hasProject: true, columns: Object.keys(bodies.request) };
  const all = db.all<{ name: string; type: string; pk: number }>('SELECT name, type, pk FROM pragma_table_info(?)', tableOf(rule));
  const number = rule.unnumbered || rule.numberedBy !== undefined ? undefined : all.find(({ pk }) => pk === 1)?.name;
  return {
    number,
    /** The columns that hold bytes. They are sent in hexadecimal. */
    blobs: new Set(all.filter(({ type }) => type === 'BLOB').map(({ name }) => name)),
    hasProject: all.some(({ name }) => name === 'project'),
    columns: all
      .map(({ name }) => name)
      .filter((name) => name !== number && !neverSent.has(name) && !(name in (rule.local ?? {})))
      .filter((name) => rule.only?.includes(name) ?? true)
      .filter((name) => rule.kind !== 'context' || !placeOfCommit.has(name)),
  };
}

const hex = (bytes: Uint8Array | undefined): string => {
  if (!bytes) throw corrupt('row', 'A row refers to a row that does not exist. "stemma fsck" names it.');
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
};

/** Applies a change to each member of a JSON list. Of a member that is a list, only the first member is changed. */
export function renamed(list: string, change: (member: Json) => Json): Json {
  const members = parseJson(list);
  return Array.isArray(members)
    ? members.map((member) => (Array.isArray(member) ? [change(member[0] as Json), ...member.slice(1)] : change(member)))
    : [];
}

/** SHA-256 of an item's kind and body, in hexadecimal. */
export const digestItem = (kind: string, body: JsonObject): string => sha256Of(`${kind}\0${canonicalJson(body)}`).toString('hex');

/** The name of a row with this body, which is the same in every project. */
export function nameIn(rule: RowRule, body: JsonObject): string {
  if (rule.kind === 'context') return String(body.digest);
  if (!rule.key) return digestItem(rule.kind, body);
  return JSON.stringify(rule.key.map((column) => body[column] ?? null));
}

/** Whether the hub does not need an item: its value is null, and the hub holds no earlier version of it (`held`). */
export const isEmpty = ({ unlessNull }: RowRule, { body }: SentItem, held: string | undefined): boolean =>
  held === undefined && unlessNull !== undefined && body[unlessNull] === null;

/** A row or an object that an item refers to, by its kind and name. */
type Reference = Pick<SentItem, 'kind' | 'key'>;

function* namedIn({ kind: own, body }: Pick<SentItem, 'kind' | 'body'>): Generator<Reference> {
  const { refs = {}, lists = {} } = findRule(own) ?? {};
  for (const [column, kind] of Object.entries({ ...refs, ...lists })) {
    const value = body[column] ?? null;
    for (const member of Array.isArray(value) ? value : [value]) {
      const key: Json = Array.isArray(member) ? member[0] : member;
      if (typeof key === 'string') yield { kind, key };
    }
  }
}

/** The hashes of the objects that an item needs. */
export const objectsOf = (item: Pick<SentItem, 'kind' | 'body'>): string[] =>
  [...namedIn(item)].flatMap(({ kind, key }) => (kind === 'artifact' ? [key] : []));

/** The rows that an item refers to. */
export const referencesOf = (item: Pick<SentItem, 'kind' | 'body'>): Reference[] => [...namedIn(item)].filter(({ kind }) => kind !== 'artifact');

export type RowFinder = ReturnType<typeof openPlaces>;

/** Opens the search for rows by name. `known` returns the number of a row whose only name is its digest. */
export function openPlaces(chain: ReadChain, { shape }: Rows, known: (kind: string, key: string) => number | undefined) {
  const { db, project, artifacts } = chain;
  const noted = new Map<string, number>();
  /** The number of the named row of a table; undefined if this project does not have it. */
  const numberOf = (table: string, name: string): number | undefined => {
    const id = `${table} ${name}`;
    const before = noted.get(id);
    if (before !== undefined) return before;
    const found = find(table, name);
    if (found !== undefined) noted.set(id, found);
    return found;
  };
  /** The values of the key columns of a named row in this project; undefined if one of them refers to a missing row. */
  const keyValues = (rule: RowRule, name: string): (null | number | string)[] | undefined => {
    const parts = parseJson(name);
    if (!rule.key || !Array.isArray(parts) || parts.length !== rule.key.length) return undefined;
    const values = rule.key.map((column, i) => {
      const [ref, part] = [rule.refs?.[column], parts[i] as Json];
      if (ref !== undefined) return numberOf(ref, String(part));
      return typeof part === 'number' || typeof part === 'string' || part === null ? part : undefined;
    });
    return values.some((value) => value === undefined) ? undefined : (values as (null | number | string)[]);
  };
  const find = (table: string, name: string): number | undefined => {
    if (table === 'artifact') return attempt(() => artifacts.find(`blake3:${name}`));
    if (table === 'context') return commitWith(chain, name);
    const rule = findRule(table);
    if (!rule) return undefined;
    if (!rule.key) return known(table, name);
    const values = keyValues(rule, name);
    if (!values) return undefined;
    const { number, hasProject } = shape(rule);
    const where = [...(hasProject ? ['project = ?'] : []), ...rule.key.map((name) => `"${name}" IS ?`)].join(' AND ');
    const select = `SELECT ${rule.numberedBy ?? number ?? '1'} AS no FROM "${tableOf(rule)}" WHERE ${where}`;
    return db.value<number>(select, ...(hasProject ? [project] : []), ...values);
  };
  /** Remembers the number of a row that was just stored. */
  const note = (kind: string, key: string, no: number): void => void noted.set(`${kind} ${key}`, no);
  return { numberOf, keyValues, note };
}

const prefixDigits = 8;

function commitWith({ db, project }: ReadChain, digest: string): number | undefined {
  const prefix = `ctx-${digest.slice(0, prefixDigits)}`;
  return db
    .all<{ seq: number; digest: Buffer }>('SELECT seq, digest FROM commits WHERE project = ? AND id >= ? AND id < ?', project, prefix, `${prefix}g`)
    .find((row) => row.digest.toString('hex') === digest)?.seq;
}
