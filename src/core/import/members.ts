import { existsSync } from 'node:fs';
import { basename, dirname, extname } from 'node:path';
import { attempt, decodeText, inWords, parseJson } from '../base/index.js';
import { absolutePath, type LocatedFile, readInside, statInside, statLocated, statNamed } from '../files/index.js';
import {
  type DatabaseRows,
  type DocumentReader,
  type FileBytes,
  type ImportableFormat,
  importableFormats,
  type Lines,
  type Member,
  maxWholeBytes,
  type Problem,
  ShellTooLarge,
} from '../formats/index.js';
import { RowTooLarge, withForeign } from '../store/index.js';
import { findStateFolder, folderOf } from './beside.js';
import { databaseEndings, type FoundFile, hasDocumentEnding, limits, readEnds, readWhole, Unreadable, unlessUnreadable, withOpen } from './files.js';
import { certainFormat, headLength, readHead, recognized, sortedHead } from './recognize.js';

const magic = Buffer.from('SQLite format 3\0');

/** The number of first bytes by which a document of several conversations is recognized. */
const documentHead = 16 * 1024;

/** Separates the path of a file from the id of a conversation in it. */
const seam = '#';

/** The path of a conversation in a file. */
export const memberPath = (file: string, id: string): string => `${file}${seam}${encodeURIComponent(id)}`;
/** The beginning of the paths of all conversations in a file. */
export const memberPrefix = (file: string): string => `${file}${seam}`;

/** Splits the path of a conversation into its file and id. Undefined for the path of a file. */
function memberIn(path: string): { readonly file: string; readonly id: string } | undefined {
  const at = path.lastIndexOf(seam);
  if (at < 0 || existsSync(path)) return undefined;
  return attempt(() => ({ file: path.slice(0, at), id: decodeURIComponent(path.slice(at + 1)) }));
}

/** Divides paths into conversations, grouped by their file, and all others: files and folders. */
export function membersNamed(paths: readonly string[]): { readonly files: FoundFile[]; readonly others: string[] } {
  const named = new Map<string, Set<string>>();
  const others: string[] = [];
  for (const path of paths.map(absolutePath)) {
    const member = memberIn(path);
    if (member && regularFile(member.file)) named.set(member.file, (named.get(member.file) ?? new Set()).add(member.id));
    else others.push(path);
  }
  const files = [...named].flatMap(([path, members]): FoundFile[] => {
    const stat = regularFile(path);
    return stat ? [{ root: path, path, bytes: stat.size, modifiedAt: Math.floor(stat.mtimeMs), members }] : [];
  });
  return { files, others };
}

/** The regular file at a named path, if it is one. */
const regularFile = (path: string): ReturnType<typeof statNamed> => unlessUnreadable(() => statNamed(path));

/** The conversations of a database or document. They are readable only while `work` runs. */
export interface Holding {
  readonly format: ImportableFormat;
  readonly keeps: true | { readonly not: string };
  readonly members: Iterable<Member>;
  /** The bytes of the file and, for a database, of its log. */
  readonly files: () => readonly { readonly path: string; readonly bytes: FileBytes }[];
  /** What of a document is in none of its conversations, because it is no JSON. */
  readonly unread?: () => readonly { readonly line: number; readonly reason: string }[];
  /** For a database whose conversations have been read: tables with content of conversations that its reader does not know. */
  readonly unknown?: () => readonly Problem[];
}

/** Whether a file may hold several conversations, by its name and first bytes. */
export function mayHold(file: LocatedFile): boolean {
  const { path } = file;
  if (hasDocumentEnding(path)) return true;
  if (!databaseEndings.has(extname(path))) return false;
  const { head } = readEnds(file, headLength);
  return isDatabase(head) && importableFormats.some(({ database }) => database?.mayBe(basename(path), head));
}
/** Whether the file begins as a database of SQLite does. */
export const isDatabaseFile = (file: LocatedFile): boolean =>
  databaseEndings.has(extname(file.path)) && isDatabase(readEnds(file, magic.length).head);

const isDatabase = (head: Uint8Array): boolean => Buffer.from(head).subarray(0, magic.length).equals(magic);

/**
 * Runs `work` on the conversations of a database or document. Undefined for any other file. `known` receives the paths of the documents that are read
 * with this one. If it returns a result, nothing is read. @throws CORRUPT, UNAVAILABLE, and the error of the file system.
 */
export function withHolding<T>(
  file: LocatedFile,
  asked: ImportableFormat | undefined,
  work: (holding: Holding) => T,
  known: (beside: readonly string[]) => T | undefined = () => undefined,
): T | undefined {
  const { path } = file;
  const folder = folderOf(file);
  const head = folder ? folder.bytes.subarray(0, documentHead) : readEnds(file, documentHead).head;
  const readers = asked ? [asked] : importableFormats;
  if (isDatabase(head)) return inDatabase(file, readers, work);
  if (!asked && !folder && certainFormat(head, path)) return undefined;
  const readersOf = (beginning: Uint8Array): ImportableFormat[] =>
    readers.filter(({ exports }) => exports?.recognize(beginning, folder?.path ?? path));
  const own = readersOf(head);
  if (folder) {
    const format = own[0];
    const told = format?.exports?.members(folder.bytes, folder.path);
    return told && format?.exports && work({ format, keeps: format.exports.keeps, members: told, files: folder.files });
  }
  const heldBy = (formats: readonly ImportableFormat[]): T | undefined => {
    for (const format of formats) {
      const held = inDocument(file, format, work, known);
      if (held !== undefined) return held;
    }
    return undefined;
  };
  const held = heldBy(own);
  if (held !== undefined || asked || isWhole(head)) return held;
  // The beginning of a document can look like that of another, and its name can come at its end.
  const others = readersOfSorted(file, readersOf).filter((format) => !own.includes(format));
  return heldBy(others);
}

/** Whether a file of lines holds conversations, as `withHolding` says. A file whose first bytes make its format certain is not opened again. */
export const holdsConversations = (file: LocatedFile, bytes: FileBytes, asked: ImportableFormat | undefined): boolean =>
  (asked !== undefined || certainFormat(readHead(bytes), file.path) === undefined) && withHolding(file, asked, () => true) !== undefined;

/** Runs `work` on the conversations of a document, or finds a result for it in `known`. Undefined if the format does not read the document. */
function inDocument<T>(
  file: LocatedFile,
  format: ImportableFormat,
  work: (holding: Holding) => T,
  known: (beside: readonly string[]) => T | undefined,
): T | undefined {
  const { path } = file;
  const { exports } = format;
  if (!exports) return undefined;
  const { keeps } = exports;
  const together = exports.together?.(path);
  const beside = together?.main === path ? together.others.filter((other) => isBeside(path, other)) : [];
  const answer = known(beside);
  if (answer !== undefined) return answer;
  const large = inLargeDocument(file, exports, (told, bytes) => work({ format, keeps, members: told, files: () => [{ path, bytes }] }));
  if (large !== undefined) return large;
  const isArchive = exports.endings?.some((ending) => path.endsWith(ending)) ?? false;
  const bytes = readWhole(file, isArchive ? limits.whole : limits.document);
  const read = new Map(beside.map((other) => [other, readInside(dirname(path), other, { limit: limits.whole })] as const));
  const found = exports.members(bytes, path, read);
  const files = [{ path, bytes }, ...[...read].map(([other, content]) => ({ path: other, bytes: content }))];
  return found && work({ format, keeps, members: found, files: () => files, unread: () => exports.unread?.(bytes) ?? [] });
}

/** Whether the first record of a file is whole in its beginning, so that the rest of the file does not say more about its kind. */
const isWhole = (head: Uint8Array): boolean => parseJson(decodeText(head).split('\n', 1)[0] ?? '') !== undefined;

/** The readers of a document whose members are in another order. */
function readersOfSorted(file: LocatedFile, readersOf: (beginning: Uint8Array) => ImportableFormat[]): readonly ImportableFormat[] {
  if ((statLocated(file)?.size ?? 0) > maxWholeBytes || recognized(readEnds(file, headLength).head, file.path)) return [];
  const sorted = withOpen(file, ({ bytes }) => sortedHead(bytes));
  return sorted ? readersOf(sorted.subarray(0, documentHead)) : [];
}

/**
 * Runs `work` on the conversations of a document that does not fit into memory. Undefined for a smaller document, and for one that its
 * format can only parse as a whole. @throws Unreadable
 */
function inLargeDocument<T>(
  file: LocatedFile,
  { membersInFile }: DocumentReader,
  work: (members: readonly Member[], bytes: FileBytes) => T,
): T | undefined {
  if (!membersInFile || (statLocated(file)?.size ?? 0) <= maxWholeBytes) return undefined;
  return withOpen(file, ({ bytes }) => {
    try {
      const members = membersInFile(bytes);
      return members && work(members, bytes);
    } catch (error) {
      throw error instanceof ShellTooLarge ? new Unreadable(error.message) : error;
    }
  });
}

/** The main document that a document belongs to, if it is in the same folder. */
export function mainDocumentOf({ path }: LocatedFile): string | undefined {
  for (const { exports } of importableFormats) {
    const main = exports?.together?.(path)?.main;
    if (!exports || main === undefined || main === path || !isBeside(path, main)) continue;
    if (exports.recognize(readEnds({ root: dirname(path), path: main }, documentHead).head, main)) return main;
  }
  return undefined;
}

/** The file to read when this one changes, if it is another file nearby. A file that cannot be read belongs to no other. */
export const mainFileOf = (file: LocatedFile): string | undefined => unlessUnreadable(() => findStateFolder(file.path) ?? mainDocumentOf(file));

const isBeside = (path: string, other: string): boolean => statInside(dirname(path), other)?.isFile() ?? false;

function inDatabase<T>(file: LocatedFile, readers: readonly ImportableFormat[], work: (holding: Holding) => T): T | undefined {
  const { path } = file;
  return withForeign(file, ({ rows, files }) => {
    const format = readers.find(({ database }) => database?.recognize(rows.tables));
    if (!format?.database) return undefined;
    const known = new Set(format.database.aside);
    return work({
      format,
      keeps: format.database.keeps,
      members: measuredMembers(format.database, noting(rows, known)),
      unknown: () => unknownTables(rows, known),
      files: () =>
        files.map(({ name, copy }) => ({
          path: name === 'log' ? `${path}-wal` : path,
          bytes: readInside(dirname(copy), copy, { limit: limits.database }),
        })),
    });
  });
}

/** The rows of a database. The names of the tables that are read are added to `read`. */
const noting = (rows: DatabaseRows, read: Set<string>): DatabaseRows => ({
  tables: rows.tables,
  each: (table, columns, where) => {
    read.add(table);
    return rows.each(table, columns, where);
  },
});

/**
 * The conversations of a database, each with a limit: it is read into memory at once, and takes several times its size there.
 * Reading one beyond the limit throws {@link Unreadable}; the others can still be read.
 */
export function* measuredMembers(database: NonNullable<ImportableFormat['database']>, rows: DatabaseRows): Generator<Member> {
  let left = Number.POSITIVE_INFINITY;
  const measured: DatabaseRows = {
    tables: rows.tables,
    *each(...asked) {
      try {
        for (const row of rows.each(...asked)) {
          left -= bytesIn(row);
          if (left < 0) throw new Unreadable(`the conversation has more than ${limits.whole} bytes`);
          yield row;
        }
      } catch (error) {
        throw error instanceof RowTooLarge ? new Unreadable(error.message) : error;
      }
    },
  };
  const within = <T>(work: () => T): T => {
    left = limits.whole;
    try {
      return work();
    } finally {
      left = Number.POSITIVE_INFINITY;
    }
  };
  for (const member of database.members(measured)) {
    const { lines, over } = member;
    const read = (told: () => Lines) => (): Lines => within(told);
    yield {
      ...member,
      lines: read(lines),
      ...(over && {
        over: (granularity) => {
          const told = within(() => over(granularity));
          return told && { ...told, lines: read(told.lines) };
        },
      }),
    };
  }
}

const bytesIn = (row: Readonly<Record<string, unknown>>): number =>
  Object.values(row).reduce<number>((sum, value) => sum + (typeof value === 'string' || value instanceof Uint8Array ? value.length : 0), 0);

const ofConversation = /^(?:session|thread|conversation|chat|composer)_?id$/i;
const content = /^(?:data|content|contents|text|body|value|payload|message|prompt|parts|.*json)$/i;

/** A later version of a table of conversations. */
const ofVersion = /^(?:session|message|part|thread|conversation|chat)s?_?v?\d+$/i;

/** The tables that have rows with the content of conversations and are not among those that a reader knows. */
const unknownTables = (rows: DatabaseRows, known: ReadonlySet<string>): readonly Problem[] =>
  [...rows.tables].flatMap(([table, columns]) => {
    const id = columns.find((column) => ofConversation.test(column)) ?? (ofVersion.test(table) ? columns[0] : undefined);
    if (known.has(table) || id === undefined || !(ofVersion.test(table) || columns.some((column) => content.test(column)))) return [];
    for (const _ of rows.each(table, [id]))
      return [{ line: 0, reason: `its table ${inWords(table)} is not read: this version of Stemma does not know it` }];
    return [];
  });

export interface ConversationFile extends FoundFile {
  readonly lines: Lines;
}

/** A conversation as a file of its own. A conversation without a time gets that of its file. */
export function documentOf(file: FoundFile, member: Member): ConversationFile {
  const lines = member.lines();
  return {
    root: file.root,
    path: memberPath(file.path, member.id),
    bytes: lines.bytes.length,
    modifiedAt: Math.floor(member.modifiedAt ?? file.modifiedAt),
    lines,
  };
}
