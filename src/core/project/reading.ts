import { badRequest, type ContextId } from '../base/index.js';
import type { ReadChain } from '../chain/index.js';
import type { AgentRoot } from '../import/index.js';
import type { ReadableDb } from '../store/index.js';
import type { Access } from './access.js';
import type { ProjectManifest } from './manifest.js';

/** An open project for calls that read: SQLite opened its connection read-only. */
export interface ReadProject extends ProjectManifest {
  readonly dir: string;
  readonly access: Access;
  readonly db: ReadableDb;
  readonly chain: ReadChain;
  /** The ends of the sessions on which an agent works, as live capture observes it. */
  live(): ReadonlySet<ContextId>;
}

/** What the writer derives from commits for later questions. */
export type DerivedKind = 'usage' | 'calls' | 'answers' | 'search' | 'analysis';

/** What calls that read have: the project, and the writer's help. */
export interface Reading {
  /** @throws BAD_REQUEST if no project is open. */
  project(): ReadProject;
  openProject(): ReadProject | undefined;
  readonly agentRoots: readonly AgentRoot[];
  /** As in `Session`. */
  checkOutput(path: string | undefined): Promise<void>;
  /** Lets the writer derive what a question is answered from: the calls and prices of new commits, or their words. */
  prepare(what: DerivedKind): Promise<void>;
  /** Hands the derived data of finished reads to the writer. Objects whose refs a caller gets are stored when it resolves. */
  settle(): Promise<void>;
  /** Fetches the object whose read failed with this error, if the hub or a replica holds it. Returns false for other errors. */
  fetch(refusal: unknown): Promise<boolean>;
}

/** The open project of a call that needs one. @throws BAD_REQUEST if none is open. */
export function requireProject<P>(project: P | undefined): P {
  if (project === undefined) throw badRequest('project', 'no project is open: call project.open or project.create first');
  return project;
}
