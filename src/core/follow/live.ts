import { existsSync } from 'node:fs';
import { watch } from 'chokidar';
import { type ContextId, defined, type Timestamp, timestampOf } from '../base/index.js';
import type { ReadChain, WriteChain } from '../chain/index.js';
import type { CapturedFile, CaptureStatus, Skip } from '../contract/index.js';
import { absolutePath, FileRefused, type LocatedFile, statLocated } from '../files/index.js';
import type { PlanContext } from '../formats/index.js';
import { filesUnder, ioReason, isWatched, latestSource, maxWatchedBytes, mayBeTranscript, memberPath } from '../import/index.js';
import { isWithin } from '../system/index.js';
import {
  databaseOf,
  type FollowedDatabase,
  followDatabase,
  historyOf,
  importDatabaseGrowth,
  isFollowableDatabase,
  markPresentAsKnown,
} from './database.js';
import type { GrowthOptions, Seam, TranscriptGrowth } from './growth.js';
import { importGrowth } from './import-growth.js';
import { type NotedRecording, noteRecording, peek } from './recordings.js';

/** A folder or file that is followed. */
export interface WatchedPlace {
  readonly path: string;
  /** The agent whose own folder this is, if it is one. */
  readonly agent?: string | undefined;
}

export interface LiveOptions {
  readonly places: readonly WatchedPlace[];
  /** `beginning`: the present content is imported first. `now`: only later changes are imported, and additions to files imported before. */
  readonly from: 'beginning' | 'now';
  /** Follow only sessions of this working directory and of directories below it. */
  readonly cwd?: string | undefined;
  readonly granularity: PlanContext['granularity'];
  /** How to join the commits of turns and parts of turns. */
  readonly regroup?: GrowthOptions['regroup'];
  readonly signed?: GrowthOptions['signed'];
  /** Whether an agent of the format runs in the directory; undefined if that cannot be known. */
  readonly isRunning?: ((format: string, cwd: string) => boolean | undefined) | undefined;
  readonly times?: LiveTimes;
}

/** All in milliseconds. */
export interface LiveTimes {
  /** The delay between a change and the import, and the longest delay while changes continue. */
  readonly settle: number;
  readonly maxWait: number;
  /** Idle time after which a turn that looks finished counts as finished. */
  readonly rest: number;
  /** Idle time before a check whether the agent still runs, and how long to assume that it does if that cannot be known. */
  readonly quiet: number;
  readonly patience: number;
}

const defaultTimes: LiveTimes = { settle: 150, maxWait: 700, rest: 1_200, quiet: 20_000, patience: 5 * 60_000 };
const maxPauseMs = 2 * 60_000;

/** Transcripts that are imported while their agents write them. */
export interface Live {
  status(): LiveStatus;
  /** Imports at once everything that is due. With `end`, every changed file is imported to its end, as the end of its session. */
  flush(end: boolean): void;
  close(): Promise<void>;
}

interface Followed extends LocatedFile {
  /** Times of the first change that is not imported yet (0 if none), and of the last change, in milliseconds since 1970. */
  since: number;
  changedAt: number;
  timer: NodeJS.Timeout | undefined;
  seam: Seam | undefined;
  /** Set if the file is a database of conversations. */
  database: FollowedDatabase | undefined;
  bytes: number;
  pending: number;
  open: boolean;
  /** The delay before the next check whether its agent runs, in milliseconds. */
  pause: number;
  format: string | undefined;
  cwd: string | undefined;
  tip: ContextId | undefined;
  /** The newest commit of an earlier import. */
  readonly known: ContextId | undefined;
  capturedAt: Timestamp | undefined;
}

export type LiveStatus = Omit<CaptureStatus, 'wanted'>;

/** File systems record times more coarsely than clocks do. */
const fileTimeMs = 20;
const listed = 50;
const problemsKept = 100;

/**
 * Follows transcripts. Resolves once everything is watched. Finished turns are imported within a second of a change, one file at a
 * time, so that the engine answers other calls in between. A problem with a place or a file is listed in the status and does not stop
 * the others. Nothing runs while nothing changes.
 *
 * Long because its functions share the table of followed files and its timers.
 */
export async function follow(chain: WriteChain, options: LiveOptions): Promise<Live> {
  const { granularity, regroup, times = defaultTimes, signed } = options;
  const startedAt = chain.clock();
  const files = new Map<string, Followed>();
  const due = new Set<Followed>();
  const problems: Skip[] = [];
  let checkpoints = 0;
  let last: LiveStatus['last'] = null;
  let pumping: NodeJS.Immediate | undefined;
  let closed = false;
  let recording: NotedRecording | undefined;

  const note = (path: string, reason: string, line = 0): void => {
    if (problems.some((known) => known.path === path && known.reason === reason && known.line === line)) return;
    problems.push({ path, line, reason });
    problems.splice(0, problems.length - problemsKept);
  };
  const at = (file: Followed, time: number): void => {
    clearTimeout(file.timer);
    file.timer = setTimeout(() => plan(file), Math.max(0, time - chain.clock()));
    file.timer.unref();
  };
  const plan = (file: Followed): void => {
    due.add(file);
    pumping ??= setImmediate(pump);
  };
  const pump = (): void => {
    pumping = undefined;
    const [file] = due;
    if (!file || closed) return;
    due.delete(file);
    look(file, 'settled');
    if (due.size > 0) pumping ??= setImmediate(pump);
  };

  const changed = (written: string, writtenAt?: number): void => {
    const path = historyOf({ root: placeOf(written), path: written });
    // A file may have a time in the future, which no timer should wait for.
    const when = Math.min(writtenAt ?? chain.clock(), chain.clock());
    if (closed || !mayBeFollowed(path) || isTooLarge(path)) return;
    const file = files.get(path) ?? newFile(path, when);
    files.set(path, file);
    file.changedAt = when;
    file.pause = times.quiet;
    if (file.since === 0) file.since = when;
    at(file, Math.min(when + times.settle, file.since + times.maxWait));
  };

  const look = (file: Followed, what: 'settled' | 'end'): void => {
    file.since = 0;
    try {
      if (!isOurs(file)) return;
      const quietFor = chain.clock() - file.changedAt;
      const rested = quietFor >= times.rest;
      const isOld = quietFor >= times.patience && file.tip === undefined && !file.database;
      noteGrowth(file, importFrom(file, what === 'end' ? 'end' : isOld ? 'all' : rested ? 'resting' : 'settled'));
    } catch (error) {
      // The project is busy or the disk is full. The file keeps its content for the next try.
      note(file.path, error instanceof Error ? error.message : String(error));
      at(file, chain.clock() + times.quiet);
    }
  };

  const importFrom = (file: Followed, what: GrowthOptions['what']): TranscriptGrowth =>
    file.database
      ? importDatabaseGrowth(chain, file.database, { what, granularity, signed }, options.cwd)
      : importGrowth(chain, file, { what, granularity, regroup, signed: recording?.signedFor(file) ?? signed, seam: file.seam });

  const noteGrowth = (file: Followed, result: TranscriptGrowth): void => {
    for (const { path, line, reason } of result.skipped) note(path, reason, line);
    if (result.skipped.length > 0 && result.bytes === 0) {
      forget(file);
      return;
    }
    Object.assign(file, { bytes: result.bytes, pending: result.pending, open: result.open, format: result.format ?? file.format, seam: result.seam });
    if (result.tip !== undefined) file.tip = result.tip;
    if (result.commits > 0) {
      file.capturedAt = timestampOf(chain.clock());
      checkpoints += result.commits;
      last = { at: file.capturedAt, path: file.path, commit: result.tip ?? null };
    }
    if (file.pending === 0 || result.format === undefined) return;
    if (result.rests && chain.clock() - file.changedAt < times.rest) at(file, file.changedAt + times.rest);
    else waitForAgent(file);
  };

  /** Called for an idle file with an unfinished turn: its agent works, waits, or has ended without finishing the turn. */
  const waitForAgent = (file: Followed): void => {
    const now = chain.clock();
    const quietFor = now - file.changedAt;
    if (quietFor < times.quiet) {
      at(file, file.changedAt + times.quiet);
      return;
    }
    file.database?.mirror.close();
    const running = isAtWork(file);
    if (running === false || (running === undefined && file.open && quietFor >= times.patience)) {
      const result = importFrom(file, 'end');
      // After an import to the end nothing is pending. Otherwise the import would repeat forever.
      noteGrowth(file, { ...result, pending: 0 });
    } else if (running) {
      at(file, now + file.pause);
      file.pause = Math.min(file.pause * 2, maxPauseMs);
    } else if (file.open) at(file, file.changedAt + times.patience);
  };

  /** Whether an agent runs in the directory of one of the unfinished sessions; undefined if that cannot be known. */
  const isAtWork = (file: Followed): boolean | undefined => {
    const { format } = file;
    const places = file.database ? [...file.database.open.values()].map(({ cwd }) => cwd) : [file.cwd];
    if (format === undefined) return undefined;
    const found = places.map((cwd) => (cwd === undefined ? undefined : options.isRunning?.(format, cwd)));
    return found.includes(true) ? true : found.includes(undefined) ? undefined : false;
  };

  /** Whether to follow the session. Its working directory is read once, as soon as its file contains it. */
  const isOurs = (file: Followed): boolean => {
    if (!existsSync(file.path)) {
      forget(file);
      return false;
    }
    if (file.database) return true;
    file.cwd ??= peek(file).cwd;
    return options.cwd === undefined || (file.cwd !== undefined && isWithin(file.cwd, options.cwd));
  };

  /** Marks the present content of a database as known. */
  const markAsKnown = ({ path, database }: Followed): void => {
    try {
      if (database) markPresentAsKnown(database, (id) => latestSource(chain, memberPath(path, id))?.importedAt);
    } catch (error) {
      note(path, error instanceof Error ? error.message : String(error));
    }
  };

  const forget = (file: Followed): void => {
    clearTimeout(file.timer);
    file.database?.mirror.close();
    due.delete(file);
    files.delete(file.path);
  };

  const places = options.places.map((place) => ({ ...place, path: absolutePath(place.path) }));
  if (options.from === 'now')
    for (const { path } of places)
      if (isFollowableDatabase(path) && !isTooLarge(path)) {
        const file = newFile(path, startedAt);
        files.set(path, file);
        markAsKnown(file);
      }
  const watcher = watch(
    // SQLite writes to the log beside a database first.
    places.flatMap(({ path }) => (isFollowableDatabase(path) ? [path, `${path}-wal`] : [path])),
    {
      ignoreInitial: options.from === 'now',
      followSymlinks: false,
      atomic: false,
      ignored: (path, stats) => {
        const file = databaseOf(path);
        const own = places.find((place) => isWithin(file, place.path));
        // If a place does not exist yet, the folders above it are watched.
        if (!own) return stats?.isFile() === true || !places.some((place) => isWithin(place.path, path));
        if (!isWatched(own, file)) return true;
        return stats?.isFile() === true && !mayBeFollowed(historyOf({ root: own.path, path: file }));
      },
    },
  );
  watcher
    .on('add', (path, stats) => changed(path, stats && !ready ? Math.floor(stats.mtimeMs) : undefined))
    .on('change', (path) => changed(path))
    .on('unlink', (path) => {
      const file = files.get(path);
      if (file) forget(file);
    })
    .on('error', (error) => {
      const { path, code } = error as NodeJS.ErrnoException;
      note(
        path ?? places[0]?.path ?? '',
        code === 'ENOSPC' ? 'the system watches no more folders: its limit is reached (fs.inotify.max_user_watches)' : ioReason(error),
      );
    });
  recording = noteRecording(chain, { places: places.map(({ path }) => path), cwd: options.cwd, granularity, signed, since: startedAt });
  let ready = false;
  await new Promise<void>((settle) => void watcher.once('ready', settle));
  ready = true;
  if (options.from === 'now') for (const path of [...grownFiles(chain, places), ...files.keys()]) changed(path);

  return {
    status: () => ({
      watching: !closed,
      since: timestampOf(startedAt),
      places: places.map(({ path, agent }) => ({ path, ...(agent !== undefined && { agent }), there: existsSync(path) })),
      files: [...files.values()]
        .filter((file) => file.capturedAt !== undefined || file.pending > 0)
        .sort((a, b) => b.changedAt - a.changedAt)
        .slice(0, listed)
        .map(toCaptured),
      checkpoints,
      last,
      problems: [...problems],
    }),
    flush: (end) => {
      // The watcher may not have reported the latest changes yet.
      if (end)
        for (const { path, modifiedAt } of filesUnder(places.map((place) => place.path)).files)
          if (modifiedAt >= startedAt - fileTimeMs && !files.has(path) && places.some((place) => isWatched(place, path)))
            files.set(path, newFile(path, modifiedAt));
      for (const file of files.values()) if (end || file.since > 0) look(file, end ? 'end' : 'settled');
    },
    close: async () => {
      closed = true;
      clearImmediate(pumping);
      recording?.close();
      for (const file of files.values()) {
        clearTimeout(file.timer);
        file.database?.mirror.close();
      }
      await watcher.close();
    },
  };

  /** Whether a database contains so much other data that copying it at every change takes too long. */
  function isTooLarge(path: string): boolean {
    const place = places.find((one) => isWithin(path, one.path));
    const most = place?.agent === undefined || !isFollowableDatabase(path) ? Number.POSITIVE_INFINITY : maxWatchedBytes(place.agent);
    if (most === Number.POSITIVE_INFINITY || (sizeNow({ root: place?.path ?? path, path }) ?? 0) <= most) return false;
    note(path, `it has more than ${most / 1024 ** 2} MB, so it is read on import only. Import it, or watch this file by its path.`);
    return true;
  }

  /** The place that a file belongs to: the root below which no link is followed. */
  function placeOf(path: string): string {
    return places.find((place) => isWithin(path, place.path))?.path ?? path;
  }

  function newFile(path: string, when: number): Followed {
    const located = { root: placeOf(path), path };
    return {
      ...located,
      since: 0,
      changedAt: when,
      timer: undefined,
      seam: undefined,
      database: isFollowableDatabase(path) ? followDatabase(located) : undefined,
      bytes: 0,
      pending: 0,
      open: false,
      pause: times.quiet,
      format: undefined,
      cwd: undefined,
      tip: undefined,
      known: knownTip(chain, path),
      capturedAt: undefined,
    };
  }
}

/** The newest commit of a file that was imported before. */
function knownTip(chain: ReadChain, path: string): ContextId | undefined {
  const tip = latestSource(chain, path)?.tips.at(-1);
  return tip === undefined ? undefined : chain.db.one<{ id: ContextId }>('SELECT id FROM context WHERE seq = ?', tip)?.id;
}

const mayBeFollowed = (path: string): boolean => mayBeTranscript(path) || isFollowableDatabase(path);

const toCaptured = (file: Followed): CapturedFile => ({
  path: file.path,
  bytes: file.bytes,
  pending: file.pending,
  open: file.open,
  changedAt: timestampOf(file.changedAt),
  ...defined({ cwd: file.cwd, tip: file.tip ?? file.known, capturedAt: file.capturedAt }),
});

/** Imported files below the places whose size has changed: they grew while nothing was recorded. */
function grownFiles(chain: ReadChain, places: readonly WatchedPlace[]): string[] {
  const latest = new Map(
    chain.db
      .all<{ path: string; size: number }>('SELECT path, size FROM source WHERE project = ? ORDER BY no', chain.project)
      .map(({ path, size }) => [path, size] as const),
  );
  return [...latest].flatMap(([path, size]) => {
    const place = places.find((one) => isWithin(path, one.path));
    const now = place && sizeNow({ root: place.path, path });
    return now !== undefined && now !== size ? [path] : [];
  });
}

/** Undefined if the file does not exist or may not be opened. */
function sizeNow(file: LocatedFile): number | undefined {
  try {
    return statLocated(file)?.size;
  } catch (error) {
    if (error instanceof FileRefused) return undefined;
    throw error;
  }
}
