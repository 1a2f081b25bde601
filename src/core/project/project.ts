import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { openArtifacts } from '../artifacts/index.js';
import { badRequest, type Clock, corrupt, isObject, notFound, parseJson, recent, StemmaError, stringAt, timestampOf } from '../base/index.js';
import { type Chain, remakeSnapshot } from '../chain/index.js';
import type { ProjectInfo } from '../contract/index.js';
import { tokenizer } from '../formats/index.js';
import { writeNew } from '../intake/index.js';
import { formatVersion, type OpenDatabase, openDatabase } from '../store/index.js';
import { type Capture, openCapture } from './capture.js';
import type { Keys } from './credentials.js';
import { openTiers, type Tiers } from './tiers.js';
import { openUpkeep, type Upkeep } from './upkeep.js';

/** An open project folder: its database, its objects, and the chain over both. */
export interface Project {
  readonly dir: string;
  readonly projectId: string;
  readonly name: string;
  readonly createdAt: number;
  readonly tokenizer: string;
  readonly db: OpenDatabase;
  readonly chain: Chain;
  readonly tiers: Tiers;
  readonly upkeep: Upkeep;
  readonly capture: Capture;
  close(): void;
}

const ending = '.stemma';
const manifest = 'project.json';
const database = 'stemma.db';
const objects = 'objects';

/** What parsed deltas and outlines may weigh in memory: bytes of deltas, and entries. */
const parsedBudget = 64 * 1024 * 1024;
const outlineBudget = 2_000_000;

export interface NewProject {
  readonly dir: string;
  readonly name?: string | undefined;
  readonly projectId?: string | undefined;
}

/**
 * Makes a project folder; `.stemma` is added to its name where it is missing.
 * @throws CONFLICT where something is there already; BAD_REQUEST where nothing can be made there.
 */
export function createProject(input: NewProject, clock: Clock, keys?: Keys): Project {
  const dir = projectDir(input.dir);
  if (existsSync(dir) && readdirSync(dir).length > 0)
    throw new StemmaError('CONFLICT', `${dir} is there already; open it, or choose another name`, { dir });
  const projectId = input.projectId ?? randomUUID();
  const name = input.name ?? basename(dir, ending);
  const createdAt = clock();
  try {
    mkdirSync(join(dir, objects), { recursive: true });
  } catch (error) {
    throw badRequest('dir', `no project can be made at ${dir}: ${(error as Error).message}`);
  }
  const said = { format: formatVersion, projectId, name, createdAt: timestampOf(createdAt), tokenizer };
  writeNew(join(dir, manifest), `${JSON.stringify(said, null, 2)}\n`);
  return openProject(dir, clock, keys);
}

/** @throws NOT_FOUND where no project is; CORRUPT; CONFLICT where it is of a newer Stemma. */
export function openProject(path: string, clock: Clock, keys?: Keys): Project {
  const dir = existsSync(join(resolve(path), manifest)) ? resolve(path) : projectDir(path);
  const said = readManifest(dir);
  const { projectId, name, createdAt } = said;
  mkdirSync(join(dir, objects), { recursive: true });
  const file = join(dir, database);
  const db = openDatabase(file, { backupPath: (from) => `${file}.format-${from}` });
  const outlines: Chain['outlines'] = recent(outlineBudget);
  const parsed: Chain['parsed'] = recent(parsedBudget);
  const forget = (): void => {
    outlines.clear();
    parsed.clear();
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
  chain = { db, project: artifacts.project, artifacts, clock, newId: randomUUID, outlines, parsed };
  const tiers = openTiers(chain, (tier) => keys?.find(projectId, tier));
  tiers.wake();
  const upkeep = openUpkeep(chain);
  const capture = openCapture(chain);
  return {
    dir,
    ...said,
    db,
    chain,
    tiers,
    upkeep,
    capture,
    close: () => {
      capture.close();
      upkeep.close();
      tiers.close();
      artifacts.close();
      db.close();
    },
  };
}

export function projectInfo(project: Project): ProjectInfo {
  const { db, chain } = project;
  const commits = db.one<{ commits: number; entries: number | null }>(
    'SELECT COUNT(*) AS commits, SUM(entries) AS entries FROM context WHERE project = ?',
    chain.project,
  );
  const artifacts = chain.artifacts.totals();
  return {
    projectId: project.projectId,
    name: project.name,
    dir: project.dir,
    createdAt: timestampOf(project.createdAt),
    counts: {
      commits: commits?.commits ?? 0,
      entries: commits?.entries ?? 0,
      cards: countOf(db, 'card', chain.project),
      boxes: countOf(db, 'box', chain.project),
      artifacts: artifacts.objects,
    },
    bytes: { logical: artifacts.logical, stored: folderBytes(project.dir) },
    formatVersion,
    tokenizer: project.tokenizer,
  };
}

const countOf = (db: OpenDatabase, table: 'card' | 'box', project: number): number =>
  db.one<{ count: number }>(`SELECT COUNT(*) AS count FROM ${table} WHERE project = ?`, project)?.count ?? 0;

/** What the folder weighs on disk, caches included. */
function folderBytes(dir: string): number {
  return readdirSync(dir, { recursive: true, withFileTypes: true }).reduce((sum, file) => {
    if (!file.isFile()) return sum;
    return sum + (statSync(join(file.parentPath, file.name), { throwIfNoEntry: false })?.size ?? 0);
  }, 0);
}

const projectDir = (path: string): string => (path.endsWith(ending) ? resolve(path) : `${resolve(path)}${ending}`);

function readManifest(dir: string): Pick<Project, 'projectId' | 'name' | 'createdAt' | 'tokenizer'> {
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
  const find = (): number | undefined => db.one<{ no: number }>('SELECT no FROM project WHERE projectId = ?', projectId)?.no;
  return (
    find() ??
    db.transaction(() => find() ?? db.run('INSERT INTO project (projectId, name, createdAt) VALUES (?, ?, ?)', projectId, name, createdAt).rowId)
  );
}
