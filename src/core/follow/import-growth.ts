import type { ReadChain, WriteChain } from '../chain/index.js';
import type { LocatedFile } from '../files/index.js';
import { type FileBytes, type ImportableFormat, importableFormats, type Progress, TooManyLines } from '../formats/index.js';
import {
  type FileResult,
  type FoundFile,
  folderOf,
  formatNamed,
  type Hashes,
  hashesUpTo,
  holdsConversations,
  importFile,
  importHolding,
  ioReason,
  isDatabaseFile,
  latestSource,
  type OpenFile,
  openFile,
  type Portion,
  readHead,
  readRange,
  readSize,
  recognized,
  type SourceRow,
  Unreadable,
} from '../import/index.js';
import { followDatabase, importDatabaseGrowth, isFollowableDatabase } from './database.js';
import type { GrowthOptions, Seam, TranscriptGrowth } from './growth.js';
import { lengthToImport, portionOf, unknownProgress } from './portion.js';

const seamLength = 256;

/** The result of an import that added nothing. */
const nothing = { commits: 0, entries: 0, skipped: [], bytes: 0, pending: 0, open: false, rests: false, ended: false };

/**
 * Imports the turns that were added to a transcript, which its agent may still write. If no turn is complete, only the new bytes are read.
 * `skipped` names a file that does not exist or cannot be read.
 */
export function importGrowth(chain: WriteChain, located: LocatedFile, options: GrowthOptions): TranscriptGrowth {
  const { path } = located;
  let file: OpenFile | undefined;
  try {
    const found = { ...located, ...readSize(located) };
    if (isDatabaseFile(located))
      return isFollowableDatabase(path) ? importDatabaseOnce(chain, located, options) : importClosedDatabase(chain, found, options);
    file = openFile(located, { held: 0, hashes: options.what === 'end' ? undefined : hashesAt(located, found.bytes, options.seam) });
    const format = documentFormat(located, readHead(file.bytes));
    return format ? importDocumentGrowth(chain, found, format, options) : importNewLines(chain, found, file, options);
  } catch (error) {
    const reason = error instanceof Unreadable || error instanceof TooManyLines ? error.message : ioReason(error, path);
    return { ...nothing, skipped: [{ path, line: 0, reason }] };
  } finally {
    file?.close();
  }
}

/** Imports the conversations of a database that Stemma does not follow. It is read at the end only, when its program has closed it. */
function importClosedDatabase(chain: WriteChain, found: FoundFile, { what, granularity }: GrowthOptions): TranscriptGrowth {
  const result = what === 'all' || what === 'end' ? importHolding(chain, found, undefined, granularity) : undefined;
  return { ...nothing, bytes: found.bytes, pending: result ? 0 : found.bytes, ...added(result) };
}

/** A replaced file may belong to another agent. If its beginning is unknown, or may still be of the last format, that one counts. */
function formatNow({ bytes }: OpenFile, path: string, goesOn: boolean, last: ImportableFormat | undefined): ImportableFormat | undefined {
  if (goesOn) return last;
  const head = readHead(bytes);
  return last && last.recognize(head, path) > 0 ? last : (recognized(head, path)?.format ?? last);
}

/** Imports the lines that follow the last import, up to the end of the last complete turn. */
function importNewLines(chain: WriteChain, found: FoundFile, file: OpenFile, options: GrowthOptions): TranscriptGrowth {
  const { what, granularity, seam, signed, regroup } = options;
  const { path } = found;
  const size = file.bytes.length;
  const before = latestSource(chain, path);
  const from = before && size >= before.resumeAt && continuesSource(file, before, seam) ? before.resumeAt : 0;
  const format = formatNow(file, path, from > 0, formatNamed(before?.format));
  if (!format) return { ...nothing, bytes: size, pending: size };
  const fresh = bytesAfter(file.bytes, from);
  const progress = format.progress?.(fresh, granularity) ?? unknownProgress(fresh.length);
  const length = lengthToImport(progress, fresh.length, what);
  const rest = {
    format: format.id,
    bytes: size,
    pending: fresh.length - length,
    open: progress.open && length < fresh.length,
    rests: progress.resting > length,
    ended: progress.ended,
  };
  if (length === 0) return { ...nothing, ...rest, ...(from > 0 && { seam: seam ?? seamAt(found, from) }) };
  const reached = (): Seam => ({ ...seamAt(found, latestSource(chain, path)?.resumeAt ?? 0), hashes: file.hashes });
  const importTo = (end: number, last: Portion['last'], waits: boolean): FileResult =>
    importFile(chain, { ...found, bytes: end }, format, granularity, {
      file: file.upTo(end),
      ...(last && { last }),
      ...(regroup && { regroup: { ...regroup, waits } }),
      signed: signedHere(chain, signed),
    });
  const result = importTo(from + length, lastCheckpoint(what, progress), (what === 'settled' || what === 'resting') && !progress.ended);
  if (result.until) {
    // The last turns or parts of a turn form no complete commit yet.
    const { untilByte, last } = result.until;
    const waiting = { ...nothing, ...rest, pending: size - Math.max(from, untilByte), rests: false };
    if (untilByte <= from) return { ...waiting, ...(from > 0 && { seam: seam ?? seamAt(found, from) }) };
    return { ...waiting, ...added(importTo(untilByte, last, false)), seam: reached() };
  }
  return { ...nothing, ...rest, ...added(result), seam: reached() };
}

/** The checkpoint of the last commit of an import; undefined if it is that of a complete turn. */
function lastCheckpoint(what: GrowthOptions['what'], { open, ended }: Progress): 'session_end' | 'compaction' | 'explicit' | undefined {
  if (what === 'end' || ended) return 'session_end';
  if (!open) return undefined;
  if (what === 'compaction') return 'compaction';
  return what === 'now' ? 'explicit' : undefined;
}

/** Imports the complete turns of a document. Agents rewrite a document at every change, so it is read after a moment without changes. */
function importDocumentGrowth(chain: WriteChain, found: FoundFile, { id }: ImportableFormat, options: GrowthOptions): TranscriptGrowth {
  const { what, granularity, signed } = options;
  const { bytes } = found;
  if (what === 'settled') return { ...nothing, format: id, bytes, pending: bytes, rests: true };
  let [open, rests] = [false, false];
  const result = importHolding(chain, found, undefined, granularity, {
    part: (format, member) => {
      const portion = portionOf(format, member, options);
      [open, rests] = [open || portion.open, rests || portion.rests];
      return portion.member;
    },
    ...(what === 'end' && { last: 'session_end' }),
    signed: signedHere(chain, signed),
  });
  return { ...nothing, format: id, bytes, pending: open ? bytes : 0, open, rests, ...added(result) };
}

/** The fields of a result that say what an import added. */
function added(result: Pick<ReturnType<typeof importFile>, 'commits' | 'entries' | 'skipped' | 'tips'> | undefined): Partial<TranscriptGrowth> {
  if (!result) return {};
  const { commits, entries, skipped, tips } = result;
  const tip = tips.at(-1);
  return { commits, entries, skipped, ...(tip && { tip }) };
}

/** The format of a file that holds conversations as one document. A log can look like lines of a session too: an import decides. */
function documentFormat(file: LocatedFile, head: Uint8Array): ImportableFormat | undefined {
  const { path, bytes } = folderOf(file) ?? { path: file.path, bytes: head };
  const confidence = recognized(head, file.path)?.confidence ?? 0;
  const found = confidence === 1 ? undefined : importableFormats.find(({ exports }) => exports?.recognize(bytes, path));
  return found && (confidence === 0 || holdsConversations(file, head, undefined)) ? found : undefined;
}

/** The bytes of a file after an offset, read a part at a time: an agent may have written much while nothing was recorded. */
const bytesAfter = (bytes: FileBytes, from: number): FileBytes => ({
  length: bytes.length - from,
  subarray: (start, end) => bytes.subarray(from + start, from + end),
});

/** A session that is recorded while its agent writes it runs on this machine. */
const signedHere = ({ machine }: Pick<ReadChain, 'machine'>, signed: GrowthOptions['signed']): NonNullable<GrowthOptions['signed']> => ({
  ...signed,
  machine: signed?.machine ?? machine,
});

function importDatabaseOnce(chain: WriteChain, file: LocatedFile, options: GrowthOptions): TranscriptGrowth {
  const database = followDatabase(file);
  try {
    return importDatabaseGrowth(chain, database, options);
  } finally {
    database.mirror.close();
  }
}

function continuesSource(file: OpenFile, { resumeAt, resumeHash }: SourceRow, seam: Seam | undefined): boolean {
  if (seam?.at === resumeAt) return Buffer.compare(file.bytes.subarray(Math.max(0, resumeAt - seamLength), resumeAt), seam.bytes) === 0;
  return file.hash(resumeAt).equals(resumeHash);
}

/** The hashes of a file that still has the bytes of its last import. At the end of a session, all of it is read and verified. */
function hashesAt(file: LocatedFile, size: number, seam: Seam | undefined): Hashes | undefined {
  if (!seam?.hashes || size < seam.at || Buffer.compare(seamAt(file, seam.at).bytes, seam.bytes) !== 0) return undefined;
  return hashesUpTo(seam.hashes, seam.at);
}

const seamAt = (file: LocatedFile, at: number): Seam => ({ at, bytes: readRange(file, Math.max(0, at - seamLength), at) });
