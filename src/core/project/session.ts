import { StemmaError } from '../base/index.js';
import type { ReadChain } from '../chain/index.js';
import { catchUpAnswers, pendingAnswers } from '../requests/index.js';
import { catchUpIndex, pendingOf } from '../search/index.js';
import { catchUpCalls, pendingCommits, prepareUsage, usageIsDue } from '../usage/index.js';
import { prepareAnalysis, type TendedProject, waitForUpkeep } from './asking.js';
import type { Engine } from './engine.js';
import type { Project } from './project.js';
import { type DerivedKind, type Reading, type ReadProject, requireProject } from './reading.js';
import { fetchForRead } from './team.js';

/** The client of a connection: a window, which shows transcripts that may be hostile, or a person's script. */
export type ClientKind = 'window' | 'script';

/** One connection. It works in the project that it opened last. */
export interface Session {
  readonly engine: Engine;
  /**
   * Call this before writing a file at a given path. Undefined means that no file is written.
   * @throws UNAUTHORIZED if a window names a file that the person has not confirmed.
   */
  checkOutput(path: string | undefined): void;
  /** The open project. @throws BAD_REQUEST if none is open. */
  project(): Project;
  openProject(): Project | undefined;
  /** The same project for calls that read. */
  readonly reading: Reading;
  use(project: Project): Project;
}

/** Creates a connection without a project. `used` is called when it opens one. Scripts may write any file that their user may write. */
export function createSession(engine: Engine, caller: ClientKind = 'script', used: (project: Project) => void = () => {}): Session {
  let current: Project | undefined;
  // Another session may have reopened it.
  const held = (project: Project): Project => engine.held(project.dir) ?? project;
  const session: Omit<Session, 'reading'> = {
    engine,
    checkOutput: (path) => {
      if (caller === 'window' && path !== undefined) engine.outputs.check(path);
    },
    project: () => held(requireProject(current)),
    openProject: () => current && held(current),
    use: (project) => {
      current = project;
      used(project);
      return project;
    },
  };
  return { ...session, reading: readingOf(session) };
}

/** Reads on the engine's own thread, with the writer beside it. */
function readingOf(session: Omit<Session, 'reading'>): Reading {
  const openProject = (): ReadProject | undefined => session.openProject()?.reading();
  return {
    openProject,
    project: () => requireProject(openProject()),
    agentRoots: session.engine.options.agentRoots,
    checkOutput: async (path) => session.checkOutput(path),
    prepare: async (what) => {
      const project = session.openProject();
      if (project) await prepare(project, what);
    },
    settle: async () => {
      const project = session.openProject();
      project?.keeper.keep(project.reading().chain.offers.splice(0));
    },
    fetch: async (refusal) => {
      const project = session.openProject();
      return project !== undefined && ((await fetchForRead(session.engine, project, refusal)) || (await project.replicas.fetchFor(refusal)));
    },
  };
}

/** The most commits that are read before an answer. With more, the answer reads what it needs itself, and the rest waits for idle time. */
const fewCommits = 64;

/** Derives what few new commits lack, unless another process is writing. */
function catchUpFew(chain: Project['chain'], pending: (chain: Project['chain'], most: number) => number, work: Generator<void>): void {
  if (pending(chain, fewCommits + 1) <= fewCommits && chain.db.isFree()) for (const _ of work);
}

const dueFor: Readonly<Record<DerivedKind, (chain: ReadChain) => boolean>> = {
  usage: usageIsDue,
  calls: (chain) => pendingCommits(chain, 1) > 0,
  answers: (chain) => pendingAnswers(chain, 1) > 0,
  search: (chain) => pendingOf(chain, 1) > 0,
  // The analyst gets ready for the next question.
  analysis: () => true,
};

/** Whether something must be derived before a question of this kind. */
export const isDue = (chain: ReadChain, what: DerivedKind): boolean => dueFor[what](chain);

/** What a question is answered from without it: it reads contents itself, or says what is pending. */
const dispensable: readonly DerivedKind[] = ['calls', 'answers', 'search'];

/** Derives what a question is answered from, unless another process is writing. On a full disk, a question goes on without what is dispensable. */
export async function prepare(project: TendedProject, what: DerivedKind): Promise<void> {
  try {
    await deriveFor(project, what);
  } catch (error) {
    if (!(error instanceof StemmaError && error.data.reason === 'disk full' && dispensable.includes(what))) throw error;
  }
}

async function deriveFor(project: TendedProject, what: DerivedKind): Promise<void> {
  const { chain } = project;
  if (what === 'search') catchUpIndex(chain);
  else if (what === 'analysis') await prepareAnalysis(project);
  else if (what === 'calls') catchUpFew(chain, pendingCommits, catchUpCalls(chain));
  else if (what === 'answers') catchUpFew(chain, pendingAnswers, catchUpAnswers(chain));
  else if (!isImporting(project) && (await waitForUpkeep(project))) await prepareUsage(chain);
}

/** Whether a thread imports. Each transaction for a question would wait for one of the import, so prices come after it. */
const isImporting = ({ chain, isTidying }: TendedProject): boolean => chain.db.hasLeftLog() && !isTidying?.();
