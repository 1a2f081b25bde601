import type { ArtifactNo } from '../base/index.js';
import type { OutputOf } from '../contract/index.js';
import { chunkType } from '../store/index.js';
import { decodeChunks } from './chunk-list.js';
import { dropCaches, expire, expiryIsDue, isDue } from './policy.js';
import { graceMs } from './put.js';
import { forgetContent, isStoredSql, type Shelf, withoutContent } from './shelf.js';
import { tidy } from './tidy.js';

export interface GcOptions {
  /** Reports what a run would remove, and changes nothing. */
  readonly dryRun?: boolean | undefined;
  /** The maximum size of the store. Caches are dropped first, then the least recently used objects that a replica holds. */
  readonly budgetBytes?: number | undefined;
  /** The replicas configured on this machine. Only objects that one of them holds may be evicted. */
  readonly replicas?: readonly string[] | undefined;
  readonly roots: readonly Root[];
  /** Returns the rows that no longer keep objects. Objects that only they refer to are freed; the rows stay. Called inside a transaction. */
  readonly release?: (() => Released) | undefined;
}

/** A query for the numbers (`no`) of objects that rows of a table refer to without a foreign key. It ends with a condition. */
export interface Root {
  readonly table: string;
  readonly query: string;
}

/** Rows that no longer keep their objects, such as those of deleted sessions. */
export interface Released {
  /** A condition by table, true for these rows. */
  readonly rows: ReadonlyMap<string, string>;
  /** When the last row was released. An object that was put again since then is kept as young. */
  readonly at: number;
  /** The number of released sessions that lose content, by a condition that is true for the rows of the lost objects. */
  readonly count: (doomed: string) => number;
  /** Called after the content was freed, to remove data derived from it. */
  readonly onFreed: () => void;
}

export type GcResult = OutputOf<'artifact.gc'>;

/** The cache of results: its rows keep no object alive. */
const cache = 'materialized';
/** Rows deleted in one transaction, which limits how long others wait. */
const rowsAtOnce = 20_000;
const cacheBudget = 512 * 1024 * 1024;

/** Mark and sweep. Each step is a transaction that marks again, so it sees new references. An interrupted run has completed whole steps. */
export function* gc(shelf: Shelf, options: GcOptions): Generator<undefined, GcResult> {
  if (options.dryRun) return plan(shelf, options);
  let freedBytes = expire(shelf);
  const freed = free(shelf, options);
  freedBytes += freed.bytes;
  const first = sweep(shelf, options);
  let removed = first.removed + freed.objects;
  freedBytes += first.freedBytes;
  for (let last = first; last.rows >= rowsAtOnce; ) {
    yield;
    last = sweep(shelf, options);
    removed += last.removed;
    freedBytes += last.freedBytes;
  }
  yield;
  freedBytes += trimCaches(shelf, cacheBudget);
  if (options.budgetBytes !== undefined) freedBytes += shrinkTo(shelf, options.budgetBytes, options.replicas ?? []);
  yield;
  yield* tidy(shelf, { thorough: freed.objects > 0 });
  const kept = { ...first.kept, reachable: first.kept.reachable - freed.objects };
  return { examined: first.examined, removed, freedBytes, kept, ...(freed.sessions !== undefined && { deletedSessions: freed.sessions }) };
}

type Counts = Omit<GcResult, 'removed' | 'freedBytes'>;

function plan(shelf: Shelf, options: GcOptions): GcResult {
  return shelf.db.transaction(() => {
    const released = options.release?.();
    mark(shelf, options.roots, released);
    const { count, bytes } = shelf.db.one<{ count: number; bytes: number }>(
      `SELECT COUNT(*) FILTER (WHERE ${isObject} AND ${isUnreachable}) AS count, IFNULL(SUM(storedSize), 0) AS bytes FROM artifact
        WHERE project = ? AND (${isUnreachable} OR ${isDue})`,
      [shelf.project, shelf.clock()],
    ) ?? { count: 0, bytes: 0 };
    const { budgetBytes = Number.MAX_SAFE_INTEGER, replicas = [] } = options;
    const most = Math.min(cacheBudget, Math.max(0, budgetBytes - storedBytes(shelf) + bytes));
    // At an expiry, all caches are dropped, and their bytes are not counted.
    const caches = expiryIsDue(shelf) ? 0 : trimCaches(shelf, most, true);
    const evicted = shrinkTo(shelf, budgetBytes, replicas, bytes);
    return {
      ...countKept(shelf),
      removed: count,
      freedBytes: bytes + caches + evicted,
      ...(released && { deletedSessions: released.count(isDoomed) }),
    };
  });
}

/** True for objects that only released rows refer to. */
const isDoomed = 'no IN (SELECT no FROM temp.released) AND no NOT IN (SELECT no FROM temp.kept)';

/** Frees the content that only released rows refer to, in one transaction. The rows stay, so that reading one says why it is gone. */
function free(shelf: Shelf, { roots, release }: GcOptions): { objects: number; bytes: number; sessions?: number } {
  const { db, project } = shelf;
  if (!release) return { objects: 0, bytes: 0 };
  const freed = db.transaction(() => {
    const released = release();
    mark(shelf, roots, released);
    const counts = {
      sessions: released.count(isDoomed),
      ...(db.one<{ objects: number; bytes: number }>(
        `SELECT COUNT(*) FILTER (WHERE ${isObject}) AS objects, IFNULL(SUM(storedSize), 0) AS bytes FROM artifact WHERE project = ? AND ${isDoomed}`,
        project,
      ) ?? { objects: 0, bytes: 0 }),
    };
    if (counts.objects === 0) return counts;
    db.run(`UPDATE artifact SET ${withoutContent}, gone = 'deleted' WHERE project = ? AND ${isDoomed}`, project);
    const among = "IN (SELECT no FROM artifact WHERE gone = 'deleted')";
    forgetContent(shelf, among);
    db.run(`DELETE FROM replicaCopy WHERE artifact ${among}`);
    db.run('DELETE FROM materialized WHERE project = ?', project);
    released.onFreed();
    return counts;
  });
  if (freed.objects > 0) {
    dropCaches(shelf);
    shelf.onGone();
  }
  return freed;
}

/** True for an object that was put, not for a chunk or a cache. */
const isObject = `contentType <> '${chunkType}' AND (${isStoredSql} OR gone IS NOT NULL)`;
const isUnreachable = 'no NOT IN (SELECT no FROM temp.kept)';

/** Empties a row: only its number stays in use. */
const emptied = `key = -1, hash = zeroblob(32), size = 0, storedSize = 0, encoding = 0, contentType = '${chunkType}', policy = 'default', labels = NULL,
  pack = NULL, packStart = NULL, data = NULL, block = NULL, blockStart = NULL, chunks = NULL, expiresAt = NULL, gone = 'lost'`;

function sweep(shelf: Shelf, options: GcOptions): Counts & { rows: number; removed: number; freedBytes: number } {
  const { db, project } = shelf;
  return db.unenforced(() => {
    mark(shelf, options.roots);
    const counts = countKept(shelf);
    db.run('CREATE TEMP TABLE IF NOT EXISTS doomed (no INTEGER PRIMARY KEY)');
    db.run('DELETE FROM temp.doomed');
    db.run(`INSERT INTO temp.doomed SELECT no FROM artifact WHERE project = ? AND ${isUnreachable} LIMIT ${rowsAtOnce}`, project);
    const among = 'IN (SELECT no FROM temp.doomed)';
    const { rows, objects, bytes } = db.one<{ rows: number; objects: number; bytes: number }>(
      `SELECT COUNT(*) AS rows, COUNT(*) FILTER (WHERE ${isObject}) AS objects, IFNULL(SUM(storedSize), 0) AS bytes FROM artifact WHERE no ${among}`,
    ) ?? { rows: 0, objects: 0, bytes: 0 };
    if (rows > 0) {
      db.run(`DELETE FROM ${cache} WHERE artifact ${among}`);
      forgetContent(shelf, among);
      db.run(`DELETE FROM replicaCopy WHERE artifact ${among}`);
      // The highest number is never used again: other processes may still remember its object.
      db.run(`DELETE FROM artifact WHERE no ${among} AND no < (SELECT MAX(no) FROM artifact)`);
      db.run(`UPDATE artifact SET ${emptied} WHERE no ${among}`);
      db.run('DELETE FROM block WHERE NOT EXISTS (SELECT 1 FROM artifact WHERE artifact.block = block.no) AND project = ?', project);
    }
    return { ...counts, rows, removed: objects, freedBytes: bytes };
  });
}

/** Fills `temp.kept` with every object that stays, and the reason, and `temp.released` with the objects of released rows. */
function mark(shelf: Shelf, roots: readonly Root[], released?: Released): void {
  const { db, project } = shelf;
  const now = shelf.clock();
  db.run('CREATE TEMP TABLE IF NOT EXISTS kept (no INTEGER PRIMARY KEY, why TEXT NOT NULL)');
  db.run('DELETE FROM temp.kept');
  db.run('CREATE TEMP TABLE IF NOT EXISTS released (no INTEGER PRIMARY KEY)');
  db.run('DELETE FROM temp.released');
  const keep = (why: string, query: string, ...parameters: number[]): void =>
    void db.run(`INSERT OR IGNORE INTO temp.kept SELECT no, '${why}' FROM (${query})`, ...parameters);
  keep('pinned', "SELECT no FROM artifact WHERE project = ? AND policy = 'pin'", project);
  // Keeps objects whose requested copy in a replica does not exist yet.
  keep('pinned', "SELECT no FROM artifact WHERE project = ? AND policy = 'replicate' AND no NOT IN (SELECT artifact FROM replicaCopy)", project);
  keep('reachable', 'SELECT no FROM artifact WHERE project = ? AND labels IS NOT NULL', project);
  for (const { table, query } of [...references(shelf), ...roots]) {
    const isReleased = released?.rows.get(table);
    keep('reachable', isReleased === undefined ? query : `${query} AND (${isReleased}) IS NOT TRUE`);
    if (isReleased !== undefined) db.run(`INSERT OR IGNORE INTO temp.released SELECT no FROM (${query} AND (${isReleased}) IS TRUE)`);
  }
  for (const { hash, chunks } of largeIn(shelf, 'released'))
    for (const { no } of decodeChunks(chunks, hash) ?? []) db.run('INSERT OR IGNORE INTO temp.released VALUES (?)', no);
  // Released rows still refer to these freed objects, so their rows stay.
  keep('reachable', "SELECT no FROM artifact WHERE project = ? AND gone IN ('deleted', 'expired') AND no IN (SELECT no FROM temp.released)", project);
  const ripe = `no IN (SELECT no FROM temp.released) AND (contentType = '${chunkType}' OR IFNULL(touchedAt, createdAt) <= ?)`;
  keep(
    'young',
    `SELECT no FROM artifact WHERE project = ? AND IFNULL(touchedAt, createdAt) > ? AND NOT (${ripe})`,
    project,
    now - graceMs,
    released?.at ?? 0,
  );
  keep('young', 'SELECT no FROM artifact WHERE project = ? AND expiresAt > ?', project, now);
  keep(
    'cache',
    `SELECT m.artifact AS no FROM materialized m JOIN artifact a ON a.no = m.artifact WHERE m.project = ? AND NOT ${isStoredSql}`,
    project,
  );
  // A damaged list may name any chunk, so all chunks stay until it is repaired.
  for (const { hash, chunks } of largeIn(shelf, 'kept')) {
    const list = decodeChunks(chunks, hash);
    if (list) for (const { no } of list) db.run("INSERT OR IGNORE INTO temp.kept VALUES (?, 'chunk')", no);
    else keep('chunk', `SELECT no FROM artifact WHERE project = ? AND contentType = '${chunkType}'`, project);
  }
}

/** The large objects in a temporary table, with the lists of their chunks. */
const largeIn = ({ db, project }: Shelf, table: 'kept' | 'released'): { readonly hash: Buffer; readonly chunks: Buffer }[] =>
  db.all(`SELECT hash, chunks FROM artifact WHERE chunks IS NOT NULL AND project = ? AND no IN (SELECT no FROM temp.${table})`, project);

/** Every column with a foreign key to objects. A new table keeps its objects alive without a change here. */
const references = (shelf: Shelf): Root[] =>
  shelf.db
    .all<{ table: string; column: string }>(
      `SELECT m.name AS "table", f."from" AS "column" FROM sqlite_schema m, pragma_foreign_key_list(m.name) f
        WHERE m.type = 'table' AND f."table" = 'artifact'`,
    )
    .filter(({ table }) => table !== cache)
    .map(({ table, column }) => ({ table, query: `SELECT DISTINCT "${column}" AS no FROM "${table}" WHERE "${column}" IS NOT NULL` }));

function countKept(shelf: Shelf): Counts {
  const rows = shelf.db.all<{ why: string | null; count: number }>(
    `SELECT (SELECT why FROM temp.kept WHERE kept.no = artifact.no) AS why, COUNT(*) AS count FROM artifact WHERE ${isObject} AND project = ? GROUP BY why`,
    shelf.project,
  );
  const count = (why: string): number => rows.find((row) => row.why === why)?.count ?? 0;
  return {
    examined: rows.reduce((sum, row) => sum + row.count, 0),
    // Counts chunks as reachable: an object kept only as a chunk was put as an object before and is part of a larger one now.
    kept: { reachable: count('reachable') + count('chunk'), pinned: count('pinned'), young: count('young') },
  };
}

/** Drops the least recently used caches until the rest fits the budget. Returns their bytes. */
function trimCaches(shelf: Shelf, budget: number, isPlan = false): number {
  const names = new Set(
    shelf.db
      .column<Buffer>(`SELECT hash FROM artifact WHERE project = ? AND NOT ${isStoredSql} AND gone IS NULL`, shelf.project)
      .map((hash) => hash.toString('hex')),
  );
  const files = shelf.caches.list().sort((a, b) => b.usedAt - a.usedAt);
  let kept = 0;
  let freed = 0;
  for (const file of files) {
    const isYoung = shelf.clock() - file.usedAt < graceMs;
    if ((names.has(file.name) || isYoung) && kept + file.size <= budget) kept += file.size;
    else {
      if (!isPlan) shelf.caches.drop(file.name);
      freed += file.size;
    }
  }
  return freed;
}

const storedBytes = ({ db, project }: Shelf): number =>
  db.value<number>('SELECT IFNULL(SUM(storedSize), 0) FROM artifact WHERE project = ?', project) ?? 0;

/**
 * Evicts until the store fits: caches, then the least recently used `default` objects that a replica holds. Returns the freed bytes.
 * @param planned what the run would have freed before. A plan changes nothing.
 */
function shrinkTo(shelf: Shelf, budget: number, replicas: readonly string[], planned?: number): number {
  const { db, project } = shelf;
  const isPlan = planned !== undefined;
  const stored = storedBytes(shelf) - (planned ?? 0);
  let freed = isPlan ? 0 : trimCaches(shelf, Math.max(0, budget - stored));
  let over = stored - budget;
  if (over <= 0) return freed;
  const candidates = db
    .all<{ no: ArtifactNo; storedSize: number; usedAt: number }>(
      `SELECT no, storedSize, IFNULL(touchedAt, createdAt) AS usedAt FROM artifact
        WHERE project = ? AND policy = 'default' AND ${isStoredSql}${isPlan ? ` AND NOT (${isUnreachable})` : ''}
          AND no IN (SELECT artifact FROM replicaCopy WHERE replica IN (SELECT value FROM json_each(?)))`,
      [project, JSON.stringify(replicas)],
    )
    .sort((a, b) => (shelf.used?.get(a.no) ?? a.usedAt) - (shelf.used?.get(b.no) ?? b.usedAt));
  db.transaction(() => {
    for (const { no, storedSize } of candidates) {
      if (over <= 0) break;
      if (!isPlan) db.run(`UPDATE artifact SET ${withoutContent}, gone = 'evicted' WHERE no = ?`, no);
      over -= storedSize;
      freed += storedSize;
    }
  });
  if (!isPlan) shelf.onGone();
  return freed;
}
