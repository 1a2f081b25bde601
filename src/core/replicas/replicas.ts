import type { Takes } from '../artifacts/index.js';
import { type ArtifactRef, badRequest, conflict, inWords, notFound } from '../base/index.js';
import type { ReadChain, WriteChain } from '../chain/index.js';
import type { InputOf, OutputOf, ReplicaState } from '../contract/index.js';
import { absolutePath, makeFolders } from '../files/index.js';
import { type Connections, openConnections } from './connections.js';
import { type StoredCredentials, storable, type Vault } from './credentials.js';
import type { MachineReplicas, ReplicaSettings } from './settings.js';
import type { ReplicaPlace } from './store.js';
import { copyWaiting, fetchEvicted, fetchObjects, type Unfetched } from './transfer.js';

/** Credentials are for S3 only. Without them, a replica keeps those that it had for the same bucket. */
type NewReplica = Pick<InputOf<'replica.set'>, 'place' | 'credentials'> & { readonly takes: Takes };

type Replicated = OutputOf<'replica.replicate'>;

/** The replicas of a project: objects are copied to them in the background, and evicted objects are fetched from them when they are read. */
export type Replicas = ReturnType<typeof openReplicas>;

const soonMs = 500;

/** Opens the replicas of a project. Nothing is copied before `wake` or `replicate`. */
export function openReplicas(chain: WriteChain, projectId: string, machine: MachineReplicas, vault: Vault | undefined) {
  const { artifacts } = chain;
  const connections = openConnections(chain.clock, vault);
  const settings = () => machine.of(projectId);
  const runner = openRunner(chain, settings, connections);
  return {
    list: (): ReplicaState[] => listReplicas(chain, settings(), connections),
    names: (): string[] => [...settings().keys()],
    /** @throws BAD_REQUEST for a folder that cannot be created; CONFLICT if the replica's former place has the only copy of an object. */
    set: async (name: string, { place: given, takes, credentials }: NewReplica): Promise<void> => {
      // Another process may work in another folder.
      const place = given.kind === 'folder' ? { ...given, dir: absolutePath(given.dir) } : given;
      if (place.kind === 'folder' && credentials) throw badRequest('credentials', 'A folder takes no credentials. Leave them out.');
      const stored = credentials && (await storable(credentials, vault));
      if (place.kind === 'folder') makeFolder(place.dir);
      const before = settings().get(name);
      const next = { place, takes, credentials: stored ?? keptCredentials(before, place) };
      nameReplica(chain, name, before, next);
      machine.set(projectId, name, next);
      connections.drop(name);
      artifacts.copies.trackUse();
      runner.plan(soonMs);
    },
    /** @throws NOT_FOUND; CONFLICT if it has the only copy of an object. */
    remove: (name: string): void => {
      const { db, project } = chain;
      const isNamed = db.one('SELECT 1 FROM replica WHERE project = ? AND name = ?', project, name) !== undefined;
      if (!isNamed && !settings().has(name)) throw notFound(name, `This project has no replica ${inWords(name)}.`);
      db.transaction(() => {
        refuseLoss(chain, name);
        artifacts.copies.forget(name);
        db.run('DELETE FROM replica WHERE project = ? AND name = ?', project, name);
      });
      machine.set(projectId, name, undefined);
      connections.drop(name);
    },
    /** Copies waiting objects to every replica that answers. */
    replicate: (): Promise<Replicated> => runner.run(() => true),
    /** Fetches the evicted object whose read failed with this error, as `fetchEvicted` does. */
    fetchFor: (refusal: unknown): Promise<boolean> => fetchEvicted(chain, settings(), connections, refusal),
    /** Looks for objects in every replica of this machine, as `fetchObjects` does: for repair. */
    fetch: (refs: readonly ArtifactRef[], onFound: (ref: ArtifactRef, bytes: Uint8Array) => void): Promise<Unfetched> =>
      fetchObjects(settings(), connections, refs, onFound),
    /** Call it after new objects were stored: a run starts soon, in the background. */
    wake: (): void => {
      if (runner.isPlanned() || settings().size === 0) return;
      artifacts.copies.trackUse();
      runner.plan(soonMs);
    },
    close: (): void => {
      runner.close();
      connections.close();
    },
  };
}

/** Copies to replicas, one run at a time. Retries failed replicas after a while. */
function openRunner(chain: WriteChain, settings: () => ReturnType<MachineReplicas['of']>, connections: Connections) {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<Replicated> | undefined;
  let isClosed = false;

  const replicate = async (isDue: (name: string) => boolean): Promise<Replicated> => {
    const problems: { replica: string; message: string }[] = [];
    let [copied, bytes] = [0, 0];
    for (const [name, one] of settings()) {
      if (!isDue(name)) continue;
      try {
        const done = await copyWaiting(chain, name, one, connections.reach(name, one), () => isClosed);
        copied += done.copied;
        bytes += done.bytes;
        connections.succeeded(name);
        problems.push(...done.damaged.map((ref) => ({ replica: name, message: `${ref} is damaged and was not copied.` })));
      } catch (error) {
        problems.push({ replica: name, message: connections.failed(name, error) });
      }
    }
    return { copied, bytes, problems };
  };
  /** A second call waits for the first, and then copies objects stored meanwhile. */
  const run = async (isDue: (name: string) => boolean): Promise<Replicated> => {
    await running?.catch(() => {});
    running = replicate(isDue);
    return running;
  };
  const plan = (ms: number): void => {
    if (timer || isClosed) return;
    timer = setTimeout(inBackground, ms);
    timer.unref();
  };
  const inBackground = (): void => {
    timer = undefined;
    if (isClosed) return;
    void run(connections.isDue).then(() => {
      const next = connections.msUntilRetry();
      if (next !== undefined) plan(Math.max(next, soonMs));
    });
  };
  return {
    run,
    plan,
    isPlanned: (): boolean => timer !== undefined || isClosed,
    close: (): void => {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}

function listReplicas(chain: ReadChain, settings: ReturnType<MachineReplicas['of']>, connections: Connections): ReplicaState[] {
  const { artifacts, db, project } = chain;
  const named = db.column<string>('SELECT name FROM replica WHERE project = ?', project);
  return [...new Set([...named, ...settings.keys()])].sort().map((name) => {
    const one = settings.get(name);
    const takes = one?.takes ?? 'replicate';
    const credentials = one?.place.kind === 's3' ? (one.credentials?.from ?? 'none') : undefined;
    const problem =
      connections.problem(name) ?? (credentials === 'none' ? 'It has no credentials. Remove it and add it again with credentials.' : undefined);
    return {
      name,
      place: one?.place ?? null,
      takes,
      ...(credentials !== undefined && { credentials }),
      held: artifacts.copies.countHeld(name),
      waiting: one ? artifacts.copies.countWaiting(name, takes) : 0,
      ...(problem !== undefined && { problem }),
    };
  });
}

/** Records the replica's name in the project, and forgets recorded copies that its place may not have. */
function nameReplica(chain: WriteChain, name: string, before: ReplicaSettings | undefined, next: ReplicaSettings): void {
  const { artifacts, db, project } = chain;
  db.transaction(() => {
    // Copies that another machine recorded must not let objects be evicted here. Evicted objects may still be fetched: their hash proves them.
    if (!before) artifacts.copies.doubt(name);
    else if (JSON.stringify(before.place) !== JSON.stringify(next.place)) {
      refuseLoss(chain, name);
      artifacts.copies.forget(name);
    }
    db.run('INSERT OR IGNORE INTO replica (project, name) VALUES (?, ?)', project, name);
  });
}

/** The former credentials, if the bucket is the same. Keys are not sent to another bucket. */
function keptCredentials(before: ReplicaSettings | undefined, place: ReplicaPlace): StoredCredentials | undefined {
  if (before?.place.kind !== 's3' || place.kind !== 's3') return undefined;
  return before.place.endpoint === place.endpoint && before.place.bucket === place.bucket ? before.credentials : undefined;
}

function refuseLoss({ artifacts }: ReadChain, name: string): void {
  const only = artifacts.copies.countOnlyIn(name);
  if (only > 0) throw conflict(`${only} objects are in ${name} only. Read them first, or copy them to another replica.`, { replica: name, only });
}

/** Creates the folder when the replica is configured, and never later: a folder that is missing later is unmounted. */
function makeFolder(dir: string): void {
  try {
    makeFolders(dir);
  } catch (error) {
    throw badRequest('place', `Cannot make a replica at ${dir}: ${(error as Error).message}`);
  }
}
