import type { Chain } from '../chain/index.js';
import type { Located } from '../files/index.js';
import { type FileBytes, type ImportableFormat, importableFormats, TooManyLines } from '../formats/index.js';
import {
  type FoundFile,
  folderOf,
  headOf,
  importFile,
  importHolding,
  ioReason,
  isDatabaseFile,
  latestSource,
  type OpenFile,
  openFile,
  readRange,
  recognized,
  type SourceRow,
  sizeOf,
  Unreadable,
} from '../import/index.js';
import { holdOn, mayBeHeld, takeHeld } from './held.js';
import { portionOf, untold } from './portion.js';
import type { Seam, Taken, Taking } from './taken.js';

const seamLength = 256;

/**
 * Imports the finished turns that were added to a transcript, which may still be written. If no turn is finished, it reads only the
 * new bytes. `skipped` names a file that does not exist or cannot be read.
 */
export function takeIn(chain: Chain, located: Located, { what, granularity, seam, signed }: Taking): Taken {
  const nothing = { commits: 0, entries: 0, skipped: [], bytes: 0, pending: 0, open: false, rests: false, ended: false };
  const { path } = located;
  let file: OpenFile | undefined;
  try {
    const found = { ...located, ...sizeOf(located) };
    if (isDatabaseFile(located)) {
      if (mayBeHeld(path)) return takeOnce(chain, located, { what, granularity, signed });
      // Other databases are read when their program has closed them.
      const isOver = what === 'all' || what === 'end';
      const held = isOver ? importHolding(chain, found, undefined, granularity) : undefined;
      const tip = held?.tips.at(-1);
      return {
        ...nothing,
        bytes: found.bytes,
        pending: held ? 0 : found.bytes,
        ...(held && { commits: held.commits, entries: held.entries, skipped: held.skipped }),
        ...(tip && { tip }),
      };
    }
    file = openFile(located, { held: 0 });
    const size = file.bytes.length;
    const document = documentFormat(located, headOf(file.bytes));
    if (document) return { ...nothing, ...takeDocument(chain, found, document, { what, granularity, signed }) };
    const before = latestSource(chain, path);
    const from = before && size >= before.resumeAt && continuesSource(file, before, seam) ? before.resumeAt : 0;
    const format = importable(before?.format) ?? recognized(headOf(file.bytes), path)?.format;
    if (!format) return { ...nothing, bytes: size, pending: size };
    const fresh = after(file.bytes, from);
    const { settled, resting, open, ended } = format.progress?.(fresh, granularity) ?? untold(fresh.length);
    const whole = what === 'all' || what === 'end' || ((what === 'compaction' || what === 'now') && open);
    const taken = whole ? fresh.length : what === 'settled' ? settled : Math.max(settled, resting);
    const left = {
      format: format.id,
      bytes: from + fresh.length,
      pending: fresh.length - taken,
      open: open && taken < fresh.length,
      rests: resting > taken,
      ended,
    };
    if (taken === 0) return { ...nothing, ...left, ...(before && from > 0 && { seam: seam ?? seamAt(located, from) }) };
    const last =
      what === 'end' || ended ? 'session_end' : open && what === 'compaction' ? 'compaction' : open && what === 'now' ? 'explicit' : undefined;
    const result = importFile(chain, { ...found, bytes: from + taken }, format, granularity, {
      file: file.upTo(from + taken),
      ...(last && { last }),
      signed: signedHere(chain, signed),
    });
    const tip = result.tips.at(-1);
    return {
      ...nothing,
      ...left,
      commits: result.commits,
      entries: result.entries,
      skipped: result.skipped,
      ...(tip && { tip }),
      seam: seamAt(located, latestSource(chain, path)?.resumeAt ?? 0),
    };
  } catch (error) {
    return {
      ...nothing,
      skipped: [{ path, line: 0, reason: error instanceof Unreadable || error instanceof TooManyLines ? error.message : ioReason(error, path) }],
    };
  } finally {
    file?.close();
  }
}

/** Imports the complete turns of a document. It is written whole at every change, so it is read once it has not changed for a moment. */
function takeDocument(chain: Chain, found: FoundFile, { id }: ImportableFormat, taking: Omit<Taking, 'seam'>): Partial<Taken> {
  const { what, granularity, signed } = taking;
  const { bytes } = found;
  if (what === 'settled') return { format: id, bytes, pending: bytes, rests: true };
  let [open, rests] = [false, false];
  const held = importHolding(chain, found, undefined, granularity, {
    part: (format, member) => {
      const portion = portionOf(format, member, taking);
      [open, rests] = [open || portion.open, rests || portion.rests];
      return portion.member;
    },
    ...(what === 'end' && { last: 'session_end' }),
    signed: signedHere(chain, signed),
  });
  const tip = held?.tips.at(-1);
  const result = held && { commits: held.commits, entries: held.entries, skipped: held.skipped };
  return { format: id, bytes, pending: open ? bytes : 0, open, rests, ...result, ...(tip && { tip }) };
}

/** The format of a file that holds conversations as one document. */
function documentFormat(file: Located, head: Uint8Array): ImportableFormat | undefined {
  const { path, bytes } = folderOf(file) ?? { path: file.path, bytes: head };
  return recognized(head, file.path) ? undefined : importableFormats.find(({ exports }) => exports?.recognize(bytes, path));
}

/** The bytes of a file after an offset. They are read a part at a time: an agent may have written much while nobody watched. */
const after = (bytes: FileBytes, from: number): FileBytes => ({
  length: bytes.length - from,
  subarray: (start, end) => bytes.subarray(from + start, from + end),
});

/** A session that is recorded while it is written runs on this machine. */
const signedHere = ({ machine }: Pick<Chain, 'machine'>, signed: Taking['signed']): NonNullable<Taking['signed']> => ({
  ...signed,
  machine: signed?.machine ?? machine,
});

function takeOnce(chain: Chain, file: Located, taking: Omit<Taking, 'seam'>): Taken {
  const held = holdOn(file);
  try {
    return takeHeld(chain, held, taking);
  } finally {
    held.mirror.close();
  }
}

function continuesSource(file: OpenFile, { resumeAt, resumeHash }: SourceRow, seam: Seam | undefined): boolean {
  if (seam?.at === resumeAt) return Buffer.compare(file.bytes.subarray(Math.max(0, resumeAt - seamLength), resumeAt), seam.bytes) === 0;
  return file.hash(resumeAt).equals(resumeHash);
}

const seamAt = (file: Located, at: number): Seam => ({ at, bytes: readRange(file, Math.max(0, at - seamLength), at) });

const importable = (id: string | undefined): ImportableFormat | undefined => importableFormats.find((format) => format.id === id);
