import { openSummarizer, type Summarizer, type SummarizerSettings, unsavedSummarizer } from '../assist/index.js';
import { type Clock, type ContextId, finished, toTimestamp } from '../base/index.js';
import type { ProjectInfo } from '../contract/index.js';
import { type MachineReplicas, noReplicas, openReplicas, type Replicas, type Vault } from '../replicas/index.js';
import { formatVersion, type ReadableDb } from '../store/index.js';
import { forgetFetched } from '../sync/index.js';
import type { TrustedProjects } from '../trust/index.js';
import type { ModelProvider } from '../turns/index.js';
import { isUntrusted } from './access.js';
import type { Analyst } from './ask.js';
import { openBackups } from './backups.js';
import { type Capture, liveTips, openCapture } from './capture.js';
import type { ChainMachine } from './chains.js';
import { standOf } from './changes.js';
import { idleCheck } from './checks.js';
import { makeFolder, type NewProject, openFolder, type ProjectFolder, restrictUntrusted } from './folder.js';
import { type Keeper, openKeeper } from './offers.js';
import type { ReadProject } from './reading.js';
import { storedBytes } from './storage.js';
import { openUpkeep, type Upkeep, type UpkeepPart } from './upkeep.js';
import { orderFor } from './work.js';
import { runInWorker } from './worker.js';

/** An open project with its background work: replicas, upkeep, live capture. */
export interface Project extends ProjectFolder {
  readonly replicas: Replicas;
  /** Reports a call. Replication and upkeep start after an idle time. */
  wake(): void;
  readonly capture: Capture;
  readonly summarizer: Summarizer;
  /** The project for calls that read. */
  reading(): ReadProject;
  /** Stores the derived data that reads offer. */
  readonly keeper: Keeper;
  /** The ends of the sessions on which an agent works, as live capture observes it. */
  live(): ReadonlySet<ContextId>;
  readonly pauseUpkeep: Upkeep['pause'];
  readonly isTidying: Upkeep['isRunning'];
}

/** This machine's data about its projects, which is stored outside of them. */
export interface ForProjects extends ChainMachine {
  readonly replicas: MachineReplicas;
  /** The projects that a person trusts on this machine; others are restricted. Without it, every project is trusted. */
  readonly trusted?: TrustedProjects;
  /** The script of the threads that do long work, such as imports. Without it, the engine does that work itself, step by step. */
  readonly worker?: string | undefined;
  /** Seals secrets with the operating system. Undefined if the process that started the engine cannot. */
  readonly vault?: Vault | undefined;
  /** Answers SQL in a process of its own, which can be killed. Without it, the engine's thread answers. */
  readonly analyst?: Analyst | undefined;
  /** Called with the path of a project of which content was removed. */
  readonly onGone?: ((path: string) => void) | undefined;
  /** The summarizers that a person turned on, by the folder of the project. */
  readonly summaries?: (dir: string) => SummarizerSettings;
  readonly providers?: () => readonly ModelProvider[];
  /** The folder that keeps copies of read-only databases. */
  readonly copies?: string;
}
const nothing: ForProjects = { replicas: noReplicas };

/** Creates a project folder, trusts it and opens it. @throws the errors of `makeFolder`. */
export const createProject = (input: NewProject, clock: Clock, machine?: ForProjects): Project =>
  openProject(makeFolder(input, clock, machine?.trusted), clock, machine);

/** Opens a project. `repair` works as in `openFolder`. @throws the errors of `openFolder`. */
export function openProject(path: string, clock: Clock, machine: ForProjects = nothing, { repair = false } = {}): Project {
  const folder: ProjectFolder = openFolder(path, clock, {
    ...machine,
    repair,
    restrict: restrictUntrusted(machine.trusted),
    onGone: () => machine.onGone?.(folder.dir),
  });
  const { access, chain, projectId } = folder;
  // A restricted project gets no replicas: it may have copied the id of a project that has replicas here.
  const isRestricted = isUntrusted(access);
  const replicas = openReplicas(chain, projectId, isRestricted ? noReplicas : machine.replicas, machine.vault);
  const { worker } = machine;
  const inThread =
    worker === undefined
      ? undefined
      : (kind: UpkeepPart, signal: AbortSignal) => finished(runInWorker(worker, orderFor(folder, { kind }), signal, folder.db));
  const upkeep = openUpkeep(chain, undefined, inThread, idleCheck(machine.analyst, folder));
  const backups = openBackups(folder);
  const summarizer = openSummarizer(chain, machine.summaries?.(folder.dir) ?? unsavedSummarizer(), machine.providers ?? (() => []));
  const mayWrite = access.mode === 'read-write';
  if (mayWrite) replicas.wake();
  const wake = (): void => {
    if (mayWrite) for (const each of [replicas, upkeep, backups, summarizer]) each.wake();
  };
  if (mayWrite) upkeep.resume();
  const capture = openCapture(chain);
  const keeper = openKeeper(chain, access);
  const { dir, name, createdAt, tokenizer } = folder;
  const live = (): ReadonlySet<ContextId> => liveTips(capture, chain.clock());
  const reading = (): ReadProject => ({ dir, projectId, name, createdAt, tokenizer, access, live, ...folder.readOnly() });
  return {
    ...folder,
    reading,
    live,
    keeper,
    replicas,
    wake,
    capture,
    summarizer,
    pauseUpkeep: upkeep.pause,
    isTidying: upkeep.isRunning,
    close: () => {
      forgetFetched(chain);
      for (const each of [keeper, summarizer, capture, backups, upkeep, replicas, folder]) each.close();
    },
  };
}

/** Names, counts and sizes for `project.info`. */
export function projectInfo(project: ReadProject): ProjectInfo {
  const { projectId, name, dir, access, tokenizer, db, chain } = project;
  const { commits = 0, entries = 0, cards = 0, boxes = 0, objects: artifacts = 0, bytes: logical = 0 } = totalsOf(db, chain.project);
  return {
    projectId,
    name,
    dir,
    createdAt: toTimestamp(project.createdAt),
    access,
    trusted: !isUntrusted(access),
    counts: { commits, entries, cards, boxes, artifacts },
    bytes: { logical, stored: storedBytes(project) },
    formatVersion,
    tokenizer,
    stand: standOf(chain),
  };
}

/** The kept numbers of rows by area. */
const totalsOf = (db: ReadableDb, project: number): Readonly<Partial<Record<string, number>>> =>
  Object.fromEntries(db.rows<[area: string, total: number]>('SELECT area, total FROM areaCount WHERE project = ?', project));
