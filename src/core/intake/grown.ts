import { statSync } from 'node:fs';
import type { ContextId } from '../base/index.js';
import type { Chain } from '../chain/index.js';
import type { Skip } from '../contract/index.js';
import { type ImportableFormat, importableFormats, type PlanContext, type Progress } from '../formats/index.js';
import { ioReason, type OpenFile, openFile, readRange, sizeOf, Unreadable } from './files.js';
import { holdOn, mayBeHeld, takeHeld } from './held.js';
import { importFile, importHolding } from './import.js';
import { isDatabaseFile } from './members.js';
import { headOf, recognized } from './recognize.js';
import { latestSource, type SourceRow } from './sources.js';

export interface Taking {
  /**
   * `settled`: the turns that are over. `resting`: also one that looks over, where nothing followed for a moment. `all`: whatever is
   * there. `end`: the same, as the end of the session. `compaction`: its agent is about to compact, so that a turn that goes on is
   * taken in up to here.
   */
  readonly what: 'settled' | 'resting' | 'all' | 'end' | 'compaction';
  readonly granularity: PlanContext['granularity'];
  /** What the last look said of where it ended; without it, all that was taken in before is read and compared. */
  readonly seam?: Seam | undefined;
}

/** The last bytes that were taken in, and where they end: while they stand there, the file has only grown. */
export interface Seam {
  readonly at: number;
  readonly bytes: Uint8Array;
}

/** What one look at a transcript brought, and what it left. */
export interface Taken {
  readonly format?: string;
  readonly commits: number;
  readonly entries: number;
  /** Where the session stands now, as far as it was taken in. */
  readonly tip?: ContextId;
  readonly seam?: Seam;
  readonly skipped: readonly Skip[];
  /** The size that the file had. */
  readonly bytes: number;
  /** Bytes that were left. */
  readonly pending: number;
  /** A turn goes on in what was left. */
  readonly open: boolean;
  /** What was left holds a turn that looks over. */
  readonly rests: boolean;
  /** The agent has left the session. */
  readonly ended: boolean;
}

const seamLength = 256;
const untold = (length: number): Progress => ({ settled: 0, resting: length, open: length > 0, ended: false });

/**
 * Looks at a transcript that may still be written and takes in what is new of it, by whole turns. Where no turn is over, only what
 * is new is read. A file that is not there or not to be read says so in `skipped`.
 */
export function takeIn(chain: Chain, path: string, { what, granularity, seam }: Taking): Taken {
  const nothing = { commits: 0, entries: 0, skipped: [], bytes: 0, pending: 0, open: false, rests: false, ended: false };
  let file: OpenFile | undefined;
  try {
    const stat = statSync(path);
    if (isDatabaseFile(path)) {
      if (mayBeHeld(path)) return takeOnce(chain, path, { what, granularity });
      // Others are read when their program has left them.
      const isOver = what === 'all' || what === 'end';
      const found = isOver ? importHolding(chain, { path, ...sizeOf(path) }, undefined, granularity) : undefined;
      const tip = found?.tips.at(-1);
      return {
        ...nothing,
        bytes: stat.size,
        pending: found ? 0 : stat.size,
        ...(found && { commits: found.commits, entries: found.entries, skipped: found.skipped }),
        ...(tip && { tip }),
      };
    }
    file = openFile(path, { held: 0 });
    const size = file.bytes.length;
    const before = latestSource(chain, path);
    const from = before && size >= before.resumeAt && goesOn(file, before, seam) ? before.resumeAt : 0;
    const format = importable(before?.format) ?? recognized(headOf(file.bytes), path)?.format;
    if (!format) return { ...nothing, bytes: size, pending: size };
    const fresh = file.bytes.subarray(from, size);
    const { settled, resting, open, ended } = format.progress?.(fresh, granularity) ?? untold(fresh.length);
    const whole = what === 'all' || what === 'end' || (what === 'compaction' && open);
    const taken = whole ? fresh.length : what === 'settled' ? settled : Math.max(settled, resting);
    const left = {
      format: format.id,
      bytes: from + fresh.length,
      pending: fresh.length - taken,
      open: open && taken < fresh.length,
      rests: resting > taken,
      ended,
    };
    if (taken === 0) return { ...nothing, ...left, ...(before && from > 0 && { seam: seam ?? seamAt(path, from) }) };
    const last = what === 'end' || ended ? 'session_end' : what === 'compaction' && open ? 'compaction' : undefined;
    const found = { path, bytes: from + taken, modifiedAt: Math.floor(stat.mtimeMs) };
    const result = importFile(chain, found, format, granularity, { file: file.upTo(from + taken), ...(last && { last }) });
    const tip = result.tips.at(-1);
    return {
      ...nothing,
      ...left,
      commits: result.commits,
      entries: result.entries,
      skipped: result.skipped,
      ...(tip && { tip }),
      seam: seamAt(path, latestSource(chain, path)?.resumeAt ?? 0),
    };
  } catch (error) {
    return { ...nothing, skipped: [{ path, line: 0, reason: error instanceof Unreadable ? error.message : ioReason(error) }] };
  } finally {
    file?.close();
  }
}

function takeOnce(chain: Chain, path: string, taking: Omit<Taking, 'seam'>): Taken {
  const held = holdOn(path);
  try {
    return takeHeld(chain, held, taking);
  } finally {
    held.mirror.close();
  }
}

function goesOn(file: OpenFile, { resumeAt, resumeHash }: SourceRow, seam: Seam | undefined): boolean {
  if (seam?.at === resumeAt) return Buffer.compare(file.bytes.subarray(Math.max(0, resumeAt - seamLength), resumeAt), seam.bytes) === 0;
  return file.hash(resumeAt).equals(resumeHash);
}

const seamAt = (path: string, at: number): Seam => ({ at, bytes: readRange(path, Math.max(0, at - seamLength), at) });

const importable = (id: string | undefined): ImportableFormat | undefined => importableFormats.find((format) => format.id === id);
