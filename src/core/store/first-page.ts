import { closeSync, fstatSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import Database from 'better-sqlite3';
import { makePrivate } from '../files/index.js';
import { copyWhole } from './foreign.js';

/** The page size of every database that Stemma makes: SQLite's default. */
const pageSize = 4096;
/** The length of a database's header, and where some of its fields are. */
const header = { length: 100, readVersion: 18, writeVersion: 19, changes: 24, pages: 28, freelist: 32, freePages: 36, version: 60, validFor: 92 };
/** Types of pages of a table, and the length of a leaf's own header. */
const interior = 0x05;
const leaf = 0x0d;
const leafHeader = 8;
const interiorHeader = 12;

/**
 * Copies a database whose first page is damaged to `copy`, and gives the copy a first page that SQLite can read. All databases of Stemma have
 * the same header, except for counters. The rest of the page is the root of the schema's tree: as long as `isReadable` is false with the page
 * as it is, it is built from the leaves of that tree, which lie elsewhere in the file. Returns false if nothing helps.
 */
export function copyWithFirstPage(file: string, copy: string, isReadable: () => boolean): boolean {
  removeCopy(copy);
  copyWhole(file, copy);
  makePrivate(copy);
  const pages = openPages(copy);
  try {
    if (pages.count < 2) return false;
    pages.write(freshHeader(pages.count));
    if (isReadable()) return true;
    const root = schemaRoot(pages);
    if (!root) return false;
    pages.write(Buffer.concat([freshHeader(pages.count), root]));
    return isReadable();
  } finally {
    pages.close();
  }
}

/** Removes a copy that `copyWithFirstPage` made, and its log. */
export function removeCopy(copy: string): void {
  for (const ending of ['', '-wal', '-shm']) rmSync(`${copy}${ending}`, { force: true });
}

const magic = 'SQLite format 3\0';

/** The format version that the header of a database says; 0 if the header is damaged. */
export function versionInHeader(file: string): number {
  const fd = openSync(file, 'r');
  try {
    const bytes = Buffer.alloc(header.length);
    readSync(fd, bytes, 0, header.length, 0);
    return bytes.toString('latin1', 0, magic.length) === magic ? bytes.readUInt32BE(header.version) : 0;
  } finally {
    closeSync(fd);
  }
}

interface Pages {
  readonly count: number;
  read(number: number): Buffer;
  /** Writes the beginning of the first page. */
  write(bytes: Uint8Array): void;
  close(): void;
}

function openPages(file: string): Pages {
  const fd = openSync(file, 'r+');
  return {
    count: Math.floor(fstatSync(fd).size / pageSize),
    read: (number) => {
      const page = Buffer.alloc(pageSize);
      readSync(fd, page, 0, pageSize, (number - 1) * pageSize);
      return page;
    },
    write: (bytes) => void writeSync(fd, bytes, 0, bytes.length, 0),
    close: () => closeSync(fd),
  };
}

/** The header of a database of `count` pages in WAL mode. Its free pages count as used, which does not matter for reading. */
function freshHeader(count: number): Buffer {
  const raw = new Database(':memory:');
  try {
    raw.exec('CREATE TABLE fresh (no INTEGER)');
    const bytes = Buffer.from(raw.serialize().subarray(0, header.length));
    bytes[header.readVersion] = bytes[header.writeVersion] = 2;
    bytes.writeUInt32BE(1, header.changes);
    bytes.writeUInt32BE(1, header.validFor);
    bytes.writeUInt32BE(count, header.pages);
    bytes.writeUInt32BE(0, header.freelist);
    bytes.writeUInt32BE(0, header.freePages);
    bytes.writeUInt32BE(0, header.version);
    return bytes;
  } finally {
    raw.close();
  }
}

interface SchemaLeaf {
  readonly page: number;
  readonly first: number;
  readonly last: number;
}

/** The first page without the header: the root of the schema's tree. Undefined if its leaves do not fit together. */
function schemaRoot(pages: Pages): Buffer | undefined {
  const leaves: SchemaLeaf[] = [];
  for (let page = 2; page <= pages.count; page++) {
    const found = schemaLeaf(page, pages.read(page));
    if (found) leaves.push(found);
  }
  leaves.sort((a, b) => a.first - b.first);
  const rightmost = leaves.at(-1);
  // A page that was freed may hold an older copy of the same rows.
  if (!rightmost || leaves.some(({ first }, at) => first <= (leaves[at - 1]?.last ?? 0))) return undefined;
  const cells = leaves.slice(0, -1).map(({ page, last }) => Buffer.concat([uint32(page), varint(last)]));
  const root = Buffer.alloc(pageSize - header.length);
  root[0] = interior;
  root.writeUInt16BE(cells.length, 3);
  root.writeUInt32BE(rightmost.page, 8);
  let end = root.length;
  for (const [at, cell] of cells.entries()) {
    end -= cell.length;
    if (end < interiorHeader + 2 * cells.length) return undefined;
    cell.copy(root, end);
    root.writeUInt16BE(end + header.length, interiorHeader + 2 * at);
  }
  root.writeUInt16BE(end + header.length, 5);
  return root;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** A number as SQLite writes it: seven bits in each byte, the highest first. */
function varint(value: number): Buffer {
  const bytes = [value & 0x7f];
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) bytes.unshift((rest & 0x7f) | 0x80);
  return Buffer.from(bytes);
}

function readVarint(bytes: Buffer, start: number): { readonly value: number; readonly next: number } {
  let value = 0;
  for (let at = start; at < start + 8; at++) {
    const byte = bytes[at] ?? 0;
    value = value * 128 + (byte & 0x7f);
    if (byte < 0x80) return { value, next: at + 1 };
  }
  return { value: Number.NaN, next: start + 8 };
}

/** A page whose cells are all rows of the schema: five columns, of which the first is "table", "index", "view" or "trigger". */
function schemaLeaf(page: number, bytes: Buffer): SchemaLeaf | undefined {
  const cells = bytes.readUInt16BE(3);
  if (bytes[0] !== leaf || cells === 0 || leafHeader + 2 * cells > pageSize) return undefined;
  const rows = Array.from({ length: cells }, (_, at) => schemaRow(bytes, bytes.readUInt16BE(leafHeader + 2 * at)));
  const [first, last] = [rows[0], rows.at(-1)];
  return first !== undefined && last !== undefined && rows.every((row, at) => row !== undefined && row > (rows[at - 1] ?? 0))
    ? { page, first, last }
    : undefined;
}

/** The row number of a cell of the schema; undefined for any other cell. */
function schemaRow(bytes: Buffer, start: number): number | undefined {
  const size = readVarint(bytes, start);
  const row = readVarint(bytes, size.next);
  const head = readVarint(bytes, row.next);
  let columns = 0;
  let kindLength = 0;
  let at = head.next;
  for (const end = row.next + head.value; at < end && columns < 6; columns++) {
    const type = readVarint(bytes, at);
    if (columns === 0) kindLength = (type.value - 13) / 2;
    at = type.next;
  }
  if (columns !== 5 || at !== row.next + head.value || !Number.isInteger(kindLength)) return undefined;
  return /^(table|index|view|trigger)$/.test(bytes.toString('latin1', at, at + kindLength)) ? row.value : undefined;
}
