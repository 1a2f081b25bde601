import { implement } from '@orpc/server';
import { attempt } from '../base/index.js';
import { contract } from '../contract/index.js';
import { type DerivedKind, isDue, isUntrusted, type Project, type Reading, requireProject, requireWrite, type Session } from '../project/index.js';
import { type ReadableDb, traced } from '../store/index.js';
import { loadPrices } from '../usage/index.js';
import { damageBehind, refuseDamagedRow, tellDamage, withDamage } from './damage.js';
import { asRefusal, isStream, refusing } from './errors.js';

/** The context of every call: what it reads with, and the connection to the engine. A thread for reading has no engine. */
export interface RouterContext {
  readonly reading: Reading;
  readonly session?: Session;
  /** The headers beside the answer of a call. */
  readonly resHeaders?: Headers;
}

/** The context of the calls of a connection. */
export const contextOf = (session: Session): RouterContext => ({ reading: session.reading, session });

/**
 * What a procedure does, which its handler says by the base that it is built on. `reads` gets a `ReadChain` and runs on any thread.
 * `live` reads what the engine is doing. `acts` starts a model or an agent on the project's content. `writes` changes records.
 * `machine` concerns this machine and not the open project; `scans` reads the files of this machine on any thread.
 */
export type ProcedureKind = 'reads' | 'live' | 'acts' | 'writes' | 'machine' | 'scans';

/**
 * The base of all procedures. It converts every error of a call or of its returned stream into an ORPCError with the code and data
 * of the contract. An unexpected error is a bug, and its message is not sent.
 */
export const base = implement(contract)
  .$context<RouterContext>()
  .use(async ({ next, path, signal, context }, input) => {
    const refuse = (error: unknown): unknown => (signal?.aborted ? error : asRefusal(error, path.join('.')));
    const statements = new Set<string>();
    // Another process reads for it.
    let isUntraced = path[0] === 'analysis';
    try {
      const db = openDatabase(context);
      if (db) refuseDamagedRow(db, path, input);
      const result = await traced(statements, next);
      // It reads after its start.
      if (isStream(result.output)) isUntraced = true;
      if (isStream(result.output)) return { ...result, output: refusing(result.output, refuse) };
      return db ? { ...result, output: withDamage(db, path, result.output) } : result;
    } catch (error) {
      throw refuse(damageBehind(openDatabase(context), error));
    } finally {
      const db = context.resHeaders && openDatabase(context);
      if (context.resHeaders && db) tellDamage(context.resHeaders, db, path, isUntraced ? 'all' : statements);
    }
  });

/** The database of the open project, if one is open. */
const openDatabase = ({ reading, session }: RouterContext): ReadableDb | undefined =>
  session ? session.openProject()?.chain.db : attempt(() => reading.project().chain.db);

const kinds = new WeakMap<object, ProcedureKind>();

/** The same middleware, remembered as what makes a procedure of this kind. */
function of<Middleware extends object>(kind: ProcedureKind, middleware: Middleware): Middleware {
  kinds.set(middleware, kind);
  return middleware;
}

/** The kind of a procedure, by the middlewares that it is built on. */
export const kindIn = (middlewares: readonly object[]): ProcedureKind | undefined =>
  middlewares.map((each) => kinds.get(each)).find((kind) => kind !== undefined);

/** Makes a call again after the object that it missed was fetched from the hub or a replica. */
async function withFetching<T>(call: () => T, fetch: (refusal: unknown) => Promise<boolean>): Promise<Awaited<T>> {
  for (;;)
    try {
      return await call();
    } catch (error) {
      if (!(await fetch(error))) throw error;
    }
}

/** A read. Its chain cannot write: the compiler and SQLite refuse that. Derived data goes to the writer before the answer. */
const readsAfter = (what?: DerivedKind, load?: () => Promise<unknown>) =>
  base.use(
    of('reads', async ({ next, context: { reading } }) => {
      const project = reading.project();
      const result = await withFetching(async () => {
        // Notices a file of derived data that the writer has made since.
        project.db.version();
        // What was fetched is derived from, too.
        if (what && isDue(project.chain, what)) {
          await reading.prepare(what);
          project.db.version();
        }
        await load?.();
        return next({ context: { chain: project.chain, project } });
      }, reading.fetch);
      await reading.settle();
      return result;
    }),
  );

export const reads = readsAfter();
/** A read of usage, after the writer has stored the calls of new commits. */
export const counts = readsAfter('usage');
/** Such a read that needs the list of prices, too, which is large. */
export const priced = readsAfter('usage', loadPrices);
/** A read of commits with the counts of their calls. */
export const countsCalls = readsAfter('calls');
/** A read of a list of calls, after the writer has stored where the answers of new commits are. */
export const listsCalls = readsAfter('answers');
/** A read of the sums over many sessions, after the writer has stored the facts of new commits. */
export const analyzes = readsAfter('analysis');
/** A read of the search index, after the writer has indexed new commits. */
export const searches = readsAfter('search');

/** A read of this machine's files, with or without a project. */
export const scans = base.use(of('scans', ({ next }) => next()));

const engineOf = ({ session }: RouterContext): Session => {
  if (!session) throw new Error('a thread for reading was given a call for the engine');
  return session;
};

/** A matter of this machine. */
export const machine = base.use(of('machine', ({ next, context }) => next({ context: { session: engineOf(context) } })));

/** A read of what the engine is doing in the open project. */
export const live = base.use(
  of('live', ({ next, context }) => {
    const session = engineOf(context);
    return next({ context: { session, project: session.project() } });
  }),
);

interface ChangingContext extends Pick<Project, 'chain'> {
  session: Session;
  project: Project;
  /** The model providers of the engine. */
  providers: NonNullable<Session['engine']['options']['providers']>;
}
type Next<T> = (options: { context: ChangingContext }) => T;

/** Makes a call that changes records or acts. Objects that it misses are fetched, and background work waits until it is over. */
async function changing<T>(session: Session, next: Next<T>): Promise<Awaited<T>> {
  const { providers = [] } = session.engine.options;
  const result = await withFetching(
    () => next({ context: { session, project: session.project(), chain: session.project().chain, providers } }),
    session.reading.fetch,
  );
  session.openProject()?.wake();
  return result;
}

/** Starts a model or an agent on the project's content. A project that is not trusted refuses it. @throws UNAUTHORIZED */
export const acts = base.use(
  of('acts', ({ next, context }) => {
    const session = engineOf(context);
    requireAccess(session, isUntrusted);
    return changing(session, next);
  }),
);

/** A change of records, which a read-only project refuses. @throws as `requireWrite`. */
export const writes = base.use(
  of('writes', async ({ next, context, signal }) => {
    const session = engineOf(context);
    requireAccess(session, ({ mode }) => mode === 'read-only');
    await whenFree(session, signal);
    return changing(session, next);
  }),
);

/** A call that changes records only with some values of a field of its input. */
export const writesIf = (field: string, isWriting: (value: unknown) => boolean) =>
  base.use(
    of('writes', ({ next, context }, input: unknown) => {
      const session = engineOf(context);
      // A value that is not an object is refused afterward, by its schema.
      if (typeof input === 'object' && input !== null && isWriting(input[field as keyof typeof input]))
        requireAccess(session, ({ mode }) => mode === 'read-only');
      return changing(session, next);
    }),
  );

/** A call that changes records unless a field of its input is set. */
export const writesUnless = (field: string) => writesIf(field, (value) => value === undefined || value === false);

/** Opens a refusing project again, because a person may have trusted it or freed some space. @throws as `requireWrite`. */
function requireAccess({ openProject, engine }: Session, isRefused: (access: Project['access']) => boolean): void {
  const project = requireProject(openProject());
  if (!isRefused(project.access)) return;
  const { access } = engine.open(project.dir);
  if (isRefused(access)) requireWrite(access);
}

/** Milliseconds between two checks of a busy database, and the number of checks. After that, SQLite waits as long again and reports LOCKED. */
const busyMs = 4;
const maxLooks = 15_000;

/** Waits for another process that writes, without blocking this thread. */
async function whenFree({ openProject }: Session, signal: AbortSignal | undefined): Promise<void> {
  for (let looks = 0; looks < maxLooks && !signal?.aborted && openProject()?.db.isFree() === false; looks++)
    await new Promise((resolve) => setTimeout(resolve, busyMs));
}
