import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { badRequest, type ContextId, parseJson } from '../base/index.js';
import type { WriteChain } from '../chain/index.js';
import { type CaptureStatus, checkpointEvents, type InputOf } from '../contract/index.js';
import { replaceFile } from '../files/index.js';
import { checkpointInProgress, follow, type Live, type LiveOptions, type LiveStatus } from '../follow/index.js';
import type { AgentRoot } from '../import/index.js';
import { historyFolders, writtenFiles } from '../import/index.js';
import { isWithin } from '../system/index.js';

/** The live capture of one project: at most one watch at a time. */
export type Capture = ReturnType<typeof openCapture>;

const followedFiles = (live: Live | undefined): LiveStatus['files'] => live?.status().files ?? [];

/** The most files that are followed because they were written for agents. */
const maxWritten = 20;

/** A written file that did not change for this many milliseconds is not followed after a restart. */
const rememberedMs = 7 * 86_400_000;

const idle: LiveStatus = { watching: false, since: null, places: [], files: [], checkpoints: 0, last: null, problems: [] };

/** Creates the live capture of a project. It follows nothing before `watch`. */
export function openCapture(chain: WriteChain) {
  let live: Live | undefined;
  /** The files that were written for agents, and what follows them. */
  const written = new Set<string>();
  let writtenLive: Live | undefined;
  let isRunning: LiveOptions['isRunning'];
  const followWritten = async (): Promise<void> => {
    const before = writtenLive;
    writtenLive = undefined;
    await before?.close();
    const watched = live?.status().places ?? [];
    const places = [...written].filter((path) => !watched.some((place) => isWithin(path, place.path))).map((path) => ({ path }));
    if (places.length > 0) writtenLive = await follow(chain, { places, from: 'now', granularity: 'turn_boundary', isRunning });
  };
  /** The result of the last watch, after its end. */
  let ended = idle;
  const end = async (): Promise<void> => {
    const before = live;
    live = undefined;
    await before?.close();
    ended = before?.status() ?? ended;
  };
  return {
    watch: async (options: LiveOptions): Promise<void> => {
      await end();
      live = await follow(chain, options);
      await followWritten();
    },
    /** Follows a session file that was written for an agent, whether or not anything else is followed. */
    addWritten: async (path: string, running: LiveOptions['isRunning']): Promise<void> => {
      isRunning = running;
      written.delete(path);
      written.add(path);
      for (const oldest of [...written].slice(0, -maxWritten)) written.delete(oldest);
      await followWritten();
    },
    /** Follows the files again that were written for agents before the project was opened, if they changed lately. */
    followAgain: async (running: LiveOptions['isRunning']): Promise<void> => {
      isRunning = running;
      const lately = writtenFiles(chain, chain.clock() - rememberedMs, maxWritten);
      if (lately.length === 0) return;
      for (const path of lately) written.add(path);
      await followWritten();
    },
    status: (): LiveStatus => {
      const { files, ...status } = live?.status() ?? ended;
      return { ...status, files: [...files, ...followedFiles(writtenLive)] };
    },
    /** The sessions that are followed now. */
    files: () => [...followedFiles(live), ...followedFiles(writtenLive)],
    /** With `endOfSessions`, imports all changed files to their ends, as the ends of their sessions. */
    stop: async (endOfSessions: boolean): Promise<void> => {
      live?.flush(endOfSessions);
      await end();
      await followWritten();
    },
    close: (): void => {
      written.clear();
      void end();
      void writtenLive?.close();
    },
  };
}

/** A session counts as live for this many milliseconds after its last change. */
const restingMs = 120_000;

/** The ends of the sessions on which an agent works, as live capture observes it. */
export function liveTips(capture: Capture, now: number): ReadonlySet<ContextId> {
  const isLive = ({ open, changedAt }: LiveStatus['files'][number]): boolean => open || Date.parse(changedAt) >= now - restingMs;
  const files = capture.files().filter(isLive);
  return new Set(files.flatMap(({ tip }) => tip ?? []));
}

/** The parts of an engine that live capture needs. */
interface CaptureEngine {
  readonly options: { readonly agentRoots: readonly AgentRoot[]; readonly isRunning?: LiveOptions['isRunning'] };
  readonly captured: CapturedProjects;
}
interface CapturedProject {
  readonly dir: string;
  readonly capture: Capture;
}

export type WatchInput = InputOf<'capture.watch'>;

/** Follows the given paths. Without paths, follows the histories of the given agents, or of all known agents. */
export async function watchAgents(engine: CaptureEngine, project: CapturedProject, input: WatchInput): Promise<CaptureStatus> {
  const { agentRoots, isRunning } = engine.options;
  // Folders that do not exist yet are watched too: an agent may be installed later.
  const own = agentRoots.filter(({ agent }) => input.agents?.some((one) => one === agent) ?? true);
  await project.capture.watch({
    places: input.paths?.map((path) => ({ path })) ?? own.flatMap((place) => historyFolders(place).map((path) => ({ path, agent: place.agent }))),
    from: input.from ?? (input.paths ? 'beginning' : 'now'),
    cwd: input.cwd,
    ...checkpointsOf(input),
    isRunning,
    signed: { principal: input.principal, ticketId: input.ticketId, machine: input.machine },
  });
  if (input.remember) engine.captured.set(project.dir, true);
  return captureStatus(engine, project);
}

/** The number of turns of a checkpoint, if the setting does not say it. */
const usualTurns = 5;

/** Where the commits of a capture end. @throws BAD_REQUEST for settings that do not fit each other. */
function checkpointsOf({ granularity, checkpoints }: WatchInput): Pick<LiveOptions, 'granularity' | 'regroup'> {
  if (!checkpoints) return { granularity: granularity ?? 'turn_boundary' };
  if (granularity !== undefined) throw badRequest('granularity', 'either `granularity` or `checkpoints` says when a checkpoint is taken, not both');
  const { at, every, events = false } = checkpoints;
  if (at !== 'turns' && every !== undefined) throw badRequest('checkpoints.every', `a number of turns needs \`at: 'turns'\`, not '${at}'`);
  const wanted = new Set(events === true ? checkpointEvents : events === false ? [] : events);
  // A compaction makes a commit of its own anyway.
  wanted.delete('compaction');
  const regroup = { atMessages: at === 'assistant', every: at === 'turns' ? (every ?? usualTurns) : 1, events: wanted };
  if (wanted.size > 0) return { granularity: 'part', regroup };
  return at === 'turns' ? { granularity: 'turn_boundary', regroup } : { granularity: at === 'assistant' ? 'assistant_message' : 'turn_boundary' };
}

/** Ends the live capture of a project. */
export async function stopWatching(engine: CaptureEngine, project: CapturedProject, input: InputOf<'capture.stop'>): Promise<CaptureStatus> {
  await project.capture.stop(input.end ?? false);
  if (input.remember) engine.captured.set(project.dir, false);
  return captureStatus(engine, project);
}

/** Commits the turn in progress of the author of a write, if a recording follows them and the write names no context (K4). */
export function checkpointWriter(
  { engine, project }: { readonly engine: CaptureEngine; project(): { readonly chain: WriteChain } },
  { by, contextId }: { readonly by?: string | undefined; readonly contextId?: string | undefined },
): void {
  if (by !== undefined && contextId === undefined) checkpointInProgress(project().chain, by, engine.options.agentRoots.flatMap(historyFolders));
}

/** The state of a project's live capture, and whether it starts with the project. */
export const captureStatus = (engine: CaptureEngine, project: CapturedProject): CaptureStatus => ({
  ...project.capture.status(),
  wanted: engine.captured.has(project.dir),
});

/** The projects that follow this machine's agents whenever they are open: a list in Stemma's data folder. */
export type CapturedProjects = ReturnType<typeof openWanted>;

/** Reads the list in Stemma's data folder. */
export function openWanted(dataDir: string) {
  const file = join(dataDir, 'capture.json');
  const read = (): string[] => {
    const stored = existsSync(file) ? parseJson(readFileSync(file, 'utf8')) : [];
    return Array.isArray(stored) ? stored.filter((dir) => typeof dir === 'string') : [];
  };
  return {
    has: (dir: string): boolean => read().includes(dir),
    set: (dir: string, wanted: boolean): void => {
      const known = read();
      if (known.includes(dir) === wanted) return;
      replaceFile(file, `${JSON.stringify(wanted ? [...known, dir] : known.filter((other) => other !== dir), null, 2)}\n`);
    },
  };
}
