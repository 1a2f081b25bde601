import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { badRequest, type Clock, conflict, corrupt, inWords, StemmaError } from '../base/index.js';
import type { ReadChain, WriteChain } from '../chain/index.js';
import type { InputOf } from '../contract/index.js';
import { folderInside, makeFolderInside, makeFolders, makePrivateFolder, renameDurably, stampAt, writeReason } from '../files/index.js';
import { tokenizer } from '../formats/index.js';
import { listBackups } from '../integrity/index.js';
import { copyForReading, type OpenDatabase, openDatabase, type ReadableDb, type RebuiltFile, rebuildDatabase } from '../store/index.js';
import { nameProblem, thisSystem } from '../system/index.js';
import { type TrustedProjects, whyUntrusted } from '../trust/index.js';
import { type Access, accessAfter, deniedWrite, hasRoom, type ReadOnly, readOnly, readWrite, requireWrite, sentenceOf } from './access.js';
import { allContents, type ChainMachine, type ChainPlace, openCaches, type ReadPlace, readChain, writeChain } from './chains.js';
import { beforeFormat } from './conversion.js';
import {
  database,
  ending,
  findProjectIn,
  manifest,
  objects,
  ownFiles,
  type ProjectManifest,
  projectDir,
  repairManifest,
  requireRegularDatabase,
  writeManifest,
} from './manifest.js';

/** The database, objects and chain of a project folder, without background work: all that a checkpoint needs. */
export interface ProjectFolder extends ProjectManifest {
  readonly dir: string;
  readonly db: OpenDatabase;
  readonly chain: WriteChain;
  /** The project for reading: a second connection, which SQLite opens read-only at the first use. */
  readonly readOnly: () => { readonly db: ReadableDb; readonly chain: ReadChain };
  /** Where other threads read it. Undefined for a copy in memory, which has only one connection. */
  readonly place: ReadPlace | undefined;
  /** Closes the connection for reading. The next read opens it again: the database may be another file then. */
  reopenForReading(): void;
  /** Whether the project is writable. If not, `db` is a private copy for caches and indexes only. */
  readonly access: Access;
  /** The losses, if its database had to be rebuilt. */
  readonly rebuilt?: RebuiltFile;
  /** Whether it must be reopened: its folder was replaced, its access changed, or another process wrote to a read-only project. */
  isStale(): boolean;
  close(): void;
}

/** The default project for histories, in Stemma's data folder. It is created at first use. */
export const historiesIn = (dataDir: string): NewProject => ({ dir: join(dataDir, 'Histories.stemma'), name: 'My histories' });

export type NewProject = InputOf<'project.create'>;

const alreadyExists = (dir: string): StemmaError => conflict(`${dir} exists already; open it, or choose another name`, { dir });

/**
 * Creates and trusts a project folder, and returns its path. A name without `.stemma` gets it.
 * @throws CONFLICT if the path exists; BAD_REQUEST if the folder cannot be created.
 */
export function makeFolder(input: NewProject, clock: Clock, trusted?: TrustedProjects): string {
  const dir = projectDir(input.dir);
  const problem = nameProblem(basename(dir), thisSystem);
  if (problem !== undefined) throw badRequest('dir', `Cannot create ${dir}: its name ${problem}.`);
  if (existsSync(dir) && readdirSync(dir).length > 0) throw alreadyExists(dir);
  const projectId = input.projectId ?? randomUUID();
  const name = input.name ?? basename(dir, ending);
  const createdAt = clock();
  const beside = `${dir}.${randomUUID().slice(0, 8)}.part`;
  try {
    makeFolders(join(beside, objects));
    writeManifest(beside, { projectId, name, createdAt, tokenizer });
    // Store the consent before the folder is visible to other processes.
    trusted?.created(projectId, dir);
    // The finished folder is renamed into place, so that parallel creators find a complete project.
    if (existsSync(dir)) rmdirSync(dir);
    renameDurably(beside, dir);
  } catch (error) {
    rmSync(beside, { recursive: true, force: true });
    if (existsSync(join(dir, manifest))) throw alreadyExists(dir);
    throw badRequest('dir', `cannot create a project at ${dir}: ${writeReason(error)}`);
  }
  return dir;
}

export interface OpenFolderOptions extends ChainMachine {
  /** Milliseconds to wait for another writer. */
  readonly busyMs?: number | undefined;
  /** Rebuilds a database that does not open from its readable rows. */
  readonly repair?: boolean | undefined;
  /** Returns why a project is read-only, or undefined if it is writable. */
  readonly restrict?: ((project: { readonly dir: string; readonly projectId: string }) => ReadOnly | undefined) | undefined;
  /** The folder that keeps copies of read-only databases for the next use. Without it, each use makes a copy and removes it. */
  readonly copies?: string | undefined;
  /** As in `ConnectionOptions`, for a thread of a process that has the seal. */
  readonly mark?: string | undefined;
  /** Called when content was removed, so that other threads forget it too. */
  readonly onGone?: (() => void) | undefined;
}

/**
 * Opens a project folder. A folder that is not writable or not trusted is opened read-only, and nothing in it changes.
 * @throws NOT_FOUND if there is no project; CORRUPT; CONFLICT if a newer Stemma made it; BAD_REQUEST if a link leads out of it.
 */
export function openFolder(path: string, clock: Clock, options: OpenFolderOptions = {}): ProjectFolder {
  const { machine, usageSettings, seal, mark, onGone, busyMs, restrict } = options;
  const { dir, isRecovered, ...said } = findProjectIn(path);
  const { projectId, name, createdAt } = said;
  const ownMark = mark ?? seal?.(`derived\0${projectId}`);
  const opened = openPlace(dir, projectId, { ...options, mark: ownMark });
  const { db, access, rebuilt } = opened;
  if (isRecovered && access.mode === 'read-write') repairManifest(dir, said);
  const caches = openCaches();
  db.onRollback(caches.forget);
  const forget = (): void => {
    caches.forget();
    onGone?.();
  };
  const project = projectNo(db, projectId, name, createdAt);
  const behind = access.mode === 'read-only' ? join(dir, objects) : undefined;
  const parts: ChainPlace = { project, folder: opened.objects, behind, clock, machine, usageSettings, seal, contents: allContents, caches, forget };
  const chain = writeChain(db, parts);
  let reading: { readonly db: OpenDatabase; readonly chain: ReadChain } | undefined;
  const reopenForReading = (): void => {
    caches.blocks.clear();
    reading?.chain.artifacts.close();
    reading?.db.close();
    reading = undefined;
  };
  const readOnly = (): NonNullable<typeof reading> => {
    if (reading) return reading;
    // A copy in memory has only one connection.
    if (typeof opened.file !== 'string') return { db, chain };
    const own = openDatabase(opened.file, { readonly: true, mark: ownMark, ...(busyMs !== undefined && { busyMs }) });
    reading = { db: own, chain: readChain(own, parts) };
    return reading;
  };
  return {
    dir,
    ...said,
    db,
    chain,
    readOnly,
    reopenForReading,
    place:
      typeof opened.file === 'string'
        ? { dir, ...said, access, file: opened.file, objects: opened.objects, behind, project, machine, mark: ownMark }
        : undefined,
    access,
    ...(rebuilt && { rebuilt }),
    isStale: () => {
      if (access.mode === 'read-write') return !db.place.isSame();
      if (access.reason === 'disk-full' && hasRoom(dir, opened.needed)) return true;
      return opened.stamp !== stampOf(dir, readOnlyNow(dir, projectId, restrict));
    },
    close: () => {
      reopenForReading();
      chain.artifacts.close();
      db.close();
      caches.close();
      opened.remove();
    },
  };
}

/** Restricts every project that no person trusts on this machine. */
export const restrictUntrusted =
  (trusted: TrustedProjects | undefined): OpenFolderOptions['restrict'] =>
  ({ projectId, dir }) =>
    !trusted || trusted.has(projectId, dir) ? undefined : readOnly('restricted', whyUntrusted(dir));

interface OpenPlace {
  readonly db: OpenDatabase;
  /** The file of the database: the project's own, or the copy. */
  readonly file: string | Buffer;
  readonly access: Access;
  /** The folder for new objects. */
  readonly objects: string;
  readonly rebuilt?: RebuiltFile | undefined;
  /** For a copy, the state of its original and the reason for reading only. */
  readonly stamp: string | undefined;
  /** For a project that was not converted, the free space in bytes that its conversion needs. */
  readonly needed?: number | undefined;
  /** Ends the use of the private copy, if there is one. */
  remove(): void;
}

type OpenPlaceOptions = Pick<OpenFolderOptions, 'busyMs' | 'repair' | 'restrict' | 'copies' | 'mark'>;

function readOnlyNow(dir: string, projectId: string, restrict: OpenFolderOptions['restrict']): ReadOnly | undefined {
  return restrict?.({ dir, projectId }) ?? deniedWrite(dir, [objects, database, `${database}-wal`]);
}

/** A value that changes with the database, its log, or the reason for reading only. */
const stampOf = (dir: string, denied: ReadOnly | undefined): string =>
  JSON.stringify([denied?.message, stampAt(join(dir, database)), stampAt(join(dir, `${database}-wal`))]);

function openPlace(dir: string, projectId: string, { busyMs, repair, restrict, copies, mark }: OpenPlaceOptions): OpenPlace {
  const denied = readOnlyNow(dir, projectId, restrict);
  refuseLinks(dir, denied === undefined);
  if (denied && repair) requireWrite(denied);
  if (denied) return openCopy(dir, denied, denied, { copies, mark });
  // Earlier versions made files readable for other users.
  for (const folder of [join(objects, 'snapshots'), objects]) makePrivateFolder(join(dir, folder));
  makePrivateFolder(dir, { always: true });
  try {
    const opened = openOrRebuild(join(dir, database), projectId, { repair, busyMs, mark });
    return { ...opened, file: join(dir, database), access: readWrite, objects: join(dir, objects), stamp: undefined, remove: () => {} };
  } catch (error) {
    const left = accessAfter(error, dir);
    if (!left) throw error;
    const { needed } = (error as StemmaError).data;
    return { ...openCopy(dir, left, undefined, { copies, mark }), ...(typeof needed === 'number' && { needed }) };
  }
}

/** Opens a copy of the database in a private folder. Caches, indexes and objects from replicas are written there. */
function openCopy(dir: string, access: ReadOnly, denied: ReadOnly | undefined, options: Pick<OpenPlaceOptions, 'copies' | 'mark'>): OpenPlace {
  const { copies, mark } = options;
  const stamp = stampOf(dir, denied);
  const copy = copyForReading(join(dir, database), copies);
  try {
    const db = openDatabase(copy.database, { derivedOnly: sentenceOf(access.message), mark });
    const own = copy.folder === undefined ? join(dir, objects) : makeFolderInside(copy.folder, objects);
    return { db, file: copy.database, access, objects: own, stamp, remove: copy.release };
  } catch (error) {
    copy.release();
    if (!copy.discard) throw error;
    copy.discard();
    return openCopy(dir, access, denied, options);
  }
}

/** Refuses links in place of the database and the folder of objects, because they may lead out of the project. @throws BAD_REQUEST */
function refuseLinks(dir: string, mayWrite: boolean): void {
  ownFiles(() => {
    if (mayWrite) makeFolderInside(dir, objects);
    else if (existsSync(join(dir, objects))) folderInside(dir, objects);
  });
  requireRegularDatabase(dir);
}

function openOrRebuild(file: string, projectId: string, { repair, busyMs, mark }: OpenPlaceOptions): Pick<OpenPlace, 'db' | 'rebuilt'> {
  const open = (): OpenDatabase => {
    refuseEmptied(file);
    return openDatabase(file, {
      beside: [dirname(file), join(dirname(file), objects)],
      backupPath: (from) => `${file}${beforeFormat}${from}`,
      mark,
      ...(busyMs !== undefined && { busyMs }),
    });
  };
  try {
    const db = open();
    if (repair) restoreProjectRow(db, projectId);
    return { db };
  } catch (error) {
    if (!repair || !(error instanceof StemmaError && error.code === 'CORRUPT')) throw error;
    const rebuilt = rebuildDatabase(file, backupPaths(dirname(file)));
    const db = open();
    restoreProjectRow(db, projectId);
    return { db, rebuilt };
  }
}

/** Refuses to begin a new database in a project that had one. @throws CORRUPT if a backup exists, and the database is missing or empty. */
function refuseEmptied(file: string): void {
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0 || backupPaths(dirname(file)).length === 0) return;
  throw corrupt(file, `${file} is ${existsSync(file) ? 'empty' : 'missing'}, and the project has backups: run "stemma fsck --repair" to restore it`);
}

/** The backups of a project's database, newest first. */
export const backupPaths = (dir: string): string[] => ownFiles(() => listBackups(dir).map(({ path }) => path));

/** Repairs a damaged project row with the id of `project.json` and the number in the other rows. */
function restoreProjectRow(db: OpenDatabase, projectId: string): void {
  if (!db.changedRows().some(({ table }) => table === 'project')) return;
  const [no, ...others] = db.column<number>('SELECT no FROM project NOT INDEXED');
  const used = db.column<number>('SELECT DISTINCT project FROM artifact LIMIT 2');
  if (no === undefined || others.length > 0 || used.length > 1) return;
  db.run('UPDATE project SET no = ?, projectId = ? WHERE no = ?', used[0] ?? no, projectId, no);
}

function projectNo(db: OpenDatabase, projectId: string, name: string, createdAt: number): number {
  return (
    findProjectRow(db, projectId) ??
    db.transaction(
      () =>
        findProjectRow(db, projectId) ??
        db.run('INSERT INTO project (projectId, name, createdAt) VALUES (?, ?, ?)', projectId, name, createdAt).rowId,
    )
  );
}

/**
 * The number of the project's row; undefined for a new database. It does not use the index: a damaged index would cause a
 * second project row, and the rows of the first would be lost. @throws CORRUPT if the database belongs to another project.
 */
export function findProjectRow(db: OpenDatabase, projectId: string): number | undefined {
  const projects = db.all<{ no: number; projectId: string }>('SELECT no, projectId FROM project NOT INDEXED');
  const own = projects.find((project) => project.projectId === projectId);
  const [other] = projects;
  if (!own && other)
    throw corrupt(
      projectId,
      `${manifest} names the project ${projectId}, but the database names ${inWords(other.projectId)}: one of them was changed. Run "stemma fsck --repair", or restore ${manifest} from a copy`,
    );
  return own?.no;
}
