import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename, extname, resolve } from 'node:path';
import { StemmaError } from '../base/index.js';
import { type ImportableFormat, importableFormats, type Lines, type Member } from '../formats/index.js';
import { withForeign } from '../store/index.js';
import { databaseEndings, type FoundFile, ioReason, readEnds } from './files.js';
import { headLength } from './recognize.js';

const magic = Buffer.from('SQLite format 3\0');

/** A conversation in a database or a document has its file's path and, behind this, its own name. */
const seam = '#';

export const memberPath = (file: string, id: string): string => `${file}${seam}${encodeURIComponent(id)}`;
/** How the paths of all conversations of a file begin. */
export const membersOf = (file: string): string => `${file}${seam}`;

/** The file and the conversation that a path names which is no file's; undefined where it names none. */
function memberIn(path: string): FoundFile['member'] {
  const at = path.lastIndexOf(seam);
  if (at < 0 || existsSync(path)) return undefined;
  try {
    return { file: path.slice(0, at), id: decodeURIComponent(path.slice(at + 1)) };
  } catch {
    return undefined;
  }
}

/** Paths that name a conversation in a file, and those that name files and folders. */
export function membersNamed(paths: readonly string[]): { readonly members: FoundFile[]; readonly others: string[] } {
  const members: FoundFile[] = [];
  const others: string[] = [];
  for (const path of paths.map((one) => resolve(one))) {
    const member = memberIn(path);
    const stat = member && statSync(member.file, { throwIfNoEntry: false });
    if (stat?.isFile()) members.push({ path, bytes: stat.size, modifiedAt: Math.floor(stat.mtimeMs), member });
    else others.push(path);
  }
  return { members, others };
}

/** What a file that holds conversations holds: read while `work` runs. */
export interface Holding {
  readonly format: ImportableFormat;
  readonly keeps: true | { readonly not: string };
  readonly members: Iterable<Member>;
  /** The bytes of the file, and of what stands beside it and is part of it. */
  readonly files: () => readonly { readonly path: string; readonly bytes: Uint8Array }[];
}

/** A file that some format may read as one that holds others, as far as its name and its beginning tell: what is looked into where a folder is walked. */
export function mayHold(path: string): boolean {
  if (importableFormats.some(({ exports }) => exports?.endings?.some((ending) => path.endsWith(ending)))) return true;
  if (!databaseEndings.has(extname(path))) return false;
  const { head } = readEnds(path, headLength);
  return isDatabase(head) && importableFormats.some(({ database }) => database?.mayBe(basename(path), head));
}
/** Whether the file begins as a database of SQLite does. */
export const isDatabaseFile = (path: string): boolean => databaseEndings.has(extname(path)) && isDatabase(readEnds(path, magic.length).head);

const isDatabase = (head: Uint8Array): boolean => Buffer.from(head).subarray(0, magic.length).equals(magic);

/**
 * Runs `work` on what the file holds, where it is a database or a document of several conversations; undefined where it is neither. A
 * document of which `known` says all is not read.
 * @throws CORRUPT, UNAVAILABLE, and what the file system says.
 */
export function withHolding<T>(
  path: string,
  asked: ImportableFormat | undefined,
  work: (holding: Holding) => T,
  known: () => T | undefined = () => undefined,
): T | undefined {
  const { head } = readEnds(path, 256);
  const readers = asked ? [asked] : importableFormats;
  if (isDatabase(head)) return inDatabase(path, readers, work);
  const format = readers.find(({ exports }) => exports?.recognize(head));
  if (!format?.exports) return undefined;
  const { keeps, members } = format.exports;
  const answer = known();
  if (answer !== undefined) return answer;
  const bytes = readFileSync(path);
  const found = members(bytes);
  return found && work({ format, keeps, members: found, files: () => [{ path, bytes }] });
}

function inDatabase<T>(path: string, readers: readonly ImportableFormat[], work: (holding: Holding) => T): T | undefined {
  return withForeign(path, ({ rows, files }) => {
    const format = readers.find(({ database }) => database?.recognize(rows.tables));
    if (!format?.database) return undefined;
    return work({
      format,
      keeps: format.database.keeps,
      members: format.database.members(rows),
      files: () => files.map(({ name, copy }) => ({ path: name === 'log' ? `${path}-wal` : path, bytes: readFileSync(copy) })),
    });
  });
}

/** What the member's lines are now; undefined where its file holds it no more, or cannot be read. */
export function memberBytes(path: string): Uint8Array | undefined {
  const member = memberIn(path);
  if (!member) return undefined;
  try {
    return withHolding(member.file, undefined, ({ members }) => {
      for (const { id, lines } of members) if (id === member.id) return lines().bytes;
      return undefined;
    });
  } catch (error) {
    if (!(error instanceof StemmaError)) ioReason(error);
    return undefined;
  }
}

export interface Document extends FoundFile {
  readonly lines: Lines;
}

/** A member as a file of its own. One without a time of its own is as old as its file. */
export function documentOf(file: FoundFile, member: Member): Document {
  const lines = member.lines();
  return { path: memberPath(file.path, member.id), bytes: lines.bytes.length, modifiedAt: Math.floor(member.modifiedAt ?? file.modifiedAt), lines };
}
