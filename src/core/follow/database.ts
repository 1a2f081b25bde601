import { basename } from 'node:path';
import { type ContextId, defined, StemmaError } from '../base/index.js';
import type { WriteChain } from '../chain/index.js';
import type { Skip } from '../contract/index.js';
import { type LocatedFile, statLocated } from '../files/index.js';
import { type ImportableFormat, importableFormats, type Member } from '../formats/index.js';
import { documentOf, type FoundFile, importMember, logOf, mainFileOf, measuredMembers, memberPath, readSize, Unreadable } from '../import/index.js';
import { type Mirror, mirrorOf } from '../store/index.js';
import { isWithin } from '../system/index.js';
import type { GrowthOptions, TranscriptGrowth } from './growth.js';
import { portionOf } from './portion.js';

/**
 * A database whose conversations are followed while their agent writes to it. Unlike a transcript, it does not grow at its end. The stamp of
 * a conversation shows whether it changed. The finished turns of changed conversations are imported.
 */
export interface FollowedDatabase {
  readonly file: LocatedFile;
  readonly mirror: Mirror;
  /** The last known stamp of each conversation. */
  readonly stamps: Map<string, string>;
  /** The last record of the imported turns of each conversation. */
  readonly imported: Map<string, string>;
  /** Conversations with an unfinished turn: the working directory of their agent, and whether the turn looks finished. */
  readonly open: Map<string, { readonly cwd: string | undefined; readonly rests: boolean }>;
}

/** Begins to follow a database. Nothing is read yet. */
export const followDatabase = (file: LocatedFile): FollowedDatabase => ({
  file,
  mirror: mirrorOf(file),
  stamps: new Map(),
  imported: new Map(),
  open: new Map(),
});

/** Whether a file of this name may be a database that can be followed. */
export const isFollowableDatabase = (path: string): boolean => importableFormats.some(({ database }) => database?.isFollowed?.(basename(path)));

/** The history file that a changed file belongs to: the database of a log, the main file of a file that is read with it, or the file itself. */
export const historyOf = (file: LocatedFile): string => mainFileOf(file) ?? databaseOf(file.path);

/** The database that a log belongs to. */
export const databaseOf = (path: string): string => path.replace(/-wal$/, '');

/**
 * Marks the present content as known, except for conversations that continued since their import.
 * @param importedAt in milliseconds since 1970; undefined for a conversation that was never imported.
 */
export function markPresentAsKnown(database: FollowedDatabase, importedAt: (id: string) => number | undefined): void {
  reading(database, (_, members) => {
    for (const { id, stamp, modifiedAt = 0 } of members)
      if (stamp !== undefined && modifiedAt <= (importedAt(id) ?? Number.POSITIVE_INFINITY)) database.stamps.set(id, stamp);
  });
  database.mirror.close();
}

/** As {@link importGrowth}, of every conversation that changed. @param cwd only those of this directory, and below it. */
export function importDatabaseGrowth(
  chain: WriteChain,
  database: FollowedDatabase,
  { what, granularity, signed }: Omit<GrowthOptions, 'seam'>,
  cwd?: string,
): TranscriptGrowth {
  const skipped: Skip[] = [];
  let [commits, entries] = [0, 0];
  let tip: ContextId | undefined;
  const isEnd = what === 'all' || what === 'end';
  const file: FoundFile = { ...database.file, ...readSize(database.file) };
  const { bytes: size } = file;
  const importConversation = (format: ImportableFormat, member: Member): void => {
    const { member: part, last, open, rests } = portionOf(format, member, { what, granularity });
    if (open) database.open.set(member.id, { cwd: member.cwd, rests });
    else database.open.delete(member.id);
    if (!part || (last !== undefined && database.imported.get(member.id) === last)) return;
    const document = documentOf(file, part);
    const result = importMember(chain, document, {
      format,
      granularity,
      behind: [],
      ...(what === 'end' && { last: 'session_end' }),
      signed: { ...signed, machine: signed?.machine ?? chain.machine },
    });
    if (last !== undefined) database.imported.set(member.id, last);
    skipped.push(...result.skipped);
    commits += result.commits;
    entries += result.entries;
    tip = result.commits > 0 ? (result.tips.at(-1) ?? tip) : tip;
  };
  const format = reading(database, (reader, members) => {
    for (const member of members) {
      if (cwd !== undefined && !(member.cwd !== undefined && isWithin(member.cwd, cwd))) continue;
      const isNew = member.stamp === undefined || database.stamps.get(member.id) !== member.stamp;
      const unfinished = database.open.get(member.id);
      if (!isNew && !(unfinished && (isEnd || (unfinished.rests && what === 'resting')))) continue;
      try {
        importConversation(reader, member);
      } catch (error) {
        if (!(error instanceof Unreadable)) throw error;
        skipped.push({ path: memberPath(file.path, member.id), line: 0, reason: error.message });
      }
      if (member.stamp !== undefined) database.stamps.set(member.id, member.stamp);
    }
    return reader.id;
  });
  const open = database.open.size > 0;
  if (!open) database.mirror.close();
  const rests = [...database.open.values()].some((one) => one.rests);
  return { ...defined({ format, tip }), commits, entries, skipped, bytes: size, pending: open ? 1 : 0, open, rests, ended: false };
}

/** The result of `work`; undefined if the database does not exist yet or holds no conversations of a known format. */
function reading<T>({ file, mirror }: FollowedDatabase, work: (format: ImportableFormat, members: Iterable<Member>) => T): T | undefined {
  if (!statLocated(file)?.size) return undefined;
  try {
    return mirror.read(({ rows }) => {
      const format = importableFormats.find(({ database }) => database?.recognize(rows.tables));
      return format?.database && work(format, measuredMembers(format.database, rows));
    });
  } catch (error) {
    // Its program is creating it right now. The next change of the file triggers another try.
    if (error instanceof StemmaError && error.code === 'CORRUPT' && statLocated(logOf(file))) return undefined;
    throw error;
  }
}
