import type { Stats } from 'node:fs';
import { resolve } from 'node:path';
import { type OpenedFile, openInside, openNamed, readOpened, statInside, statNamed } from './inside.js';

/** A file with the root that a person named: a folder above it, or the file itself. Only the root may be a link. */
export interface LocatedFile {
  readonly root: string;
  readonly path: string;
}

interface Limit {
  /** A file of more bytes is refused with EFBIG. */
  readonly limit?: number;
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
