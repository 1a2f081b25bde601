import { implement } from '@orpc/server';
import { contract } from '../contract/index.js';
import { effectOf, fetchForRead, isRefused, requireWrite, type Session } from '../project/index.js';
import { asRefusal, isStream, refusing } from './errors.js';

/** The context of every call: its connection. */
export interface RouterContext {
  readonly session: Session;
}

/**
 * The base of all procedures. It converts every error of a call or of its returned stream into an ORPCError with the code and data
 * of the contract. An unexpected error is a bug, and its message is not sent.
 */
export const os = implement(contract)
  .$context<RouterContext>()
  .use(async ({ next, path, signal, context: { session } }, input) => {
    const refuse = (error: unknown): unknown => (signal?.aborted ? error : asRefusal(error, path.join('.')));
    try {
      refuseWrites(session, path, input);
      await untilFree(session, path, input, signal);
      const result = await withReplicas(session, () => next());
      return isStream(result.output) ? { ...result, output: refusing(result.output, refuse) } : result;
    } catch (error) {
      throw refuse(error);
    }
  });

/**
 * Refuses every call that a read-only project does not allow. This is the only place with this check. It first opens the project again,
 * because a person may have trusted it or freed some space. @throws as `requireWrite`.
 */
function refuseWrites({ openProject, engine }: Session, path: readonly string[], input: unknown): void {
  const project = openProject();
  if (project && isRefused(project.access, path, input) && isRefused(engine.open(project.dir).access, path, input))
    requireWrite(engine.open(project.dir).access);
}

/** Milliseconds between two checks of a busy database, and the number of checks. After that, SQLite waits as long again and reports LOCKED. */
const busyMs = 4;
const maxLooks = 15_000;

/** Whether a procedure that only reads for its caller stores derived data: a materialized context, or the facts of usage. */
const storesDerived = (path: readonly string[]): boolean => path[0] === 'usage' || path.join('.') === 'context.materialize';

/**
 * Waits for another writer without blocking the thread, because an import in another thread or process holds one transaction per file. Calls
 * that only read are answered meanwhile.
 */
async function untilFree({ openProject }: Session, path: readonly string[], input: unknown, signal: AbortSignal | undefined): Promise<void> {
  const isWriting = effectOf(path, input) === 'writes' || storesDerived(path);
  for (let looks = 0; isWriting && looks < maxLooks && !signal?.aborted && openProject()?.db.isFree() === false; looks++)
    await new Promise((resolve) => setTimeout(resolve, busyMs));
}

/** Makes the call. If it fails because only the hub or a replica holds an object, fetches the object and makes the call again. */
async function withReplicas<T>(session: Session, call: () => T): Promise<Awaited<T>> {
  for (;;)
    try {
      const result = await call();
      session.openProject()?.wake();
      return result;
    } catch (error) {
      const project = session.openProject();
      if (!project || !((await fetchForRead(session.engine, project, error)) || (await project.replicas.fetchFor(error)))) throw error;
    }
}

/** The chain of the session's project. @throws BAD_REQUEST if no project is open. */
export const chainOf = (context: RouterContext) => context.session.project().chain;
