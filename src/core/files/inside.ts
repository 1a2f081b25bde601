import {
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  type Stats,
  statSync,
  unlinkSync,
} from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';
import { outsideProblem, thisSystem } from '../system/index.js';
import { isSameStat } from './identity.js';
import { privateFolder } from './private.js';
import { unlessRefused } from './reasons.js';

/** The reason why a path below a root was refused. The codes look like those of the file system, so that one handler serves both. */
export type RefusalCode = 'ELOOP' | 'EFTYPE' | 'EFBIG' | 'EOUTSIDE';

/** A refusal of this folder's functions. `path` is the file or folder that was refused. */
export class FileRefused extends Error {
  constructor(
    readonly code: RefusalCode,
    readonly path: string,
    /** The problem, as the end of a sentence that begins with the path: "is a link; …". */
    readonly reason: string,
  ) {
    super(`${path} ${reason}`);
  }
}

/** An open file and its `fstat` result from when it was opened. Close `fd` with `closeSync`. */
export interface OpenedFile {
  readonly fd: number;
  readonly stat: Stats;
}

/** Windows has neither flag; it also has no FIFOs, and its links are found by `lstat` alone. */
const noFollow = constants.O_NOFOLLOW ?? 0;
const nonBlocking = constants.O_NONBLOCK ?? 0;

/** Flags that read a file without following a link and without waiting for a pipe, for functions that do not block. */
export const readSafely = constants.O_RDONLY | noFollow | nonBlocking;

/** The flags with which each mode opens a file. None of them creates a file. */
const modes = { read: constants.O_RDONLY, readWrite: constants.O_RDWR } as const;

interface Limit {
  /** A file of more bytes is refused with EFBIG. */
  readonly limit?: number;
}

/**
 * Opens a regular file below `root`. The root itself may be a link or lie behind one. Refuses links below the root, which
 * could lead out of it, and FIFOs, devices and sockets, which could block.
 * @param path absolute, or relative to the root.
 * @throws FileRefused, and the error of the file system (ENOENT, EACCES ...).
 */
export function openInside(root: string, path: string, { mode = 'read', limit }: Limit & { readonly mode?: keyof typeof modes } = {}): OpenedFile {
  const file = pathInside(root, path);
  return openRegular(file, entryInside(root, file), modes[mode] | noFollow, limit);
}

/** Opens a regular file that a person named: the path may be a link, or lie behind one. @throws as {@link openInside}. */
export const openNamed = (path: string, { limit }: Limit = {}): OpenedFile => openRegular(path, statSync(path), modes.read, limit);

function openRegular(file: string, before: Stats, flags: number, limit: number | undefined): OpenedFile {
  requireRegular(file, before);
  const fd = openSync(file, flags | nonBlocking);
  try {
    const stat = fstatSync(fd);
    requireRegular(file, stat);
    if (!isSameStat(stat, before)) throw new FileRefused('ELOOP', file, 'was replaced while it was opened');
    const { size } = stat;
    if (limit !== undefined && size > limit) throw new FileRefused('EFBIG', file, `has ${size} bytes; the limit is ${limit}`);
    return { fd, stat };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** Reads a regular file below `root`, up to the size that it had when it was opened. @throws FileRefused, and the error of the file system. */
export const readInside = (root: string, path: string, { limit }: Required<Limit>): Buffer => readOpened(openInside(root, path, { limit }));

/** Reads an open file up to the size that it had when it was opened, and closes it. */
export function readOpened({ fd, stat }: OpenedFile): Buffer {
  try {
    const bytes = Buffer.allocUnsafe(stat.size);
    return bytes.subarray(0, fillFrom(fd, bytes, 0));
  } finally {
    closeSync(fd);
  }
}

/** Fills the bytes from an offset of an open file. Returns how many it has read: fewer if the file ends before. */
export function fillFrom(fd: number, bytes: Uint8Array, from: number): number {
  let filled = 0;
  while (filled < bytes.length) {
    const read = readSync(fd, bytes, filled, bytes.length - filled, from + filled);
    if (read === 0) break;
    filled += read;
  }
  return filled;
}

/**
 * Facts about a regular file below `root`, or undefined if nothing exists at the path.
 * @throws FileRefused for a link, a folder or a special file, and for a link in place of a folder on the way.
 */
export function statInside(root: string, path: string): Stats | undefined {
  const file = pathInside(root, path);
  const stat = unlessMissing(() => entryIfExists(root, file));
  if (stat) requireRegular(file, stat);
  return stat;
}

/** As {@link statInside}, for a path that a person named. The path may be a link or lie behind one. */
export function statNamed(path: string): Stats | undefined {
  const stat = unlessMissing(() => statSync(path));
  if (stat) requireRegular(path, stat);
  return stat;
}

/**
 * The entries of a real folder: of the root, or of a folder below it. Links among the entries are listed as links.
 * @throws FileRefused if a link is on the way, and the error of the file system.
 */
export function listInside(root: string, folder = root): Dirent[] {
  return readdirSync(folderInside(root, folder), { withFileTypes: true });
}

/** As `listInside`; empty if the folder does not exist. */
export const listIfExists = (root: string, folder: string): Dirent[] => unlessRefused(() => listInside(root, folder), ['ENOENT']) ?? [];

/**
 * The absolute path of a folder that is the root or a real folder below it.
 * @throws FileRefused if it or a folder above it is a link, or if it is no folder; ENOENT if it does not exist.
 */
export function folderInside(root: string, folder = root): string {
  const path = resolve(root, folder);
  if (path === resolve(root)) return path;
  const stat = entryInside(root, pathInside(root, path));
  requireNoLink(path, stat);
  if (!stat.isDirectory()) throw new FileRefused('EFTYPE', path, 'is not a folder');
  return path;
}

/** Creates a folder below `root`, and the missing folders between the two. Follows no link. */
export function makeFolderInside(root: string, folder: string, mode = privateFolder): string {
  const path = pathInside(root, folder);
  let at = resolve(root);
  for (const name of relative(at, path).split(sep)) {
    at = join(at, name);
    unlessRefused(() => mkdirSync(at, mode), ['EEXIST']);
    const stat = lstatSync(at);
    requireNoLink(at, stat);
    if (!stat.isDirectory()) throw new FileRefused('EFTYPE', at, 'is not a folder');
  }
  return path;
}

/**
 * Deletes one regular file below `root`. Returns false if nothing exists at the path.
 * @throws FileRefused for anything but a regular file, and for a link in place of a folder on the way.
 */
export function removeInside(root: string, path: string): boolean {
  const file = pathInside(root, path);
  return (
    unlessMissing(() => {
      requireRegular(file, entryInside(root, file));
      unlinkSync(file);
      return true;
    }) ?? false
  );
}

/** The absolute form of a path, which must name something below `root`. @throws FileRefused with EOUTSIDE. */
function pathInside(root: string, path: string): string {
  const file = resolve(root, path);
  const problem = outsideProblem(root, path, thisSystem);
  if (problem !== undefined) throw new FileRefused('EOUTSIDE', file, problem);
  return file;
}

/** The `lstat` result of a path below `root`. First checks that no folder between the two is a link. */
const entryInside = (root: string, file: string): Stats => lstatSync(beforeLinks(root, file));

/** As `entryInside`; undefined if nothing exists at the path. An error for each missing file would cost more than the rest. */
const entryIfExists = (root: string, file: string): Stats | undefined => lstatSync(beforeLinks(root, file), { throwIfNoEntry: false });

/** The absolute path, if no folder between it and the root is a link. */
function beforeLinks(root: string, file: string): string {
  let at = resolve(root);
  const names = relative(at, file).split(sep);
  const last = names.pop() as string;
  for (const name of names) {
    at = join(at, name);
    requireNoLink(at, lstatSync(at));
  }
  return join(at, last);
}

function requireNoLink(path: string, stat: Stats): void {
  if (stat.isSymbolicLink()) throw new FileRefused('ELOOP', path, 'is a link; Stemma follows no links there');
}

function requireRegular(file: string, stat: Stats): void {
  requireNoLink(file, stat);
  if (!stat.isFile()) throw new FileRefused('EFTYPE', file, `is ${kindOf(stat)}, not a regular file`);
}

function kindOf(stat: Stats): string {
  if (stat.isDirectory()) return 'a folder';
  if (stat.isFIFO()) return 'a named pipe';
  if (stat.isSocket()) return 'a socket';
  return 'a device';
}

const unlessMissing = <T>(work: () => T): T | undefined => unlessRefused(work, ['ENOENT', 'ENOTDIR']);

/** A file with the root that a person named: a folder above it, or the file itself. Only the root may be a link. */
export interface LocatedFile {
  readonly root: string;
  readonly path: string;
}

/** A file that a person named: it is its own root. */
export const namedFile = (path: string): LocatedFile => ({ root: path, path });

const isRoot = ({ root, path }: LocatedFile): boolean => resolve(root) === resolve(path);

/** Opens a regular file without blocking, and without following a link below its root. @throws as `openInside`. */
export const openLocated = (file: LocatedFile, options: Limit = {}): OpenedFile =>
  isRoot(file) ? openNamed(file.path, options) : openInside(file.root, file.path, options);

/** Reads a regular file, up to the size that it had when it was opened. @throws as `openInside`. */
export const readLocated = (file: LocatedFile, { limit }: Required<Limit>): Buffer => readOpened(openLocated(file, { limit }));

/**
 * Facts about a regular file; undefined if nothing exists at the path.
 * @throws FileRefused for a link below the root, and for anything but a regular file.
 */
export const statLocated = (file: LocatedFile): Stats | undefined => (isRoot(file) ? statNamed(file.path) : statInside(file.root, file.path));
