import { implement } from '@orpc/server';
import { contract } from '../contract/index.js';
import { effectOf, fetchForRead, isRefused, requireWrite, type Session } from '../project/index.js';
import { asRefusal, isStream, refusing } from './errors.js';

/** What a door hands to every call: the connection that it came over. */
export interface RouterContext {
  readonly session: Session;
}

/**
 * Every error leaves as an ORPCError with the code and data of the contract, whether the call throws it or the stream that the
 * call returned. An unexpected error is a bug, and its message does not leave.
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
 * Refuses every call that a project which is only read does not allow. This is the one place where that is checked. The project is looked
 * at again first: a person may have trusted it, or freed some space.
 */
function refuseWrites({ openProject, engine }: Session, path: readonly string[], input: unknown): void {
  const project = openProject();
  if (project && isRefused(project.access, path, input) && isRefused(engine.open(project.dir).access, path, input))
    requireWrite(engine.open(project.dir).access);
}

/** Milliseconds between two looks at a busy database, and the number of looks: SQLite then waits as long again, and says LOCKED. */
const busyMs = 4;
const maxLooks = 15_000;

/** Procedures that only read for their caller, but store what they derive: a materialized context, and the facts of usage. */
const storesDerived = (path: readonly string[]): boolean => path[0] === 'usage' || path.join('.') === 'context.materialize';

/**
 * Waits for another writer without blocking the thread: an import in another thread or process holds one transaction for a file. Calls that
 * only read are answered meanwhile.
 */
async function untilFree({ openProject }: Session, path: readonly string[], input: unknown, signal: AbortSignal | undefined): Promise<void> {
  const isWriting = effectOf(path, input) === 'writes' || storesDerived(path);
  for (let looks = 0; isWriting && looks < maxLooks && !signal?.aborted && openProject()?.db.isFree() === false; looks++)
    await new Promise((resolve) => setTimeout(resolve, busyMs));
}

/** Makes the call. If it reads an object that only the hub or a replica holds, the object is fetched and the call is made again. */
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
