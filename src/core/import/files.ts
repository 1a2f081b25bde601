import { closeSync, fstatSync, lstatSync, statSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { blake3Of, blake3OfParts, blake3Parts } from '../artifacts/index.js';
import { orUndefined, StemmaError } from '../base/index.js';
import type { Skip } from '../contract/index.js';
import {
  absolutePath,
  FileRefused,
  fillFrom,
  type LocatedFile,
  listInside,
  namedFile,
  openLocated,
  readLocated,
  statLocated,
} from '../files/index.js';
import { type FileBytes, importableFormats } from '../formats/index.js';

export interface FoundFile extends LocatedFile {
  readonly bytes: number;
  /** Milliseconds since 1970. */
  readonly modifiedAt: number;
  /** The ids of the conversations to import of a file that holds several. Without it, all. */
  readonly members?: ReadonlySet<string>;
}

/** The endings of database files. */
export const databaseEndings = new Set(['.db', '.sqlite', '.sqlite3', '.vscdb']);
/** Size limits of the files of a history, in bytes. */
export const limits = {
  /** A transcript, which is read a part at a time. */
  transcript: 4 * 1024 ** 3,
  /** A file that is read into memory at once: a document of several conversations, or a transcript of some formats. */
  whole: 256 * 1024 ** 2,
  /** A document that is parsed as one value, which takes about eleven times its size in memory. Most formats read large documents in parts. */
  document: 128 * 1024 ** 2,
  /** A copy of a database of another program. */
  database: 1024 ** 3,
  /** The largest part of a transcript that is read at once: a line, or the lines of a turn. */
  part: 128 * 1024 ** 2,
  /** A file beside a transcript that describes it. */
  side: 1024 ** 2,
} as const;

const transcriptEndings = new Set(['.jsonl', '.json']);
/** Whether the name of a file found in a folder is that of a transcript. */
export const mayBeTranscript = (path: string): boolean => transcriptEndings.has(extname(path)) && !isSideFile(path);
/** Whether a file only describes a transcript beside it. Such files are read together with the transcript. */
const isSideFile = (path: string): boolean =>
  path.endsWith('.meta.json') ||
  sideFolders.has(basename(dirname(path))) ||
  (basename(dirname(path)) === eventFolder && eventFile.test(basename(path)));
/** OpenHands keeps each event of a conversation in a file of its own, beside the state of the conversation. */
export const eventFolder = 'events';
export const eventFile = /^event-\d{5,}-[\w-]+\.json$/;
const sideFolders = new Set(['tool-results', 'session_diff', 'rewind-file-snapshots']);
const deepestFolder = 32;
/** Limits of one walk. No history of an agent comes near them. */
const maxEntries = 1_000_000;
const maxSkipped = 1_000;
/** Whether a format reads documents with this ending, such as archives. */
export const hasDocumentEnding = (path: string): boolean =>
  importableFormats.some(({ exports }) => exports?.endings?.some((ending) => path.endsWith(ending)));
/** Whether to report a skipped link or special file, because by its name it could be a transcript or a folder. Others are ignored. */
const mayBeMissed = (path: string): boolean =>
  extname(path) === '' || mayBeTranscript(path) || databaseEndings.has(extname(path)) || hasDocumentEnding(path);

/**
 * The transcript files at and under the paths, each once, oldest first, so that origins come before their forks. Folders are read without following
 * links. A path that a person named is accepted with any ending. `mayHold` accepts files of other endings in folders.
 */
export function filesUnder(
  paths: readonly string[],
  mayHold: (file: LocatedFile) => boolean = () => false,
): { readonly files: FoundFile[]; readonly skipped: Skip[] } {
  const files = new Map<string, FoundFile>();
  const skipped: Skip[] = [];
  let seen = 0;
  const visit = (file: LocatedFile, depth: number): void => {
    const { root, path } = file;
    const isNamed = path === root;
    try {
      const stat = isNamed ? statSync(path) : lstatSync(path);
      if (stat.isDirectory()) visitFolder(root, path, depth);
      else if (!stat.isFile() && (isNamed || mayBeMissed(path))) statLocated(file);
      else if (stat.isFile() && (isNamed || mayBeTranscript(path) || mayHold(file)))
        files.set(path, { ...file, bytes: stat.size, modifiedAt: lastWritten(file, stat.mtimeMs) });
    } catch (error) {
      skip(path, ioReason(error, path));
    }
  };
  const visitFolder = (root: string, folder: string, depth: number): void => {
    const entries = depth > deepestFolder ? [] : listInside(root, folder);
    seen += entries.length;
    if (depth > deepestFolder) skip(folder, `the folder lies more than ${deepestFolder} folders deep`);
    else if (seen > maxEntries) skip(folder, `more than ${maxEntries} files and folders were found up to here: import the folders one by one`);
    else for (const { name } of entries) visit({ root, path: join(folder, name) }, depth + 1);
  };
  const skip = (path: string, reason: string): void => {
    if (skipped.length < maxSkipped) skipped.push({ path, line: 0, reason });
  };
  for (const path of paths.map(absolutePath)) visit(namedFile(path), 0);
  return { files: [...files.values()].sort((a, b) => a.modifiedAt - b.modifiedAt || (a.path < b.path ? -1 : 1)), skipped };
}

/** The time of a file's last change. SQLite writes to the log beside a database first, so the log's time counts too. */
function lastWritten(file: LocatedFile, own: number): number {
  const log = databaseEndings.has(extname(file.path)) ? statLocated(logOf(file)) : undefined;
  return Math.floor(Math.max(own, log?.size ? log.mtimeMs : 0));
}

/** Size and time of a file; zeros if it does not exist. */
export function readSize(file: LocatedFile): Pick<FoundFile, 'bytes' | 'modifiedAt'> {
  const stat = statLocated(file);
  return { bytes: stat?.size ?? 0, modifiedAt: Math.floor(stat?.mtimeMs ?? 0) };
}

/** Reads a whole file at once. @throws FileRefused, and the error of the file system. */
export const readWhole = (file: LocatedFile, limit: number = limits.whole): Uint8Array => readLocated(file, { limit });

/** An error that prevents the import of one file, but not of the others. */
export class Unreadable extends Error {}

/** A file, or its first `upTo` bytes, as it was when it was opened. Bytes that are appended later are ignored. */
export interface OpenFile {
  /** When it was last written, in milliseconds since 1970, with fractions; 0 for bytes in memory. */
  readonly modifiedAt: number;
  /** In memory if the file is small, otherwise read a part at a time. */
  readonly bytes: FileBytes;
  /** All bytes in memory, for formats that cannot read parts. */
  whole(): Uint8Array;
  /** BLAKE3 of the bytes before `end`. If calls have ascending values of `end`, each byte is read and hashed once. */
  hash(end?: number): Buffer;
  /** The first `end` bytes, as a file that closes with this one. */
  upTo(end: number): OpenFile;
  /** The hashes so far, with which a file that has only grown is opened again. */
  readonly hashes: Hashes;
  /** Whether the file was changed while it was read. `hash` is the hash of its first state. */
  hasChanged(hash: Buffer): boolean;
  close(): void;
}

/** The log in which SQLite writes first. */
export const logOf = ({ root, path }: LocatedFile): LocatedFile => ({ root: root === path ? `${root}-wal` : root, path: `${path}-wal` });

const usuallyHeld = 12 * 1024 * 1024;
/** Minimum number of bytes to read at once, because callers usually need the following bytes next. */
const readAhead = 1024 * 1024;
const hashedAtOnce = readAhead;

export interface ReadOptions {
  readonly upTo?: number;
  /** Files of up to this number of bytes are read at once. */
  readonly held?: number;
  /** BLAKE3 of the whole file, if it is known. */
  readonly hash?: Buffer;
  /** The hashes of the same file when it was shorter. Its bytes up to `hashes.at` are not read again. */
  readonly hashes?: Hashes | undefined;
}

/** Opens a file for import. @throws Unreadable, also when its bytes are read later. */
export function openFile(located: LocatedFile, { upTo, held = usuallyHeld, hash, hashes: before }: ReadOptions = {}): OpenFile {
  const { fd, stat } = readable(() => openLocated(located, { limit: limits.transcript }), located.path);
  try {
    const { mtimeMs } = stat;
    const size = Math.min(stat.size, upTo ?? stat.size);
    const hashes = prefixHashes(size, hash, before);
    // A file that grows may lose what follows its last complete record, so only what is asked for is hashed.
    const bytes = size <= held ? readFully(fd, size) : inParts(fd, size, before ? undefined : hashes.pass);
    const wholeTo = (end: number): Uint8Array => {
      if (end > limits.whole) throw new Unreadable(`it has ${end} bytes; in its format, the limit is ${limits.whole}`);
      const whole = readFully(fd, end);
      hashes.pass(whole, 0);
      return whole;
    };
    const beginning = (end: number): OpenFile => ({
      modifiedAt: mtimeMs,
      bytes: bytes instanceof Uint8Array ? bytes.subarray(0, end) : { length: end, subarray: bytes.subarray },
      whole: () => (bytes instanceof Uint8Array ? bytes.subarray(0, end) : wholeTo(end)),
      hash: (shorter = end) => hashes.of(bytes, shorter),
      hashes: hashes.state,
      upTo: (shorter) => beginning(Math.min(shorter, end)),
      hasChanged: (before) =>
        !(bytes instanceof Uint8Array) && fstatSync(fd).mtimeMs !== mtimeMs && !blake3OfParts(hashedParts(inParts(fd, end), end)).equals(before),
      close: () => undefined,
    });
    const close = (): void => {
      closeSync(fd);
      if (!(bytes instanceof Uint8Array)) bytes.close();
    };
    return { ...beginning(size), close };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** Does work with a file while it is open. By default, the file is read a part at a time. @throws Unreadable, and what `work` throws. */
export function withOpen<T>(located: LocatedFile, work: (file: OpenFile) => T, options: ReadOptions = { held: 0 }): T {
  const file = openFile(located, options);
  try {
    return work(file);
  } finally {
    file.close();
  }
}

/** A conversation that was read from another file, as an open file. */
export function openMember(bytes: FileBytes): OpenFile {
  const hashes = prefixHashes(bytes.length, undefined);
  return {
    modifiedAt: 0,
    bytes,
    whole() {
      if (bytes.length > limits.whole) throw new Unreadable(`it has ${bytes.length} bytes; in its format, the limit is ${limits.whole}`);
      return bytes.subarray(0, bytes.length);
    },
    hash: (end = bytes.length) => hashes.of(bytes, end),
    hashes: hashes.state,
    upTo: (end) => openMember(bytes instanceof Uint8Array ? bytes.subarray(0, end) : { length: end, subarray: bytes.subarray }),
    hasChanged: () => false,
    close: () => undefined,
  };
}

/** The state of hashing a file. */
export interface Hashes {
  hasher: ReturnType<typeof blake3Parts> | undefined;
  /** The number of bytes in the hasher. */
  at: number;
  /** Hashes of the first bytes, by their number. */
  readonly known: Map<number, Buffer>;
}

/** The state for a file whose first `end` bytes are unchanged; undefined if it has hashed more. */
export function hashesUpTo(hashes: Hashes, end: number): Hashes | undefined {
  if (hashes.at > end) return undefined;
  for (const other of hashes.known.keys()) if (other < end) hashes.known.delete(other);
  return hashes;
}

/**
 * Hashes the first bytes of a file, up to any offset. Bytes that a caller reads in order are hashed on the way. For the rest, only the bytes
 * after the last hash are read.
 */
function prefixHashes(size: number, whole: Buffer | undefined, state: Hashes = { hasher: undefined, at: 0, known: new Map() }) {
  if (whole) {
    state.known.set(size, whole);
    state.at = size;
  }
  let limit = size;
  const pass = (part: Uint8Array, start: number): void => {
    const end = Math.min(start + part.length, limit);
    if (start > state.at || end <= state.at) return;
    state.hasher ??= blake3Parts();
    state.hasher.add(part.subarray(state.at - start, end - start));
    state.at = end;
  };
  const of = (bytes: FileBytes, end: number): Buffer => {
    const before = state.known.get(end);
    if (before) return before;
    if (bytes instanceof Uint8Array && state.at === 0 && end === bytes.length) {
      const all = blake3Of(bytes);
      state.known.set(end, all);
      return all;
    }
    if (end < state.at) Object.assign(state, { hasher: undefined, at: 0 });
    limit = end;
    for (let start = state.at; start < end; start = state.at) pass(bytes.subarray(start, Math.min(start + hashedAtOnce, end)), start);
    limit = size;
    state.hasher ??= blake3Parts();
    const digest = state.hasher.hash();
    state.known.set(end, digest);
    return digest;
  };
  return { pass, of, state };
}

function* hashedParts(bytes: FileBytes, end: number): Generator<Uint8Array> {
  for (let at = 0; at < end; at += hashedAtOnce) yield bytes.subarray(at, Math.min(at + hashedAtOnce, end));
}

/**
 * Bytes of an open file, in a reused buffer. It reads ahead, so that many small ranges cost few reads. `pass` receives the bytes that were
 * read and their offset.
 */
function inParts(fd: number, length: number, pass: (part: Uint8Array, start: number) => void = () => undefined) {
  let room = roomFor(Math.min(readAhead, length));
  let held = { start: 0, end: 0 };
  return {
    length,
    subarray(start: number, end: number): Uint8Array {
      if (start < held.start || end > held.end) {
        if (end - start > limits.part) throw new Unreadable(`it has a line or a turn of more than ${limits.part} bytes`);
        const until = Math.min(Math.max(end, start + readAhead), length);
        if (until - start > room.length) room = roomFor(until - start);
        held = { start: 0, end: 0 };
        fill(fd, room.subarray(0, until - start), start);
        held = { start, end: until };
        pass(room.subarray(0, until - start), start);
      }
      return room.subarray(start - held.start, end - held.start);
    },
    /** Gives its buffer to the next file. */
    close(): void {
      if (room.length <= maxSpareBytes) spare = room;
    },
  };
}

/** The buffer of the last closed file. New buffers for each file would cost memory and garbage collections. */
let spare: Buffer | undefined;
const maxSpareBytes = 8 * 1024 * 1024;

function roomFor(length: number): Buffer {
  if (!spare || spare.length < length) return Buffer.allocUnsafeSlow(length);
  const room = spare;
  spare = undefined;
  return room;
}

function readFully(fd: number, end: number): Uint8Array {
  const bytes = Buffer.allocUnsafeSlow(end);
  fill(fd, bytes, 0);
  return bytes;
}

function fill(fd: number, bytes: Uint8Array, start: number): void {
  const filled = readable(() => fillFrom(fd, bytes, start));
  if (filled < bytes.length) throw new Unreadable('it became shorter while it was read');
}

function readable<T>(read: () => T, path?: string): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof Unreadable ? error : new Unreadable(ioReason(error, path));
  }
}

/** The result of `read`; undefined if the file system refuses. An import reports it. @throws any other error. */
export function unlessUnreadable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    ioReason(error);
    return undefined;
  }
}

/** As `unlessUnreadable`; undefined also for a file that is damaged or in use. */
export const unlessDamaged = <T>(read: () => T): T | undefined => orUndefined(() => unlessUnreadable(read));

/** The first and the last bytes of a file. */
export function readEnds(file: LocatedFile, length: number): { readonly head: Uint8Array; readonly tail: Uint8Array } {
  const { fd, stat } = openLocated(file);
  const { size } = stat;
  try {
    return { head: readAt(fd, 0, Math.min(length, size)), tail: readAt(fd, Math.max(length, size - length), size) };
  } finally {
    closeSync(fd);
  }
}

/** The bytes from an offset to another. Fewer if the file is shorter. */
export function readRange(file: LocatedFile, start: number, end: number): Uint8Array {
  const { fd } = openLocated(file);
  try {
    return readAt(fd, start, end);
  } finally {
    closeSync(fd);
  }
}

function readAt(fd: number, start: number, end: number): Uint8Array {
  const bytes = Buffer.alloc(Math.max(0, end - start));
  return bytes.subarray(0, fillFrom(fd, bytes, start));
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  EACCES: 'this user may not read it',
  EPERM: 'this user may not read it',
  EISDIR: 'it is a folder',
  ENOTDIR: 'it does not exist: a part of its path is a file',
  EMFILE: 'too many files are open',
};

/** Why a file cannot be read. @param path its path, if not every reason is about the file itself. @throws any error that is not the file system's. */
export function ioReason(error: unknown, path?: string): string {
  if (error instanceof FileRefused) return path === undefined || path === error.path ? `it ${error.reason}` : error.message;
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  // Our own refusals have codes, too: a project that is locked is no fault of this file.
  if (code === undefined || error instanceof StemmaError) throw error;
  return reasons[code] ?? `the file system refused (${code})`;
}
