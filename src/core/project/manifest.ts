import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { badRequest, corrupt, isObject, notFound, parseJson, stringAt, toTimestamp } from '../base/index.js';
import { absolutePath, FileRefused, readInside, replaceFile, statInside, unlessRefused, writeNew } from '../files/index.js';
import { tokenizer } from '../formats/index.js';
import { copyForReading, formatVersion, openDatabase } from '../store/index.js';

/** Names in a project folder. */
export const ending = '.stemma';
export const manifest = 'project.json';
export const database = 'stemma.db';
export const objects = 'objects';

/** The content of `project.json`. The database has the same, except for the tokenizer. */
export interface ProjectManifest {
  readonly projectId: string;
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly tokenizer: string;
}

/** Maximum size of `project.json` in bytes. */
const maxManifestBytes = 1024 * 1024;

/** The path of a project folder; `.stemma` is added to a name without it. */
export const projectDir = (path: string): string => (path.endsWith(ending) ? absolutePath(path) : `${absolutePath(path)}${ending}`);

/** Whether a folder is a project: its manifest or its database exists. */
export const isProject = (dir: string): boolean => [manifest, database].some((name) => existsSync(join(dir, name)));

/**
 * The project at a path, with or without `.stemma` at its end, as its folder describes it. `isRecovered`: `project.json` is missing or damaged, and the
 * database was used instead. @throws NOT_FOUND; CORRUPT if the project cannot be identified.
 */
export function findProjectIn(path: string) {
  const named = absolutePath(path);
  const dir = isProject(named) ? named : projectDir(named);
  const read = readManifest(dir);
  return { dir, isRecovered: read === undefined, ...(read ?? recoverManifest(dir)) };
}

/**
 * Reads `project.json`. Undefined if it is missing, empty or no manifest, for instance after a power cut or if another program changed it.
 * @throws NOT_FOUND if the folder is no project; BAD_REQUEST if the file is a link or no regular file.
 */
function readManifest(dir: string): ProjectManifest | undefined {
  if (!isProject(dir))
    throw notFound(dir, existsSync(dir) ? `${dir} is not a Stemma project: it has no project.json.` : `Cannot open ${dir}: it does not exist.`, {
      dir,
    });
  // A link that leads nowhere is refused like any other link.
  const bytes = ownFiles(() => unlessRefused(() => readInside(dir, manifest, { limit: maxManifestBytes }), ['ENOENT']));
  if (bytes === undefined) return undefined;
  const read = parseJson(bytes.toString('utf8'));
  const projectId = stringAt(read, 'projectId');
  if (!isObject(read) || projectId === undefined) return undefined;
  return {
    projectId,
    name: stringAt(read, 'name') ?? basename(dir, ending),
    createdAt: Date.parse(stringAt(read, 'createdAt') ?? '') || 0,
    tokenizer: stringAt(read, 'tokenizer') ?? tokenizer,
  };
}

/** Restores the manifest from a copy of the project's database. @throws CORRUPT if the database names no project. */
function recoverManifest(dir: string): ProjectManifest {
  requireRegularDatabase(dir);
  const copy = copyForReading(join(dir, database));
  try {
    const db = openDatabase(copy.database);
    try {
      const [row] = db.all<Omit<ProjectManifest, 'tokenizer'>>('SELECT projectId, name, createdAt FROM project ORDER BY no');
      if (row) return { ...row, tokenizer };
    } finally {
      db.close();
    }
  } finally {
    copy.release();
  }
  const file = join(dir, manifest);
  throw corrupt(file, `${file} is missing or damaged, and the database does not name the project either. Put ${manifest} back from a copy.`);
}

/** Writes the manifest of a project whose folder is being created. */
export const writeManifest = (dir: string, content: ProjectManifest): void => writeNew(join(dir, manifest), writeText(content));

/** Replaces a damaged manifest by a recovered one. */
export const repairManifest = (dir: string, content: ProjectManifest): void => replaceFile(join(dir, manifest), writeText(content));

const writeText = ({ projectId, name, createdAt, tokenizer }: ProjectManifest): string =>
  `${JSON.stringify({ format: formatVersion, projectId, name, createdAt: toTimestamp(createdAt), tokenizer }, null, 2)}\n`;

/** Requires regular files for the database and its log, because SQLite follows links and waits for pipes. @throws BAD_REQUEST */
export function requireRegularDatabase(dir: string): void {
  ownFiles(() => {
    for (const ending of ['', '-wal', '-shm', '-journal']) statInside(dir, `${database}${ending}`);
  });
}

/** Runs work in the project's folder and converts a refused link or special file into an error that names it. @throws BAD_REQUEST */
export function ownFiles<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof FileRefused) throw badRequest('dir', `This project cannot be opened: ${error.message}`, { path: error.path });
    throw error;
  }
}
