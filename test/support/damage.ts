import { cpSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import { refOf } from '../../src/core/artifacts/index.js';
import { type ContextId, StemmaError } from '../../src/core/base/index.js';
import { materializedBytes } from '../../src/core/chain/index.js';
import { type CheckResult, openProject, type Project } from '../../src/core/project/index.js';
import { derivedName } from '../../src/core/store/index.js';
import { heldClock } from './project.js';

const pageSize = 4096;
export const databaseIn = (dir: string): string => join(dir, 'stemma.db');
/** The database of what is derived. */
export const derivedIn = (dir: string): string => join(dir, derivedName);

/** Tables whose rows a test changes. */
const tables = ['commits', 'artifact', 'firstParentRun', 'pack', 'block', 'source', 'record', 'project'] as const;

/** One kind of damage; numbers between 0 and 1 choose the place. */
export type Damage =
  | { readonly kind: 'flip'; readonly place: number; readonly bit: number }
  | { readonly kind: 'page'; readonly place: number }
  | { readonly kind: 'row'; readonly table: (typeof tables)[number]; readonly place: number; readonly column: number }
  | { readonly kind: 'pack'; readonly place: number; readonly how: 'lost' | 'cut' | 'flip' };

const place = fc.double({ min: 0, max: 0.999999, noNaN: true });
export const anyDamage: fc.Arbitrary<Damage> = fc.oneof(
  fc.record({ kind: fc.constant('flip' as const), place, bit: fc.nat(7) }),
  fc.record({ kind: fc.constant('page' as const), place }),
  fc.record({ kind: fc.constant('row' as const), table: fc.constantFrom(...tables), place, column: place }),
  fc.record({ kind: fc.constant('pack' as const), place, how: fc.constantFrom('lost', 'cut', 'flip') }),
);

/** Damages a closed project the way a disk or another program does. */
export function damage(dir: string, what: Damage): void {
  if (what.kind === 'flip') flip(databaseIn(dir), what.place, what.bit);
  else if (what.kind === 'page') spoilPage(databaseIn(dir), what.place);
  else if (what.kind === 'row') changeRow(databaseIn(dir), what);
  else damagePack(dir, what);
}

function flip(file: string, at: number, bit: number): void {
  const bytes = readFileSync(file);
  const offset = Math.floor(bytes.length * at);
  bytes[offset] = (bytes[offset] ?? 0) ^ (1 << bit);
  writeFileSync(file, bytes);
}

/** What a lost sector leaves of a page. */
export function spoilPage(file: string, at: number): void {
  const bytes = readFileSync(file);
  const page = Math.floor((bytes.length / pageSize) * at);
  bytes.fill(0xa5, page * pageSize, (page + 1) * pageSize);
  writeFileSync(file, bytes);
}

/** Changes one value of a row, as another program does: no trigger of ours keeps the checksum. */
function changeRow(file: string, { table, place: at, column }: Damage & { kind: 'row' }): void {
  const raw = new Database(file);
  try {
    raw.pragma('foreign_keys = OFF');
    const columns = raw.prepare('SELECT name FROM pragma_table_info(?)').pluck().all(table) as string[];
    const rows = raw.prepare(`SELECT COUNT(*) FROM "${table}"`).pluck().get() as number;
    const name = columns[Math.floor(columns.length * column)] ?? '';
    const key = table === 'record' ? 'record' : columns[0];
    const row = raw
      .prepare(`SELECT "${key}" FROM "${table}" LIMIT 1 OFFSET ?`)
      .pluck()
      .get(Math.floor(rows * at));
    if (row === undefined) return;
    const old = raw.prepare(`SELECT "${name}" FROM "${table}" WHERE "${key}" = ?`).pluck().get(row);
    const changed =
      typeof old === 'number' ? old + 1 : typeof old === 'string' ? `${old}x` : Buffer.isBuffer(old) ? Buffer.from(old).fill(1, 0, 1) : 7;
    raw.prepare(`UPDATE OR IGNORE "${table}" SET "${name}" = ? WHERE "${key}" = ?`).run(changed, row);
  } catch (error) {
    // Earlier damage keeps SQLite from changing the row.
    if (!(error instanceof Database.SqliteError)) throw error;
  } finally {
    raw.close();
  }
}

function damagePack(dir: string, { place: at, how }: Damage & { kind: 'pack' }): void {
  const packs = readdirSync(join(dir, 'objects')).filter((name) => name.endsWith('.pack'));
  const name = packs[Math.floor(packs.length * at)];
  if (name === undefined) return;
  const path = join(dir, 'objects', name);
  if (how === 'lost') rmSync(path);
  else if (how === 'cut') truncateSync(path, Math.floor(statSync(path).size * at));
  else flip(path, at, 3);
}

/** Every context that can be materialized, by commit and stop, as its hash; undefined if the project cannot be opened. */
export function materializable(dir: string, ids: readonly ContextId[], options = {}): Map<string, string> | undefined {
  const copy = `${dir}-looked-at.stemma`;
  rmSync(copy, { recursive: true, force: true });
  cpSync(dir, copy, { recursive: true });
  // A cached result would hide that the context cannot be rebuilt.
  rmSync(join(copy, 'objects', 'snapshots'), { recursive: true, force: true });
  let project: Project | undefined;
  try {
    project = openProject(copy, heldClock(), undefined, options);
    return contextsIn(project, ids);
  } catch (error) {
    if (error instanceof StemmaError) return undefined;
    throw error;
  } finally {
    project?.close();
    rmSync(copy, { recursive: true, force: true });
  }
}

export function contextsIn(project: Project, ids: readonly ContextId[]): Map<string, string> {
  const found = new Map<string, string>();
  for (const id of ids)
    for (const stop of ['root', 'compaction'] as const)
      try {
        found.set(`${id} ${stop}`, refOf(materializedBytes(project.chain, { id, stop }).bytes));
      } catch (error) {
        if (!(error instanceof StemmaError)) throw error;
      }
  return found;
}

/** What a repair says that it could not restore. */
export const named = ({ problems }: CheckResult): string =>
  problems
    .filter(({ repaired }) => !repaired)
    .map(({ id, message }) => `${id} ${message}`)
    .join('\n');
