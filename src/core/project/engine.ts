import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { layerSources } from '../assist/index.js';
import { attempt, type Clock, isObject, parseJson, picked, stringAt, systemClock, toTimestamp } from '../base/index.js';
import type { Git } from '../blame/index.js';
import type { Diagnostics, RecentProject, UpdateCheck, UpdateSettings } from '../contract/index.js';
import { absolutePath, makeFolders, makePrivateFolder, removeLeftovers, replaceFile, temporaryPlaces, unlessRefused } from '../files/index.js';
import { type AgentRoot, importPaths } from '../import/index.js';
import { openMachineReplicas } from '../replicas/index.js';
import { type AgentProgram, cleanUp, type LiveJobs, openLiveJobs, openPulse, type pulse, type RunnerParts, type Workshop } from '../runner/index.js';
import { removeUnusedCopies } from '../store/index.js';
import { type HubAddress, type MachineHubs, type ManagedHub, openMachineHubs, type PendingSignIn } from '../sync/index.js';
import { comparable } from '../system/index.js';
import { openSeal, openTrustedProjects } from '../trust/index.js';
import { type ModelProvider, openQuestions, type Questions } from '../turns/index.js';
import type { Accounts } from './accounts.js';
import { type CapturedProjects, openWanted } from './capture.js';
import { type CacheSize, cacheShares, shareCaches } from './chains.js';
import { type Drafts, openDrafts } from './drafts.js';
import { historiesIn, type NewProject } from './folder.js';
import { findProjectIn, isProject } from './manifest.js';
import { type AllowedOutputs, allowedOutputs } from './outputs.js';
import { ownUsageSettings } from './own-prices.js';
import { openPolicies, type Policies } from './policies.js';
import { createProject, type ForProjects, openProject, type Project } from './project.js';
import { openSummarizerSettings } from './summaries.js';

/** The parts of the machine that the engine uses. The process that starts the engine reads the environment. */
export interface EngineOptions extends Pick<ForProjects, 'worker' | 'vault' | 'analyst'> {
  /** Stemma's data folder. It holds the settings of this machine, the list of recent projects and the default project for imports. */
  readonly dataDir: string;
  /** The agents' own folders, such as `~/.claude`: sources of histories, and targets for resumed contexts. */
  readonly agentRoots: readonly AgentRoot[];
  /** The transcripts of the sample project. */
  readonly sampleDir: string;
  readonly startup: { readonly paths: readonly string[]; readonly project: string | null; readonly link?: string | null };
  /** The script of `worker`, for an engine without such threads: threads that read files ahead of an import, so that they are parsed on all cores. */
  readonly ahead?: string | undefined;
  readonly platform: string;
  /** The name of this machine, stored with the commits and the default author that it creates. */
  readonly machine?: string | undefined;
  /** Model providers for reruns. */
  readonly providers?: readonly ModelProvider[];
  /** Command-line agents that can carry out work. */
  readonly agents?: readonly AgentProgram[];
  /** Creates work folders for tries, and runs the checks that a person defined. */
  readonly workshop?: Workshop;
  /** Runs git in repositories of this machine, which may come from anywhere. */
  readonly git?: Git;
  /** Whether this engine does due work and starts the jobs that policies allow, while projects are open. Set by the app and `stemma serve` only. */
  readonly performs?: boolean;
  /** Settings of the providers. */
  readonly accounts?: Accounts;
  /** Whether an agent of this format runs in the folder; undefined if that cannot be known. */
  readonly isRunning?: (format: string, cwd: string) => boolean | undefined;
  /**
   * Opens a terminal that runs commands in a folder, one after the other; each is a program and its arguments. Returns the terminal's name, or
   * undefined if the machine has no terminal.
   */
  readonly openTerminal?: (work: { readonly folder: string; readonly commands: readonly (readonly string[])[] }) => Promise<string | undefined>;
  /** Sends a document of spans to a collector. @throws UNAVAILABLE if it does not answer or refuses. */
  readonly sendSpans?: (address: string, spans: string) => Promise<void>;
  /** Connects to a hub of a team. Without it, the engine knows no hubs. */
  readonly reachHub?: (address: HubAddress) => ManagedHub;
  /** Begins to sign this machine in at a hub. */
  readonly signIn?: (hub: string) => Promise<PendingSignIn>;
  /** Facts about this installation, for reports of problems. */
  readonly diagnostics?: () => Omit<Diagnostics, 'caches'>;
  /** The settings of updates, and how to look for one. `check` fails with UNAVAILABLE outside of the desktop app. */
  readonly updates?: {
    settings(): UpdateSettings;
    set(change: { readonly on?: boolean | undefined; readonly feed?: string | null | undefined }): UpdateSettings;
    check(): Promise<UpdateCheck>;
  };
  readonly clock?: Clock;
  /** Threads that read the projects of this engine. Without them, the engine's thread reads. */
  readonly readers?: ReadingThreads;
}

/** What an engine tells the threads that read its projects. */
export interface ReadingThreads {
  /** A project was opened, or opened again. */
  opened(project: Project): void;
  /** Content of a project was removed, or its file was replaced: the threads forget what they know of it. */
  forget(path: string): void;
  /** Resolves when no thread has the project in a folder open, so that its database can be replaced. Until `forget`, calls that read wait. */
  leave(dir: string): Promise<void>;
  /** What each of the threads keeps in memory. */
  caches(): Promise<readonly CacheSize[]>;
}

/** The open projects of one process. Each is opened once, and all sessions share it. */
export interface Engine {
  readonly options: EngineOptions;
  readonly clock: Clock;
  /** The projects that follow this machine's agents whenever they are open. */
  readonly captured: CapturedProjects;
  /** Tool calls of runs that wait for a person. */
  readonly questions: Questions;
  /** The jobs that this process carries out. */
  readonly jobs: LiveJobs;
  /** The jobs that may start by themselves in each project. */
  readonly policies: Policies;
  /** The files that windows are allowed to write. */
  readonly outputs: AllowedOutputs;
  /** Text that people typed and have not used yet. */
  readonly drafts: Drafts;
  /** The hubs of this machine's projects. */
  readonly hubs: MachineHubs;
  /** Opens a project. With `repair`, also rebuilds a database that does not open. */
  open(dir: string, options?: { readonly repair?: boolean }): Project;
  create(input: NewProject): Project;
  /** The open project of a folder, which may have been reopened. */
  held(dir: string): Project | undefined;
  /** Records that a person trusts the project in a folder. @throws NOT_FOUND if no project is there. */
  trust(dir: string): { readonly projectId: string; readonly dir: string };
  /** An open project by its id. */
  withId(projectId: string): Project | undefined;
  recent(): RecentProject[];
  /** Whether a person trusts the project in this place. */
  isTrusted(projectId: string, dir: string): boolean;
  /** The folder of the default project for imports; created at first use. */
  home(): string;
  /** The folder of the sample project, imported on first use. */
  sample(): string;
  /** The parts that start jobs of a project. */
  runner(project: Project): RunnerParts;
  close(): void;
}

const recentKept = 20;

/** Readies the reading threads for a project. A program that has them stays open, so it also follows the agents' answers to forks further. */
function startReading({ readers, isRunning }: EngineOptions, project: Project): void {
  readers?.opened(project);
  if (readers && project.access.mode === 'read-write') void project.capture.followAgain(isRunning).catch(() => {});
}

/** What the projects of an engine know of the machine. */
const machineFor = (options: EngineOptions, own: Pick<ForProjects, 'trusted' | 'copies'>): ForProjects => ({
  ...own,
  ...picked(options, 'machine', 'vault', 'analyst', 'worker'),
  replicas: openMachineReplicas(options.dataDir),
  summaries: (dir) => openSummarizerSettings(options.dataDir, dir),
  providers: () => options.providers ?? [],
  usageSettings: () => ownUsageSettings(options.dataDir),
  seal: openSeal(options.dataDir),
  onGone: options.readers?.forget,
});

/** Starts an engine without an open project. */
export function createEngine(options: EngineOptions): Engine {
  const clock = options.clock ?? systemClock;
  const open = new Map<string, Project>();
  const [recentFile, copies] = [join(options.dataDir, 'recent.json'), join(options.dataDir, 'copies')];
  // A full or read-only data folder is ignored: projects in other places work without it.
  unlessRefused(() => makeFolders(options.dataDir));
  makePrivateFolder(options.dataDir);
  const trusted = openTrustedProjects(options.dataDir);
  const machine = machineFor(options, { trusted, copies });
  if (options.readers) shareCaches(cacheShares.writer);
  removeUnusedCopies(copies);
  removeLeftovers(temporaryPlaces());
  const hold = (project: Project): Project => {
    open.set(comparable(project.dir), project);
    startReading(options, project);
    noteRecent(recentFile, project, clock);
    return project;
  };
  const find = (dir: string): Project | undefined => open.get(comparable(absolutePath(dir))) ?? open.get(comparable(`${absolutePath(dir)}.stemma`));
  /** The open project of a folder. Closes a project that must be reopened and returns undefined. */
  const current = (dir: string): Project | undefined => {
    const project = find(dir);
    if (!project?.isStale()) return project;
    open.delete(comparable(project.dir));
    project.close();
    return undefined;
  };
  const engine: Engine = {
    options,
    clock,
    captured: openWanted(options.dataDir),
    questions: openQuestions(randomUUID),
    jobs: openLiveJobs(),
    policies: openPolicies(options.dataDir),
    outputs: allowedOutputs(),
    drafts: openDrafts(options.dataDir, clock),
    hubs: openMachineHubs(options.dataDir, options.vault),
    open: (dir, options) => hold(current(dir) ?? openProject(dir, clock, machine, options)),
    create: (input) => hold(createProject(input, clock, machine)),
    held: find,
    trust: (dir) => {
      const project = findProjectIn(dir);
      trusted.add(project.projectId, project.dir);
      // Reopens the project, so that sessions that have it open continue with a writable one.
      if (find(project.dir)) engine.open(project.dir);
      return project;
    },
    isTrusted: (projectId, dir) => trusted.has(projectId, dir),
    withId: (projectId) => [...open.values()].find((project) => project.projectId === projectId),
    recent: () => recentProjects(recentFile),
    home: () => ensureProject(historiesIn(options.dataDir).dir, () => engine.create(historiesIn(options.dataDir))),
    sample: () =>
      ensureProject(join(options.dataDir, 'Sample.stemma'), (dir) => {
        const project = engine.create({ dir, name: 'Sample' });
        for (const _ of importPaths(project.chain, { paths: [options.sampleDir] }));
        return project;
      }),
    runner: (project) => runnerOf(engine, project),
    close: () => {
      clearInterval(pulses);
      engine.jobs.close();
      for (const project of open.values()) project.close();
      open.clear();
    },
  };
  const pulses = options.performs ? pulseProjects(engine, open) : undefined;
  return engine;
}

const runnerOf = ({ options, jobs, policies }: Engine, { chain, dir, projectId }: Project): RunnerParts => ({
  chain,
  dir,
  layers: layerSources({ chain, dir }),
  environment: policies.get(projectId, dir).environment,
  live: jobs,
  providers: options.providers ?? [],
  agents: options.agents ?? [],
  workshop: options.workshop,
  agentRoots: options.agentRoots,
});

/** The interval between two checks for due work, in milliseconds. */
const pulseMs = 1_000;

/** Starts the timer that does due work in the open projects and starts the jobs that their policies allow. */
function pulseProjects(engine: Engine, open: ReadonlyMap<string, Project>): NodeJS.Timeout {
  const known = new WeakMap<Project, typeof pulse>();
  return setInterval(() => {
    // A pulse that waits for the lock of another process would block this thread: the next one tries again. No error of one ends the engine: the
    // calls of a window report damage.
    for (const project of open.values())
      if (project.access.mode === 'read-write' && project.db.isFree())
        attempt(() => {
          const parts = engine.runner(project);
          const pulse = known.get(project) ?? openPulse();
          known.set(project, pulse);
          pulse(parts, engine.policies.get(project.projectId, project.dir));
          cleanUp(parts).catch(() => {});
        });
  }, pulseMs);
}

const ensureProject = (dir: string, make: (dir: string) => Project): string => (isProject(dir) ? dir : make(dir).dir);

function readRecent(file: string): Omit<RecentProject, 'missing'>[] {
  const stored = existsSync(file) ? parseJson(readFileSync(file, 'utf8')) : [];
  return (Array.isArray(stored) ? stored : []).flatMap((item) => {
    const dir = stringAt(item, 'dir');
    const openedAt = stringAt(item, 'openedAt');
    return isObject(item) && dir !== undefined && openedAt !== undefined
      ? [{ dir, name: stringAt(item, 'name') ?? dir, openedAt: toTimestamp(Date.parse(openedAt) || 0) }]
      : [];
  });
}

const recentProjects = (file: string): RecentProject[] => readRecent(file).map((project) => ({ ...project, missing: !isProject(project.dir) }));

/** An unchanged list is not written again within this time, because every command and hook opens a project. */
const recentFor = 3_600_000;

function noteRecent(file: string, project: Project, clock: Clock): void {
  const known = readRecent(file);
  const [first] = known;
  const age = first ? clock() - Date.parse(first.openedAt) : Number.POSITIVE_INFINITY;
  if (first?.dir === project.dir && first.name === project.name && age >= 0 && age < recentFor) return;
  const others = known.filter(({ dir }) => comparable(dir) !== comparable(project.dir));
  const list = [{ dir: project.dir, name: project.name, openedAt: toTimestamp(clock()) }, ...others].slice(0, recentKept);
  unlessRefused(() => replaceFile(file, `${JSON.stringify(list, null, 2)}\n`));
}
