import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { openArtifacts } from '../artifacts/index.js';
import {
  badRequest,
  type Clock,
  corrupt,
  inWords,
  isObject,
  notFound,
  parseJson,
  recent,
  StemmaError,
  stringAt,
  timestampOf,
} from '../base/index.js';
import { type Chain, remakeSnapshot } from '../chain/index.js';
import { tokenizer } from '../formats/index.js';
import { makeFolders, writeNew } from '../intake/index.js';
import { formatVersion, type OpenDatabase, openDatabase, rescueDatabase, type Salvage } from '../store/index.js';

/** A project folder's database, its objects, and the chain over both: all that a checkpoint needs, and nothing that goes on by itself. */
export interface ProjectFolder {
  readonly dir: string;
  readonly projectId: string;
  readonly name: string;
  readonly createdAt: number;
  readonly tokenizer: string;
  readonly db: OpenDatabase;
  readonly chain: Chain;
  /** What came of rescuing its database, where that was needed to open it. */
  readonly salvaged?: Salvage;
  close(): void;
}

/** The project that histories go to where no other is meant: in Stemma's own folder, made on first use. */
export const historiesIn = (dataDir: string): NewProject => ({ dir: join(dataDir, 'Histories.stemma'), name: 'My histories' });

const ending = '.stemma';
const manifest = 'project.json';
export const database = 'stemma.db';
const objects = 'objects';

/** What parsed deltas, outlines and contexts may weigh in memory: bytes of deltas, and entries. */
const parsedBudget = 64 * 1024 * 1024;
const outlineBudget = 2_000_000;
const placeBudget = 1_000_000;

export interface NewProject {
  readonly dir: string;
  readonly name?: string | undefined;
  readonly projectId?: string | undefined;
}

const isThere = (dir: string): StemmaError => new StemmaError('CONFLICT', `${dir} is there already; open it, or choose another name`, { dir });

/**
 * Makes a project folder and gives its path; `.stemma` is added to its name where it is missing.
 * @throws CONFLICT where something is there already; BAD_REQUEST where nothing can be made there.
 */
export function makeFolder(input: NewProject, clock: Clock): string {
  const dir = projectDir(input.dir);
  if (existsSync(dir) && readdirSync(dir).length > 0) throw isThere(dir);
  const projectId = input.projectId ?? randomUUID();
  const name = input.name ?? basename(dir, ending);
  const createdAt = clock();
  const said = { format: formatVersion, projectId, name, createdAt: timestampOf(createdAt), tokenizer };
  const beside = `${dir}.${randomUUID().slice(0, 8)}.part`;
  try {
    makeFolders(join(beside, objects));
    writeNew(join(beside, manifest), `${JSON.stringify(said, null, 2)}\n`);
    // It takes its place whole: of several that are made at once there, the others find one that can be opened.
    if (existsSync(dir)) rmdirSync(dir);
    renameSync(beside, dir);
  } catch (error) {
    rmSync(beside, { recursive: true, force: true });
    if (existsSync(join(dir, manifest))) throw isThere(dir);
    throw badRequest('dir', `no project can be made at ${dir}: ${(error as Error).message}`);
  }
  return dir;
}

/**
 * `busyMs`: how long to wait for another process that writes to the project. `repair`: a database that is too damaged to be opened is made
 * one that can be, out of what still reads.
 * @throws NOT_FOUND where no project is; CORRUPT; CONFLICT where it is of a newer Stemma.
 */
export function openFolder(
  path: string,
  clock: Clock,
  { busyMs, repair = false }: { readonly busyMs?: number; readonly repair?: boolean } = {},
): ProjectFolder {
  const dir = existsSync(join(resolve(path), manifest)) ? resolve(path) : projectDir(path);
  const said = readManifest(dir);
  const { projectId, name, createdAt } = said;
  makeFolders(join(dir, objects));
  const file = join(dir, database);
  const { db, salvaged } = openOrRescue(file, projectId, repair, busyMs);
  const outlines: Chain['outlines'] = recent(outlineBudget);
  const parsed: Chain['parsed'] = recent(parsedBudget);
  const placed: Chain['placed'] = recent(placeBudget);
  const forget = (): void => {
    outlines.clear();
    parsed.clear();
    placed.clear();
  };
  db.onRollback(forget);
  let chain: Chain | undefined;
  const artifacts = openArtifacts({
    db,
    project: projectNo(db, projectId, name, createdAt),
    folder: join(dir, objects),
    clock,
    newName: randomUUID,
    remake: (artifact) => chain && remakeSnapshot(chain, artifact),
    onGone: forget,
  });
  chain = { db, project: artifacts.project, artifacts, clock, newId: randomUUID, outlines, parsed, placed };
  return {
    dir,
    ...said,
    db,
    chain,
    ...(salvaged && { salvaged }),
    close: () => {
      artifacts.close();
      db.close();
    },
  };
}

function openOrRescue(
  file: string,
  projectId: string,
  repair: boolean,
  busyMs: number | undefined,
): { db: OpenDatabase; salvaged?: Salvage | undefined } {
  const open = (): OpenDatabase => openDatabase(file, { backupPath: (from) => `${file}.format-${from}`, ...(busyMs !== undefined && { busyMs }) });
  try {
    const db = open();
    // Its tables are looked up here, and not first by who reads them.
    if (repair) numberOf(db, projectId);
    return { db };
  } catch (error) {
    if (!repair || !(error instanceof StemmaError && (error.code === 'CORRUPT' || error.code === 'CONFLICT'))) throw error;
    const salvaged = rescueDatabase(file);
    return { db: open(), salvaged };
  }
}

const projectDir = (path: string): string => (path.endsWith(ending) ? resolve(path) : `${resolve(path)}${ending}`);

function readManifest(dir: string): Pick<ProjectFolder, 'projectId' | 'name' | 'createdAt' | 'tokenizer'> {
  const file = join(dir, manifest);
  if (!existsSync(file)) throw notFound(dir, `no Stemma project is at ${dir}`, { dir });
  const read = parseJson(readFileSync(file, 'utf8'));
  const projectId = stringAt(read, 'projectId');
  if (!isObject(read) || projectId === undefined) throw corrupt(file, `${file} does not say which project this is; put it back from a copy`);
  return {
    projectId,
    name: stringAt(read, 'name') ?? basename(dir, ending),
    createdAt: Date.parse(stringAt(read, 'createdAt') ?? '') || 0,
    tokenizer: stringAt(read, 'tokenizer') ?? tokenizer,
  };
}

function projectNo(db: OpenDatabase, projectId: string, name: string, createdAt: number): number {
  return (
    numberOf(db, projectId) ??
    db.transaction(
      () => numberOf(db, projectId) ?? db.run('INSERT INTO project (projectId, name, createdAt) VALUES (?, ?, ?)', projectId, name, createdAt).rowId,
    )
  );
}

/**
 * Undefined where the database is new. Not by the index, and not beside another: the project would be made a second time, and the first with
 * all it holds would be nobody's. @throws CORRUPT where it is another project's.
 */
function numberOf(db: OpenDatabase, projectId: string): number | undefined {
  const projects = db.all<{ no: number; projectId: string }>('SELECT no, projectId FROM project NOT INDEXED');
  const own = projects.find((project) => project.projectId === projectId);
  const [other] = projects;
  if (!own && other)
    throw corrupt(
      projectId,
      `${manifest} says that this is project ${projectId}, its database that it is ${inWords(other.projectId)}: one of them has changed; run "stemma fsck --repair", or put ${manifest} back from a copy`,
    );
  return own?.no;
}
