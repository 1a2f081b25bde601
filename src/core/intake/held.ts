import { statSync } from 'node:fs';
import { basename, sep } from 'node:path';
import { type ContextId, StemmaError } from '../base/index.js';
import type { Chain } from '../chain/index.js';
import type { Skip } from '../contract/index.js';
import { type ImportableFormat, importableFormats, type Member } from '../formats/index.js';
import { type Mirror, mirrorOf } from '../store/index.js';
import type { FoundFile } from './files.js';
import type { Taken, Taking } from './grown.js';
import { importMember } from './import.js';
import { documentOf } from './members.js';

/**
 * A database whose conversations are followed while their agent writes to it. It does not grow at its end: by what each conversation
 * says of itself those that changed are found, and of these the turns that are over are taken in.
 */
export interface Held {
  readonly path: string;
  readonly mirror: Mirror;
  /** What each conversation said of itself when it was looked at. */
  readonly stamps: Map<string, string>;
  /** With what the turns of each end that were taken in. */
  readonly taken: Map<string, string>;
  /** Conversations in which a turn goes on, and where their agent works. */
  readonly open: Map<string, string | undefined>;
}

export const holdOn = (path: string): Held => ({ path, mirror: mirrorOf(path), stamps: new Map(), taken: new Map(), open: new Map() });

/** Whether a file of that name may be a database that is followed. */
export const mayBeHeld = (path: string): boolean => importableFormats.some(({ database }) => database?.isFollowed?.(basename(path)));

/** The database that a file belongs to: its log grows before it does. */
export const databaseOf = (path: string): string => path.replace(/-wal$/, '');

/**
 * What is there already is left where it is, but for conversations that went on since they were imported: these are looked at.
 * @param importedAt in milliseconds since 1970; undefined for those that never were.
 */
export function leaveWhatIs(held: Held, importedAt: (id: string) => number | undefined): void {
  reading(held, (_, members) => {
    for (const { id, stamp, modifiedAt = 0 } of members)
      if (stamp !== undefined && modifiedAt <= (importedAt(id) ?? Number.POSITIVE_INFINITY)) held.stamps.set(id, stamp);
  });
  held.mirror.close();
}

/** As {@link takeIn}, of every conversation that changed. @param cwd only those of this directory, and below it. */
export function takeHeld(chain: Chain, held: Held, { what, granularity }: Omit<Taking, 'seam'>, cwd?: string): Taken {
  const skipped: Skip[] = [];
  let [commits, entries] = [0, 0];
  let tip: ContextId | undefined;
  const isEnd = what === 'all' || what === 'end';
  const { size, mtimeMs } = statSync(held.path);
  const file: FoundFile = { path: held.path, bytes: size, modifiedAt: Math.floor(mtimeMs) };
  const take = (format: ImportableFormat, member: Member): void => {
    const over = isEnd ? undefined : member.over?.(granularity);
    if (over?.open) held.open.set(member.id, member.cwd);
    else held.open.delete(member.id);
    if (over && (over.last === undefined || held.taken.get(member.id) === over.last)) return;
    const document = documentOf(file, over ? { ...member, lines: over.lines } : member);
    const result = importMember(chain, document, { format, granularity, behind: [], ...(what === 'end' && { last: 'session_end' }) });
    if (over?.last !== undefined) held.taken.set(member.id, over.last);
    skipped.push(...result.skipped);
    commits += result.commits;
    entries += result.entries;
    tip = result.commits > 0 ? (result.tips.at(-1) ?? tip) : tip;
  };
  const format = reading(held, (reader, members) => {
    for (const member of members) {
      if (cwd !== undefined && !(member.cwd !== undefined && isWithin(member.cwd, cwd))) continue;
      const isNew = member.stamp === undefined || held.stamps.get(member.id) !== member.stamp;
      if (!isNew && !(isEnd && held.open.has(member.id))) continue;
      take(reader, member);
      if (member.stamp !== undefined) held.stamps.set(member.id, member.stamp);
    }
    return reader.id;
  });
  const open = held.open.size > 0;
  if (!open) held.mirror.close();
  return {
    ...(format !== undefined && { format }),
    ...(tip && { tip }),
    commits,
    entries,
    skipped,
    bytes: size,
    pending: open ? 1 : 0,
    open,
    rests: false,
    ended: false,
  };
}

/** Undefined where it is a database of nobody's conversations, or not there yet. */
function reading<T>({ path, mirror }: Held, work: (format: ImportableFormat, members: Iterable<Member>) => T): T | undefined {
  if (!statSync(path, { throwIfNoEntry: false })?.size) return undefined;
  try {
    return mirror.read(({ rows }) => {
      const format = importableFormats.find(({ database }) => database?.recognize(rows.tables));
      return format?.database && work(format, format.database.members(rows));
    });
  } catch (error) {
    // Its program makes it just now: it is looked at again when that goes on.
    if (error instanceof StemmaError && error.code === 'CORRUPT' && statSync(`${path}-wal`, { throwIfNoEntry: false })) return undefined;
    throw error;
  }
}

export const isWithin = (path: string, folder: string): boolean => path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
