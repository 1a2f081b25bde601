// ZIP archives, of which one entry at a time is in memory. Reading is our own code because formats are synchronous and Inspect compresses with
// Zstandard (method 93): yauzl 3.4 opens archives asynchronously and refuses that method (its issue 80), and fflate and unzipper read only
// methods 0 and 8. Node's zlib does the rest.
import { inflateRawSync } from 'node:zlib';
import { zipSync } from 'fflate/browser';
import { StemmaError } from '../../base/index.js';
import type { FileBytes } from '../lines.js';
import { expandsTooMuch, maxExpanded } from './expansion.js';
import { bufferOf } from './line-lumps.js';
import { unzstd } from './zstd.js';

/** An entry of a ZIP archive, which is decompressed when it is read. */
export interface ZipEntry {
  readonly name: string;
  /** The number of bytes that the entry says it expands to. No more are read. */
  readonly length: number;
  /** @throws Error for a damaged or unknown entry. */
  read(): Uint8Array;
}

/** The largest entry in bytes, far above any real log. A larger entry is refused. */
const maxEntryBytes = 256 * 1024 ** 2;
/** An entry that expands to at most this many bytes is always accepted. */
const alwaysAllowed = 16 * 1024 ** 2;
/** The largest directory in bytes. That of a log with 65,535 samples has a tenth. */
const maxDirectoryBytes = 64 * 1024 ** 2;
/** How often entries may share the bytes of an archive. Those of a real one share none. */
const maxShared = 16;
const endMark = 0x06054b50;
const entryMark = 0x02014b50;
const endLength = 22;

/** The entries of an archive by their names. Of several entries with the same name, the last counts. @throws as `zipList` */
export function zipEntries(file: FileBytes): ReadonlyMap<string, ZipEntry> | undefined {
  const list = zipList(file);
  return list && new Map(list.map((entry) => [entry.name, entry]));
}

/**
 * The entries of an archive as its central directory lists them. Undefined if the file is not an archive.
 * @throws CORRUPT if an entry, or all together, would expand beyond the limits; if entries share the same bytes too often; for a huge directory.
 */
export function zipList(file: FileBytes): readonly ZipEntry[] | undefined {
  const tailAt = Math.max(0, file.length - endLength - 0xffff);
  const tail = readRange(file, tailAt, file.length);
  let end = tail.length - endLength;
  while (end >= 0 && tail.readUInt32LE(end) !== endMark) end--;
  if (end < 0) return undefined;
  const entries: ZipEntry[] = [];
  let [all, packed] = [0, 0];
  let at = 0;
  const ending = { at: tailAt + end, directory: tail.readUInt32LE(end + 16), entries: tail.readUInt16LE(end + 10) };
  if (ending.at - ending.directory > maxDirectoryBytes) throw refused(`its directory has ${ending.at - ending.directory} bytes`);
  const bytes = readRange(file, Math.min(ending.directory, ending.at), ending.at);
  for (let left = ending.entries; left > 0 && at + 46 <= bytes.length && bytes.readUInt32LE(at) === entryMark; left--) {
    const [method, size, length] = [bytes.readUInt16LE(at + 10), bytes.readUInt32LE(at + 20), bytes.readUInt32LE(at + 24)];
    const [nameLength, extraLength, noteLength] = [bytes.readUInt16LE(at + 28), bytes.readUInt16LE(at + 30), bytes.readUInt16LE(at + 32)];
    const place = bytes.readUInt32LE(at + 42);
    const name = bytes.toString('utf8', at + 46, at + 46 + nameLength);
    // Each entry is read by itself: what many entries share is read many times.
    packed += Math.min(size, file.length);
    if (packed > maxShared * file.length) throw refused(`its entries share their bytes more than ${maxShared} times`);
    // A larger entry is refused when it is read.
    if (length <= maxEntryBytes) {
      const most = maxExpanded(Math.min(size, file.length), alwaysAllowed);
      if (length > most) throw expandsTooMuch(`its entry ${name}`, size, most);
      // Entries may overlap, so that each expands the same bytes.
      all += length;
      if (all > maxExpanded(file.length)) throw expandsTooMuch('it', file.length, maxExpanded(file.length));
    }
    entries.push({ name, length, read: () => contentAt(file, { place, method, size, length, name }) });
    at += 46 + nameLength + extraLength + noteLength;
  }
  return entries;
}

const refused = (why: string): StemmaError => new StemmaError('CORRUPT', `${why}, and it is not read`);

type Stored = Pick<ZipEntry, 'name' | 'length'> & Record<'place' | 'method' | 'size', number>;

/** The bytes of a range, as far as the file has them. They are valid until the next call. */
const readRange = (file: FileBytes, start: number, end: number): Buffer =>
  bufferOf(start < file.length ? file.subarray(start, Math.min(end, file.length)) : new Uint8Array());

function contentAt(file: FileBytes, { place, method, size, length, name }: Stored): Uint8Array {
  if (length > maxEntryBytes) throw new Error(`${name} has ${length} bytes`);
  if (place + 30 > file.length) throw new Error(`${name} lies beyond the end of the archive`);
  const head = readRange(file, place, place + 30);
  const start = place + 30 + head.readUInt16LE(26) + head.readUInt16LE(28);
  const packed = readRange(file, start, start + size);
  const limit = { maxOutputLength: Math.max(1, length) };
  if (method === 0 && size !== length) throw new Error(`${name} says that it has ${length} bytes, and has ${size}`);
  if (method === 0) return new Uint8Array(packed);
  if (method === 8) return inflateRawSync(packed, limit);
  if (method === 93) return unzstd(packed, limit);
  throw new Error(`${name} is compressed by method ${method}`);
}

/** Writes an archive of deflated entries, without times, so that equal content gives equal bytes. Of entries with one name, the last is written. */
export const writeZip = (entries: readonly { readonly name: string; readonly content: Uint8Array }[]): Uint8Array =>
  zipSync(Object.fromEntries(entries.map(({ name, content }) => [name, content])), { mtime: new Date(1980, 0, 1) });
