import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseJson } from '../base/index.js';
import type { Chain } from '../chain/index.js';
import type { CaptureStatus, Runtime } from '../contract/index.js';
import { follow, historyFolders, type Live, type LiveOptions, type LiveStatus } from '../intake/index.js';
import type { Engine } from './engine.js';
import type { Project } from './project.js';

/** The live capture of one project: at most one watch at a time. */
export interface Capture {
  watch(options: LiveOptions): Promise<void>;
  status(): LiveStatus;
  /** `end`: what is there of the files that changed is taken in, as their sessions' end. */
  stop(end: boolean): Promise<void>;
  close(): void;
}

const idle: LiveStatus = { watching: false, since: null, places: [], files: [], checkpoints: 0, last: null, problems: [] };

export function openCapture(chain: Chain): Capture {
  let live: Live | undefined;
  /** What the last watch brought, after its end. */
  let ended = idle;
  const end = async (): Promise<void> => {
    const before = live;
    live = undefined;
    await before?.close();
    ended = before?.status() ?? ended;
  };
  return {
    watch: async (options) => {
      await end();
      live = await follow(chain, options);
    },
    status: () => live?.status() ?? ended,
    stop: async (endOfSessions) => {
      live?.flush(endOfSessions);
      await end();
    },
    close: () => void end(),
  };
}

export interface WatchInput {
  readonly paths?: readonly string[] | undefined;
  readonly agents?: readonly Runtime[] | undefined;
  readonly from?: 'beginning' | 'now' | undefined;
  readonly cwd?: string | undefined;
  readonly granularity?: 'turn_boundary' | 'tool_call' | undefined;
  readonly remember?: boolean | undefined;
}

/** Follows the named paths, else the histories of the named agents, else of all that Stemma knows (contract, `capture.watch`). */
export async function watchAgents(engine: Engine, project: Project, input: WatchInput): Promise<CaptureStatus> {
  const { agentRoots, isRunning } = engine.options;
  // An agent that is not there yet may come while it is waited for.
  const own = agentRoots.filter(({ agent }) => input.agents?.includes(agent) ?? true);
  await project.capture.watch({
    places: input.paths?.map((path) => ({ path })) ?? own.flatMap((place) => historyFolders(place).map((path) => ({ path, agent: place.agent }))),
    from: input.from ?? (input.paths ? 'beginning' : 'now'),
    cwd: input.cwd,
    granularity: input.granularity ?? 'turn_boundary',
    isRunning,
  });
  if (input.remember) engine.captured.set(project.dir, true);
  return captureStatus(engine, project);
}

export interface StopInput {
  readonly end?: boolean | undefined;
  readonly remember?: boolean | undefined;
}

export async function stopWatching(engine: Engine, project: Project, input: StopInput): Promise<CaptureStatus> {
  await project.capture.stop(input.end ?? false);
  if (input.remember) engine.captured.set(project.dir, false);
  return captureStatus(engine, project);
}

export const captureStatus = (engine: Engine, project: Project): CaptureStatus => ({
  ...project.capture.status(),
  wanted: engine.captured.has(project.dir),
});

/** Which projects follow the agents of this machine whenever they are open, as the person last chose: a list in Stemma's own folder. */
export interface Wanted {
  has(dir: string): boolean;
  set(dir: string, wanted: boolean): void;
}

export function openWanted(dataDir: string): Wanted {
  const file = join(dataDir, 'capture.json');
  const read = (): string[] => {
    const stored = existsSync(file) ? parseJson(readFileSync(file, 'utf8')) : [];
    return Array.isArray(stored) ? stored.filter((dir) => typeof dir === 'string') : [];
  };
  return {
    has: (dir) => read().includes(dir),
    set: (dir, wanted) => {
      const known = read();
      if (known.includes(dir) === wanted) return;
      writeFileSync(file, `${JSON.stringify(wanted ? [...known, dir] : known.filter((other) => other !== dir), null, 2)}\n`, { mode: 0o600 });
    },
  };
}
