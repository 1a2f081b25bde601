import { existsSync } from 'node:fs';
import { type FSWatcher, watch } from 'chokidar';
import { type ContextId, defined, picked, type Timestamp, toTimestamp } from '../base/index.js';
import type { WriteChain } from '../chain/index.js';
import type { CapturedFile, CaptureStatus, Skip } from '../contract/index.js';
import { absolutePath, type LocatedFile } from '../files/index.js';
import type { PlanContext } from '../formats/index.js';
import { filesUnder, ioReason, isWatched, latestSource, maxWatchedBytes, memberPath } from '../import/index.js';
import { isWithin } from '../system/index.js';
import { type FollowedDatabase, followDatabase, historyOf, importDatabaseGrowth, isFollowableDatabase, markPresentAsKnown } from './database.js';
import type { GrowthOptions, Seam, TranscriptGrowth } from './growth.js';
import { importGrowth } from './import-growth.js';
import { grownFiles, isIgnored, knownTip, mayBeFollowed, sizeNow, type WatchedPlace } from './places.js';
import { type NotedRecording, noteRecording, peek } from './recordings.js';

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
  timer?: NodeJS.Timeout;
  seam?: Seam | undefined;
  /** Set if the file is a database of conversations. */
  database: FollowedDatabase | undefined;
  bytes: number;
  pending: number;
  open: boolean;
  /** The delay before the next check whether its agent runs, in milliseconds. */
  pause: number;
  format?: string | undefined;
  cwd?: string | undefined;
  tip?: ContextId;
  /** The newest commit of an earlier import. */
  readonly known: ContextId | undefined;
  capturedAt?: Timestamp;
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
 */
export async function follow(chain: WriteChain, options: LiveOptions): Promise<Live> {
  const following = new Following(chain, options);
  await following.begin();
  return following;
}

/** The followed files, their timers, and what was imported of them. */
class Following implements Live {
  private readonly times: LiveTimes;
  private readonly startedAt: number;
  private readonly places: readonly WatchedPlace[];
  private readonly files = new Map<string, Followed>();
  private readonly due = new Set<Followed>();
  private readonly problems: Skip[] = [];
  private checkpoints = 0;
  private last: LiveStatus['last'] = null;
  private pumping: NodeJS.Immediate | undefined;
  private closed = false;
  private recording: NotedRecording | undefined;
  private watcher: FSWatcher | undefined;

  constructor(
    private readonly chain: WriteChain,
    private readonly options: LiveOptions,
  ) {
    this.times = options.times ?? defaultTimes;
    this.startedAt = chain.clock();
    this.places = options.places.map((place) => ({ ...place, path: absolutePath(place.path) }));
  }

  /** Watches the places. Resolves once everything is watched. */
  async begin(): Promise<void> {
    const { chain, options, places, startedAt } = this;
    const { from, cwd, granularity, signed } = options;
    if (from === 'now')
      for (const { path } of places) if (isFollowableDatabase(path) && !this.isTooLarge(path)) this.markAsKnown(this.add(path, startedAt));
    this.watcher = watch(
      // SQLite writes to the log beside a database first.
      places.flatMap(({ path }) => (isFollowableDatabase(path) ? [path, `${path}-wal`] : [path])),
      { ignoreInitial: from === 'now', followSymlinks: false, atomic: false, ignored: (path, stats) => isIgnored(places, path, stats) },
    );
    let ready = false;
    this.watcher
      .on('add', (path, stats) => this.changed(path, stats && !ready ? Math.floor(stats.mtimeMs) : undefined))
      .on('change', (path) => this.changed(path))
      .on('unlink', (path) => {
        const file = this.files.get(path);
        if (file) this.forget(file);
      })
      .on('error', (error) => {
        const { path, code } = error as NodeJS.ErrnoException;
        const why = code === 'ENOSPC' ? 'the system watches no more folders: its limit is reached (fs.inotify.max_user_watches)' : ioReason(error);
        this.note(path ?? places[0]?.path ?? '', why);
      });
    this.recording = noteRecording(chain, { places: places.map(({ path }) => path), cwd, granularity, signed, since: startedAt });
    await new Promise<void>((settle) => void this.watcher?.once('ready', settle));
    ready = true;
    if (from === 'now') for (const path of [...grownFiles(chain, places), ...this.files.keys()]) this.changed(path);
  }

  status(): LiveStatus {
    return {
      watching: !this.closed,
      since: toTimestamp(this.startedAt),
      places: this.places.map(({ path, agent }) => ({ path, ...(agent !== undefined && { agent }), there: existsSync(path) })),
      files: [...this.files.values()]
        .filter((file) => file.capturedAt !== undefined || file.pending > 0)
        .sort((a, b) => b.changedAt - a.changedAt)
        .slice(0, listed)
        .map(toCaptured),
      checkpoints: this.checkpoints,
      last: this.last,
      problems: [...this.problems],
    };
  }

  flush(end: boolean): void {
    const { places, files } = this;
    // The watcher may not have reported the latest changes yet.
    if (end)
      for (const { path, modifiedAt } of filesUnder(places.map((place) => place.path)).files)
        if (modifiedAt >= this.startedAt - fileTimeMs && !files.has(path) && places.some((place) => isWatched(place, path)))
          this.add(path, modifiedAt);
    for (const file of files.values()) if (end || file.since > 0) this.look(file, end ? 'end' : 'settled');
  }

  async close(): Promise<void> {
    this.closed = true;
    clearImmediate(this.pumping);
    this.recording?.close();
    for (const file of this.files.values()) {
      clearTimeout(file.timer);
      file.database?.mirror.close();
    }
    await this.watcher?.close();
  }

  private note(path: string, reason: string, line = 0): void {
    if (this.problems.some((known) => known.path === path && known.reason === reason && known.line === line)) return;
    this.problems.push({ path, line, reason });
    this.problems.splice(0, this.problems.length - problemsKept);
  }

  private at(file: Followed, time: number): void {
    clearTimeout(file.timer);
    file.timer = setTimeout(() => this.plan(file), Math.max(0, time - this.chain.clock()));
    file.timer.unref();
  }

  private plan(file: Followed): void {
    this.due.add(file);
    this.pumping ??= setImmediate(() => this.pump());
  }

  private pump(): void {
    this.pumping = undefined;
    const [file] = this.due;
    if (!file || this.closed) return;
    this.due.delete(file);
    this.look(file, 'settled');
    if (this.due.size > 0) this.pumping ??= setImmediate(() => this.pump());
  }

  private changed(written: string, writtenAt?: number): void {
    const { times, files } = this;
    const path = historyOf({ root: this.placeOf(written), path: written });
    // A file may have a time in the future, which no timer should wait for.
    const when = Math.min(writtenAt ?? this.chain.clock(), this.chain.clock());
    if (this.closed || !mayBeFollowed(path) || this.isTooLarge(path)) return;
    const file = files.get(path) ?? this.add(path, when);
    file.changedAt = when;
    file.pause = times.quiet;
    if (file.since === 0) file.since = when;
    this.at(file, Math.min(when + times.settle, file.since + times.maxWait));
  }

  private look(file: Followed, what: 'settled' | 'end'): void {
    const { times, chain } = this;
    file.since = 0;
    try {
      if (!this.isOurs(file)) return;
      // After the clock is set back, `changedAt` lies in the future. The file must not wait for it.
      file.changedAt = Math.min(file.changedAt, chain.clock());
      const quietFor = chain.clock() - file.changedAt;
      const rested = quietFor >= times.rest;
      const isOld = quietFor >= times.patience && file.tip === undefined && !file.database;
      this.noteGrowth(file, this.importFrom(file, what === 'end' ? 'end' : isOld ? 'all' : rested ? 'resting' : 'settled'));
    } catch (error) {
      // The project is busy or the disk is full. The file keeps its content for the next try.
      this.note(file.path, error instanceof Error ? error.message : String(error));
      this.at(file, chain.clock() + times.quiet);
    }
  }

  private importFrom(file: Followed, what: GrowthOptions['what']): TranscriptGrowth {
    const { granularity, regroup, signed, cwd } = this.options;
    return file.database
      ? importDatabaseGrowth(this.chain, file.database, { what, granularity, signed }, cwd)
      : importGrowth(this.chain, file, { what, granularity, regroup, signed: this.recording?.signedFor(file) ?? signed, seam: file.seam });
  }

  private noteGrowth(file: Followed, result: TranscriptGrowth): void {
    for (const { path, line, reason } of result.skipped) this.note(path, reason, line);
    if (result.skipped.length > 0 && result.bytes === 0) {
      this.forget(file);
      return;
    }
    Object.assign(file, picked(result, 'bytes', 'pending', 'open', 'seam'), { format: result.format ?? file.format });
    if (result.tip !== undefined) file.tip = result.tip;
    if (result.commits > 0) {
      file.capturedAt = toTimestamp(this.chain.clock());
      this.checkpoints += result.commits;
      this.last = { at: file.capturedAt, path: file.path, commit: result.tip ?? null };
    }
    if (file.pending === 0 || result.format === undefined) return;
    const { rest } = this.times;
    if (result.rests && this.chain.clock() - file.changedAt < rest) this.at(file, file.changedAt + rest);
    else this.waitForAgent(file);
  }

  /** Called for an idle file with an unfinished turn: its agent works, waits, or has ended without finishing the turn. */
  private waitForAgent(file: Followed): void {
    const { times } = this;
    const now = this.chain.clock();
    const quietFor = now - file.changedAt;
    if (quietFor < times.quiet) {
      this.at(file, file.changedAt + times.quiet);
      return;
    }
    file.database?.mirror.close();
    const running = this.isAtWork(file);
    if (running === false || (running === undefined && file.open && quietFor >= times.patience)) {
      const result = this.importFrom(file, 'end');
      // After an import to the end nothing is pending. Otherwise the import would repeat forever.
      this.noteGrowth(file, { ...result, pending: 0 });
    } else if (running) {
      this.at(file, now + file.pause);
      file.pause = Math.min(file.pause * 2, maxPauseMs);
    } else if (file.open) this.at(file, file.changedAt + times.patience);
  }

  /** Whether an agent runs in the directory of one of the unfinished sessions; undefined if that cannot be known. */
  private isAtWork({ format, database, cwd: own }: Followed): boolean | undefined {
    if (format === undefined) return undefined;
    const folders = database ? [...database.open.values()].map(({ cwd }) => cwd) : [own];
    const found = folders.map((cwd) => (cwd === undefined ? undefined : this.options.isRunning?.(format, cwd)));
    return found.includes(true) ? true : found.includes(undefined) ? undefined : false;
  }

  /** Whether to follow the session. Its working directory is read once, as soon as its file contains it. */
  private isOurs(file: Followed): boolean {
    const { cwd } = this.options;
    if (!existsSync(file.path)) {
      this.forget(file);
      return false;
    }
    if (file.database) return true;
    file.cwd ??= peek(file).cwd;
    return cwd === undefined || (file.cwd !== undefined && isWithin(file.cwd, cwd));
  }

  private markAsKnown({ path, database }: Followed): void {
    try {
      if (database) markPresentAsKnown(database, (id) => latestSource(this.chain, memberPath(path, id))?.importedAt);
    } catch (error) {
      this.note(path, error instanceof Error ? error.message : String(error));
    }
  }

  private forget(file: Followed): void {
    clearTimeout(file.timer);
    file.database?.mirror.close();
    this.due.delete(file);
    this.files.delete(file.path);
  }

  /** Whether a database contains so much other data that copying it at every change takes too long. */
  private isTooLarge(path: string): boolean {
    const place = this.places.find((one) => isWithin(path, one.path));
    const most = place?.agent === undefined || !isFollowableDatabase(path) ? Number.POSITIVE_INFINITY : maxWatchedBytes(place.agent);
    if (most === Number.POSITIVE_INFINITY || (sizeNow({ root: place?.path ?? path, path }) ?? 0) <= most) return false;
    this.note(path, `it has more than ${most / 1024 ** 2} MB, so it is read on import only. Import it, or watch this file by its path.`);
    return true;
  }

  /** The place that a file belongs to: the root below which no link is followed. */
  private placeOf(path: string): string {
    return this.places.find((place) => isWithin(path, place.path))?.path ?? path;
  }

  private add(path: string, when: number): Followed {
    const located = { root: this.placeOf(path), path };
    const file: Followed = {
      ...located,
      since: 0,
      changedAt: when,
      bytes: 0,
      pending: 0,
      open: false,
      database: isFollowableDatabase(path) ? followDatabase(located) : undefined,
      pause: this.times.quiet,
      known: knownTip(this.chain, path),
    };
    this.files.set(path, file);
    return file;
  }
}

const toCaptured = (file: Followed): CapturedFile => ({
  ...picked(file, 'path', 'bytes', 'pending', 'open'),
  changedAt: toTimestamp(file.changedAt),
  ...defined({ cwd: file.cwd, tip: file.tip ?? file.known, capturedAt: file.capturedAt }),
});
