import { elsewhere, refOf } from '../artifacts/index.js';
import { type ArtifactNo, type ArtifactRef, corrupt, orUndefined, StemmaError, unavailable } from '../base/index.js';
import type { WriteChain } from '../chain/index.js';
import type { Connections } from './connections.js';
import type { ReplicaSettings, ReplicasByName } from './settings.js';
import type { BackingStore } from './store.js';

/** Objects copied at a time, and objects recorded as copied in one transaction. */
const atOnce = 8;
const recordedTogether = 64;
/** The range of object numbers after a fetched object in which other evicted objects are fetched too. Neighbors are usually read next. */
const neighborhood = 512;

/**
 * Copies every object that a replica takes and does not hold yet. `damaged` lists the refs of objects that do not match their hash; these are not
 * copied. @throws UNAVAILABLE if the store does not answer; finished copies stay recorded.
 */
export async function copyWaiting({ artifacts }: WriteChain, name: string, { takes }: ReplicaSettings, store: BackingStore, isClosed: () => boolean) {
  const result = { copied: 0, bytes: 0, damaged: [] as string[] };
  for (let after: ArtifactNo | 0 = 0; !isClosed(); ) {
    const batch = artifacts.copies.waiting(name, takes, after, recordedTogether);
    const last = batch.at(-1);
    if (!last) break;
    after = last.no;
    const done: ArtifactNo[] = [];
    try {
      await inParallel(batch, atOnce, async ({ no, ref }) => {
        const content = orUndefined(() => artifacts.read(no));
        if (!content) return void result.damaged.push(ref);
        await store.put(ref.slice('blake3:'.length), content);
        done.push(no);
        result.bytes += content.length;
      });
    } finally {
      if (!isClosed()) artifacts.copies.record(name, done);
      result.copied += done.length;
    }
  }
  return result;
}

/** Objects that no replica returned intact, and the replicas that did not answer. */
export interface Unfetched {
  readonly missing: readonly ArtifactRef[];
  readonly problems: readonly { readonly replica: string; readonly message: string }[];
}

/** Looks in every replica. `onFound` gets each object once, if its bytes match. Replicas that do not answer are named and skipped. */
export async function fetchObjects(
  replicas: ReplicasByName,
  connections: Connections,
  refs: readonly ArtifactRef[],
  onFound: (ref: ArtifactRef, bytes: Uint8Array) => void,
): Promise<Unfetched> {
  const missing = new Set(refs);
  const problems: { replica: string; message: string }[] = [];
  for (const [name, settings] of replicas)
    try {
      const store = connections.reach(name, settings);
      await inParallel([...missing], atOnce, async (ref) => {
        const bytes = await store.get(ref.slice('blake3:'.length));
        if (!bytes || refOf(bytes) !== ref) return;
        missing.delete(ref);
        onFound(ref, bytes);
      });
    } catch (error) {
      problems.push({ replica: name, message: connections.failed(name, error) });
    }
  return { missing: [...missing], problems };
}

/**
 * Fetches the evicted object whose read failed with this error, and its evicted neighbors.
 * @returns false if the error has another cause.
 * @throws UNAVAILABLE if the replicas that hold it do not answer or are not set on this machine; CORRUPT if none of them has it intact.
 */
export async function fetchEvicted({ artifacts }: WriteChain, replicas: ReplicasByName, connections: Connections, refusal: unknown) {
  if (!(refusal instanceof StemmaError) || refusal.data.reason !== elsewhere) return false;
  const ref = refusal.data.id as ArtifactRef;
  const no = artifacts.find(ref);
  const [own, ...neighbors] = artifacts.copies.evictedFrom(no, neighborhood);
  // Another call has already fetched it.
  if (own?.no !== no) return true;
  const get = (object: ArtifactNo, name: ArtifactRef) => fetchOne(artifacts.copies.holdersOf(object), replicas, connections, name);
  const fetched = new Map([[no, await get(no, ref)]]);
  // Errors with neighbors are ignored here: a missing neighbor is reported when it is read.
  await inParallel(neighbors, atOnce, async (near) => {
    const bytes = await get(near.no, near.ref).catch(() => undefined);
    if (bytes) fetched.set(near.no, bytes);
  });
  artifacts.transaction(() => {
    for (const [object, bytes] of fetched) artifacts.restore(object, bytes);
  });
  return true;
}

async function fetchOne(holders: readonly string[], replicas: ReplicasByName, connections: Connections, ref: ArtifactRef): Promise<Uint8Array> {
  const [unreachable, wrong]: [string[], string[]] = [[], []];
  for (const name of holders) {
    const settings = replicas.get(name);
    if (!settings) continue;
    try {
      const bytes = await connections.reach(name, settings).get(ref.slice('blake3:'.length));
      if (bytes && refOf(bytes) === ref) return bytes;
      wrong.push(bytes ? `${name} holds other bytes under its name` : `${name} does not hold it`);
    } catch (error) {
      unreachable.push(connections.failed(name, error));
    }
  }
  const [first] = holders;
  if (unreachable.length > 0) throw unavailable(`${ref} is only in ${holders.join(', ')}. ${unreachable.join(' ')}`, { id: ref, replica: first });
  if (wrong.length > 0) throw corrupt(ref, `${ref} was evicted to replicas, but none of them returned it: ${wrong.join('; ')}.`);
  throw unavailable(
    `${ref} was evicted to ${holders.join(', ') || 'a replica'}, which is not set on this machine. Set the replica in Storage or with replica.set.`,
    { id: ref, replica: first, reason: 'replica not set' },
  );
}

/** Does the work for all items, `width` at a time. After the first failure it starts nothing new, and throws that failure once the rest has ended. */
async function inParallel<T>(items: readonly T[], width: number, work: (item: T) => Promise<unknown>): Promise<void> {
  const rest = [...items];
  let failure: { readonly error: unknown } | undefined;
  const worker = async (): Promise<void> => {
    for (let item = rest.shift(); item !== undefined && !failure; item = rest.shift())
      try {
        await work(item);
      } catch (error) {
        failure = { error };
      }
  };
  await Promise.all(Array.from({ length: width }, worker));
  if (failure) throw failure.error;
}
