import { closeSync, fstatSync, openSync, readdirSync, readFileSync, readSync, statSync } from 'node:fs';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { blake3Of, blake3OfParts, blake3Parts } from '../artifacts/index.js';
import { StemmaError } from '../base/index.js';
import type { Skip } from '../contract/index.js';
import type { FileBytes } from '../formats/index.js';

export interface FoundFile {
  readonly path: string;
  readonly bytes: number;
  /** Milliseconds since 1970. */
  readonly modifiedAt: number;
  /** The conversation in a file of several that the path names, where it names one. */
  readonly member?: { readonly file: string; readonly id: string };
}

/** How the names of databases end. */
export const databaseEndings = new Set(['.db', '.sqlite', '.sqlite3']);
const transcriptEndings = new Set(['.jsonl', '.json']);
/** Whether a file that nobody named may be a transcript, by its name. */
export const mayBeTranscript = (path: string): boolean => transcriptEndings.has(extname(path)) && !isSideFile(path);
/** What stands beside transcripts and is none: it is read with the transcript that it describes. */
const isSideFile = (path: string): boolean => path.endsWith('.meta.json') || sideFolders.has(basename(dirname(path)));
const sideFolders = new Set(['tool-results', 'session_diff']);
const deepestFolder = 32;

/**
 * The transcript files at and under the paths, each once, oldest first, so that origins come before their forks.
 * Folders are read without following links; a path that a person named is taken whatever its ending. `mayHold` says which files of other
 * endings are taken where a folder is walked.
 */
export function filesUnder(
  paths: readonly string[],
  mayHold: (path: string) => boolean = () => false,
): { readonly files: FoundFile[]; readonly skipped: Skip[] } {
  const files = new Map<string, FoundFile>();
  const skipped: Skip[] = [];
  const skip = (path: string, error: unknown): void => void skipped.push({ path, line: 0, reason: ioReason(error) });
  const visit = (path: string, named: boolean, depth: number): void => {
    try {
      const stat = statSync(path);
      if (stat.isDirectory()) {
        if (depth > deepestFolder) skipped.push({ path, line: 0, reason: `the folder lies more than ${deepestFolder} folders deep` });
        else
          for (const entry of readdirSync(path, { withFileTypes: true }))
            if (entry.isDirectory() || entry.isFile()) visit(join(path, entry.name), false, depth + 1);
        return;
      }
      if (!stat.isFile()) skipped.push({ path, line: 0, reason: 'it is neither a file nor a folder' });
      else if (named || mayBeTranscript(path) || mayHold(path))
        files.set(path, { path, bytes: stat.size, modifiedAt: lastWritten(path, stat.mtimeMs) });
    } catch (error) {
      skip(path, error);
    }
  };
  for (const path of paths) visit(resolve(path), true, 0);
  return { files: [...files.values()].sort((a, b) => a.modifiedAt - b.modifiedAt || (a.path < b.path ? -1 : 1)), skipped };
}

/** A database that is in use is written in the log beside it first. */
function lastWritten(path: string, own: number): number {
  const log = databaseEndings.has(extname(path)) ? statSync(`${path}-wal`, { throwIfNoEntry: false }) : undefined;
  return Math.floor(Math.max(own, log?.size ? log.mtimeMs : 0));
}

/** How long a file is, and when it was last written; nothing and never where it went away. */
export function sizeOf(path: string): Pick<FoundFile, 'bytes' | 'modifiedAt'> {
  const stat = statSync(path, { throwIfNoEntry: false });
  return { bytes: stat?.size ?? 0, modifiedAt: Math.floor(stat?.mtimeMs ?? 0) };
}

/** A file's bytes. Short or gone while it is read is an error to say, not a crash. */
export const readWhole = (path: string): Uint8Array => readFileSync(path);

/** Why a file cannot be taken in, in words; others can. */
export class Unreadable extends Error {}

/** A file, or its first `upTo` bytes, as it was when it was opened: what is appended later is not looked at. */
export interface OpenFile {
  /** When it was last written, in milliseconds since 1970 and parts of one; 0 for what is no file. */
  readonly modifiedAt: number;
  /** Held in memory where the file is small, else read a part at a time. */
  readonly bytes: FileBytes;
  /** All of it in memory, for what cannot do with less. */
  whole(): Uint8Array;
  /** BLAKE3 of the bytes before `end`. Who asks for a shorter beginning first has each byte read and hashed once. */
  hash(end?: number): Buffer;
  /** Its first so many bytes, as a file that is closed with this one. */
  upTo(end: number): OpenFile;
  /** Whether what has been read can have come from two states of the file: `hash` is that of the first. */
  hasChanged(hash: Buffer): boolean;
  close(): void;
}

const usuallyHeld = 12 * 1024 * 1024;
/** So much is read where less is asked for: what is asked for next stands behind it, as a rule. */
const readAhead = 1024 * 1024;
const hashedAtOnce = readAhead;

export interface OpenOptions {
  readonly upTo?: number;
  /** Files of up to so many bytes are read at once. */
  readonly held?: number;
  /** BLAKE3 of all of it, from who has read it before. */
  readonly hash?: Buffer;
}

/** @throws Unreadable, here and where its bytes are asked for. */
export function openFile(path: string, { upTo, held = usuallyHeld, hash }: OpenOptions = {}): OpenFile {
  const fd = readable(() => openSync(path, 'r'));
  try {
    const stat = fstatSync(fd);
    const { mtimeMs } = stat;
    const size = Math.min(stat.size, upTo ?? stat.size);
    const hashes = beginnings(size, hash);
    const bytes = size <= held ? readFully(fd, 0, size) : inParts(fd, size, hashes.pass);
    const wholeTo = (end: number): Uint8Array => {
      const whole = readFully(fd, 0, end);
      hashes.pass(whole, 0);
      return whole;
    };
    const beginning = (end: number): OpenFile => ({
      modifiedAt: mtimeMs,
      bytes: bytes instanceof Uint8Array ? bytes.subarray(0, end) : { length: end, subarray: bytes.subarray },
      whole: () => (bytes instanceof Uint8Array ? bytes.subarray(0, end) : wholeTo(end)),
      hash: (shorter = end) => hashes.of(bytes, shorter),
      upTo: (shorter) => beginning(Math.min(shorter, end)),
      hasChanged: (before) =>
        !(bytes instanceof Uint8Array) && fstatSync(fd).mtimeMs !== mtimeMs && !blake3OfParts(partsOf(inParts(fd, end), end)).equals(before),
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

/** Bytes that are in memory, as an open file: what was read out of another one. */
export const fileOf = (bytes: Uint8Array): OpenFile => ({
  modifiedAt: 0,
  bytes,
  whole: () => bytes,
  hash: (end = bytes.length) => blake3Of(bytes.subarray(0, end)),
  upTo: (end) => fileOf(bytes.subarray(0, end)),
  hasChanged: () => false,
  close: () => undefined,
});

/**
 * Hashes of a file's beginnings. What passes by because somebody reads the file from its beginning on is hashed on the way; of the rest, only
 * what stands behind the last hash is read.
 */
function beginnings(size: number, whole: Buffer | undefined) {
  const known = new Map<number, Buffer>(whole && [[size, whole]]);
  let hasher = blake3Parts();
  let at = whole ? size : 0;
  let limit = size;
  const pass = (part: Uint8Array, start: number): void => {
    const end = Math.min(start + part.length, limit);
    if (start > at || end <= at) return;
    hasher.add(part.subarray(at - start, end - start));
    at = end;
  };
  const of = (bytes: FileBytes, end: number): Buffer => {
    const before = known.get(end);
    if (before) return before;
    if (end < at) {
      hasher = blake3Parts();
      at = 0;
    }
    limit = end;
    for (let start = at; start < end; start = at) pass(bytes.subarray(start, Math.min(start + hashedAtOnce, end)), start);
    limit = size;
    const digest = hasher.hash();
    known.set(end, digest);
    return digest;
  };
  return { pass, of };
}

function* partsOf(bytes: FileBytes, end: number, start = 0): Generator<Uint8Array> {
  for (let at = start; at < end; at += hashedAtOnce) yield bytes.subarray(at, Math.min(at + hashedAtOnce, end));
}

/**
 * Bytes of an open file, in a room that is used again and again. Whoever reads small ranges one after the other reads the disk seldom.
 * `pass` is told of what is read, and where it stands.
 */
function inParts(fd: number, length: number, pass: (part: Uint8Array, start: number) => void = () => undefined): FileParts {
  let room = roomFor(Math.min(readAhead, length));
  let held = { start: 0, end: 0 };
  return {
    length,
    subarray(start, end) {
      if (start < held.start || end > held.end) {
        const until = Math.min(Math.max(end, start + readAhead), length);
        if (until - start > room.length) room = roomFor(until - start);
        held = { start: 0, end: 0 };
        fill(fd, room.subarray(0, until - start), start);
        held = { start, end: until };
        pass(room.subarray(0, until - start), start);
      }
      return room.subarray(start - held.start, end - held.start);
    },
    close() {
      if (room.length <= largestSpare) spare = room;
    },
  };
}

interface FileParts extends FileBytes {
  /** Nothing of it is read any more. */
  close(): void;
}

/** The room of a file that was closed is the next one's: each of its own would be so many pages more, and bring on a collection of garbage. */
let spare: Buffer | undefined;
const largestSpare = 8 * 1024 * 1024;

function roomFor(length: number): Buffer {
  if (!spare || spare.length < length) return Buffer.allocUnsafeSlow(length);
  const room = spare;
  spare = undefined;
  return room;
}

function readFully(fd: number, start: number, end: number): Uint8Array {
  const bytes = Buffer.allocUnsafe(end - start);
  fill(fd, bytes, start);
  return bytes;
}

function fill(fd: number, bytes: Uint8Array, start: number): void {
  readable(() => {
    for (let done = 0; done < bytes.length; ) {
      const read = readSync(fd, bytes, done, bytes.length - done, start + done);
      if (read === 0) throw new Unreadable('it became shorter while it was read');
      done += read;
    }
  });
}

function readable<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof Unreadable ? error : new Unreadable(ioReason(error));
  }
}

/** The first and the last bytes of a file, for what only needs a look at it. */
export function readEnds(path: string, length: number): { readonly head: Uint8Array; readonly tail: Uint8Array; readonly bytes: number } {
  const fd = openSync(path, 'r');
  try {
    const { size } = fstatSync(fd);
    return {
      head: readAt(fd, 0, Math.min(length, size)),
      tail: size > length ? readAt(fd, Math.max(length, size - length), size) : new Uint8Array(),
      bytes: size,
    };
  } finally {
    closeSync(fd);
  }
}

/** The bytes from an offset on, to its end or to another offset; fewer where the file is shorter. */
export function readRange(path: string, start: number, end?: number): Uint8Array {
  const fd = openSync(path, 'r');
  try {
    return readAt(fd, start, end ?? fstatSync(fd).size);
  } finally {
    closeSync(fd);
  }
}

function readAt(fd: number, start: number, end: number): Uint8Array {
  const bytes = Buffer.alloc(Math.max(0, end - start));
  const read = readSync(fd, bytes, 0, bytes.length, start);
  return bytes.subarray(0, read);
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'it is not there any more',
  EACCES: 'this user may not read it',
  EPERM: 'this user may not read it',
  EISDIR: 'it is a folder',
  ENOTDIR: 'it is not there: a part of its path is a file',
  EMFILE: 'too many files are open',
  ERR_OUT_OF_RANGE: 'it is larger than one file may be to be read at once',
  ERR_FS_FILE_TOO_LARGE: 'it is larger than one file may be to be read at once',
};

/** What went wrong with a file, in words; a fault that is none of the file system's is thrown on. */
export function ioReason(error: unknown): string {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  // Our own refusals have codes, too: a project that is locked is no fault of this file.
  if (code === undefined || error instanceof StemmaError) throw error;
  return reasons[code] ?? `the disk did not do as asked (${code})`;
}
