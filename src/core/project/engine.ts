import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { badRequest, type Clock, isObject, parseJson, stringAt, systemClock, timestampOf } from '../base/index.js';
import type { RecentProject } from '../contract/index.js';
import { type AgentRoot, importPaths, openPlanner, type Planner } from '../intake/index.js';
import { type ModelProvider, openQuestions, type Questions } from '../turns/index.js';
import type { Accounts } from './accounts.js';
import { openWanted, type Wanted } from './capture.js';
import { type Keys, openKeys } from './credentials.js';
import { historiesIn, type NewProject } from './folder.js';
import { createProject, openProject, type Project } from './project.js';

/** The machine as the engine may know it; whoever starts the engine reads the environment. */
export interface EngineOptions {
  /** Where Stemma keeps what is its own: the list of recent projects, the project that imports go to. */
  readonly dataDir: string;
  /** The agents' own folders, `~/.claude` and the like: where their histories are found, and where contexts go back to. */
  readonly agentRoots: readonly AgentRoot[];
  /** The transcripts of the sample project. */
  readonly sampleDir: string;
  readonly startup: { readonly paths: readonly string[]; readonly project: string | null };
  /** The built thread that plans imports beside the one that stores; without it one thread does both. */
  readonly planner?: string;
  readonly platform: string;
  /** Who answers when a turn is run again, beside the recording. */
  readonly providers?: readonly ModelProvider[];
  /** How they are set up. */
  readonly accounts?: Accounts;
  /** Whether an agent that writes the format is at work in the directory; undefined where that cannot be known. */
  readonly isRunning?: (format: string, cwd: string) => boolean | undefined;
  readonly clock?: Clock;
}

/** The open projects of one process, each opened once however many sessions use it. */
export interface Engine {
  readonly options: EngineOptions;
  readonly clock: Clock;
  /** Who may use the backing stores of this machine's projects. */
  readonly keys: Keys;
  /** Which projects follow this machine's agents whenever they are open. */
  readonly captured: Wanted;
  /** Tool calls of runs that wait for a person. */
  readonly questions: Questions;
  /** Who plans the files of imports ahead. */
  readonly planner: Planner | undefined;
  /** With `repair` one whose database is too damaged to be opened, too. */
  open(dir: string, options?: { readonly repair?: boolean }): Project;
  create(input: NewProject): Project;
  /** An open project by its id. */
  withId(projectId: string): Project | undefined;
  recent(): RecentProject[];
  /** The folder of the project that imports go to where no other is open; made on first use. */
  home(): string;
  /** The folder of the sample project, imported on first use. */
  sample(): string;
  close(): void;
}

/** One connection: it works in the project that it opened last. */
export interface Session {
  readonly engine: Engine;
  /** @throws BAD_REQUEST where none is open. */
  project(): Project;
  openProject(): Project | undefined;
  use(project: Project): Project;
}

const recentKept = 20;

export function createEngine(options: EngineOptions): Engine {
  const clock = options.clock ?? systemClock;
  const open = new Map<string, Project>();
  const recentFile = join(options.dataDir, 'recent.json');
  mkdirSync(options.dataDir, { recursive: true });
  const keys = openKeys(options.dataDir, randomUUID);

  const hold = (project: Project): Project => {
    open.set(project.dir, project);
    noteRecent(recentFile, project, clock);
    return project;
  };
  const find = (dir: string): Project | undefined => open.get(resolve(dir)) ?? open.get(`${resolve(dir)}.stemma`);
  const engine: Engine = {
    options,
    clock,
    keys,
    captured: openWanted(options.dataDir),
    questions: openQuestions(randomUUID),
    planner: options.planner === undefined ? undefined : openPlanner(options.planner, clock),
    open: (dir, options) => hold(find(dir) ?? openProject(dir, clock, keys, options)),
    create: (input) => hold(createProject(input, clock, keys)),
    withId: (projectId) => [...open.values()].find((project) => project.projectId === projectId),
    recent: () => recentProjects(recentFile),
    home: () => made(historiesIn(options.dataDir).dir, () => engine.create(historiesIn(options.dataDir))),
    sample: () =>
      made(join(options.dataDir, 'Sample.stemma'), (dir) => {
        const project = engine.create({ dir, name: 'Sample' });
        for (const _ of importPaths(project.chain, { paths: [options.sampleDir] }));
        return project;
      }),
    close: () => {
      engine.planner?.close();
      for (const project of open.values()) project.close();
      open.clear();
    },
  };
  return engine;
}

export function createSession(engine: Engine): Session {
  let current: Project | undefined;
  return {
    engine,
    project: () => {
      if (!current) throw badRequest('project', 'no project is open: call project.open or project.create first');
      return current;
    },
    openProject: () => current,
    use: (project) => {
      current = project;
      return project;
    },
  };
}

function made(dir: string, make: (dir: string) => Project): string {
  return existsSync(join(dir, 'project.json')) ? dir : make(dir).dir;
}

function readRecent(file: string): Omit<RecentProject, 'missing'>[] {
  const stored = existsSync(file) ? parseJson(readFileSync(file, 'utf8')) : [];
  return (Array.isArray(stored) ? stored : []).flatMap((item) => {
    const dir = stringAt(item, 'dir');
    const openedAt = stringAt(item, 'openedAt');
    return isObject(item) && dir !== undefined && openedAt !== undefined
      ? [{ dir, name: stringAt(item, 'name') ?? dir, openedAt: timestampOf(Date.parse(openedAt) || 0) }]
      : [];
  });
}

const recentProjects = (file: string): RecentProject[] =>
  readRecent(file).map((project) => ({ ...project, missing: !existsSync(join(project.dir, 'project.json')) }));

/** A list that says so already is not written again with every command and every hook. */
const recentFor = 3_600_000;

function noteRecent(file: string, project: Project, clock: Clock): void {
  const known = readRecent(file);
  const [first] = known;
  const age = first ? clock() - Date.parse(first.openedAt) : Number.POSITIVE_INFINITY;
  if (first?.dir === project.dir && first.name === project.name && age >= 0 && age < recentFor) return;
  const others = known.filter(({ dir }) => dir !== project.dir);
  const list = [{ dir: project.dir, name: project.name, openedAt: timestampOf(clock()) }, ...others].slice(0, recentKept);
  const beside = `${file}.${randomUUID()}`;
  writeFileSync(beside, `${JSON.stringify(list, null, 2)}\n`, { mode: 0o600 });
  renameSync(beside, file);
}
