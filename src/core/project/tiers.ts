import { randomUUID } from 'node:crypto';
import { type Credentials, elsewhere, openTier, refOf, type Takes, type Tier, type TierPlace } from '../artifacts/index.js';
import { type ArtifactNo, type ArtifactRef, badRequest, corrupt, inWords, notFound, parseJson, StemmaError } from '../base/index.js';
import type { Chain } from '../chain/index.js';
import { makeFolders } from '../intake/index.js';

/** A backing store as it is set: where it is and what it is given. */
export interface TierSettings {
  readonly place: TierPlace;
  readonly takes: Takes;
}

export interface TierState extends TierSettings {
  readonly name: string;
  /** Objects that it has, and that it should have and has not yet. */
  readonly held: number;
  readonly waiting: number;
  /** Why it could not be reached when it was last tried. */
  readonly problem?: string;
}

export interface Replicated {
  readonly copied: number;
  readonly bytes: number;
  readonly problems: readonly { readonly tier: string; readonly message: string }[];
}

/** The backing stores of a project: what goes there in the background, and comes back when it is read. */
export interface Tiers {
  list(): TierState[];
  set(name: string, settings: TierSettings): void;
  /** @throws CONFLICT where it holds what nobody else has. */
  remove(name: string): void;
  /** Copies what waits, to every tier that answers. */
  replicate(): Promise<Replicated>;
  /**
   * Fetches what a refused read was about, and its neighbors. False where the refusal was about something else.
   * @throws UNAVAILABLE where only a tier that does not answer holds it.
   */
  fetchFor(refusal: unknown): Promise<boolean>;
  /** Something may be waiting: it goes out soon, in the background. */
  wake(): void;
  close(): void;
}

/** Objects that are copied at a time, and noted as copied together. */
const atOnce = 8;
const notedTogether = 64;
/** Neighbors that are looked for with an object that is fetched. */
const neighborhood = 512;
const soonMs = 500;
/** After a failure the next try waits this long, and twice as long each time. */
const retryMs = { first: 30_000, most: 600_000 };

export function openTiers(chain: Chain, credentialsFor: (name: string) => Credentials | undefined): Tiers {
  const { db, artifacts, project } = chain;
  const connected = new Map<string, { readonly settings: string; readonly tier: Tier }>();
  const failures = new Map<string, { readonly message: string; readonly until: number; readonly wait: number }>();
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<Replicated> | undefined;
  let isClosed = false;

  const settings = (): { name: string; place: string }[] =>
    db.all<{ name: string; place: string }>('SELECT name, place FROM tier WHERE project = ? ORDER BY name', project);
  const reach = (name: string, stored: string): Tier => {
    const known = connected.get(name);
    if (known?.settings === stored) return known.tier;
    known?.tier.close();
    const tier = openTier(name, (parseJson(stored) as unknown as TierSettings).place, credentialsFor(name), randomUUID);
    connected.set(name, { settings: stored, tier });
    return tier;
  };
  const failed = (name: string, error: unknown): string => {
    if (!(error instanceof StemmaError)) throw error;
    const wait = Math.min((failures.get(name)?.wait ?? retryMs.first / 2) * 2, retryMs.most);
    failures.set(name, { message: error.message, until: chain.clock() + wait, wait });
    return error.message;
  };

  const copyAll = async (name: string, stored: string): Promise<{ copied: number; bytes: number; damaged: string[] }> => {
    const tier = reach(name, stored);
    const { takes } = parseJson(stored) as unknown as TierSettings;
    const damaged: string[] = [];
    let copied = 0;
    let bytes = 0;
    for (let after: ArtifactNo | 0 = 0; !isClosed; ) {
      const batch = artifacts.copies.waiting(name, takes, after, notedTogether);
      const last = batch.at(-1);
      if (!last) break;
      after = last.no;
      const done: ArtifactNo[] = [];
      try {
        await inParallel(batch, atOnce, async ({ no, hash }) => {
          const content = soundBytes(chain, no);
          if (!content) return void damaged.push(hash);
          await tier.put(hash, content);
          done.push(no);
          bytes += content.length;
        });
      } finally {
        if (!isClosed) artifacts.copies.note(name, done);
        copied += done.length;
      }
    }
    return { copied, bytes, damaged };
  };

  const replicate = async (isDue: (name: string) => boolean): Promise<Replicated> => {
    const problems: { tier: string; message: string }[] = [];
    let copied = 0;
    let bytes = 0;
    for (const { name, place } of settings().filter((one) => isDue(one.name)))
      try {
        const done = await copyAll(name, place);
        copied += done.copied;
        bytes += done.bytes;
        failures.delete(name);
        problems.push(...done.damaged.map((hash) => ({ tier: name, message: `blake3:${hash} is damaged and was not copied` })));
      } catch (error) {
        problems.push({ tier: name, message: failed(name, error) });
      }
    return { copied, bytes, problems };
  };

  /** One run at a time: a second call waits for the first and then sees to what came meanwhile. */
  const run = async (isDue: (name: string) => boolean): Promise<Replicated> => {
    await running?.catch(() => {});
    running = replicate(isDue);
    return running;
  };

  const inBackground = (): void => {
    timer = undefined;
    if (isClosed) return;
    void run((name) => (failures.get(name)?.until ?? 0) <= chain.clock()).then(() => {
      const next = Math.min(...[...failures.values()].map(({ until }) => until - chain.clock()));
      if (Number.isFinite(next) && !isClosed) plan(Math.max(next, soonMs));
    });
  };
  const plan = (ms: number): void => {
    if (timer || isClosed) return;
    timer = setTimeout(inBackground, ms);
    timer.unref();
  };

  const fetchOne = async (no: ArtifactNo, ref: ArtifactRef): Promise<Uint8Array> => {
    const stored = new Map(settings().map(({ name, place }) => [name, place]));
    const holders = artifacts.copies.holdersOf(no);
    const problems: string[] = [];
    for (const name of holders) {
      const place = stored.get(name);
      if (place === undefined) continue;
      try {
        const bytes = await reach(name, place).get(ref.slice('blake3:'.length));
        if (bytes && refOf(bytes) === ref) return bytes;
        problems.push(bytes ? `what ${name} has under its name is something else` : `${name} does not have it any more`);
      } catch (error) {
        throw new StemmaError('UNAVAILABLE', `${ref} lies in ${holders.join(', ')} only: ${failed(name, error)}`, { id: ref, tier: name });
      }
    }
    throw corrupt(ref, `${ref} was left to backing stores, and none gives it back: ${problems.join('; ') || 'none is set'}`);
  };

  return {
    list: () =>
      settings().map(({ name, place }) => {
        const one = parseJson(place) as unknown as TierSettings;
        const failure = failures.get(name);
        return {
          name,
          ...one,
          held: artifacts.copies.countHeld(name),
          waiting: artifacts.copies.countWaiting(name, one.takes),
          ...(failure && { problem: failure.message }),
        };
      }),
    set: (name, next) => {
      if (next.place.kind === 'folder') makeFolder(next.place.dir);
      db.transaction(() => {
        const before = settings().find((one) => one.name === name);
        const isElsewhere =
          before !== undefined && JSON.stringify((parseJson(before.place) as unknown as TierSettings).place) !== JSON.stringify(next.place);
        // Another place has none of the copies until they are made there.
        if (isElsewhere) {
          refuseLoss(name);
          artifacts.copies.forget(name);
        }
        db.run('INSERT OR REPLACE INTO tier (project, name, place) VALUES (?, ?, ?)', project, name, JSON.stringify(next));
      });
      failures.delete(name);
      artifacts.copies.trackUse();
      plan(soonMs);
    },
    remove: (name) => {
      if (!settings().some((one) => one.name === name)) throw notFound(name, `no backing store ${inWords(name)} is set`);
      db.transaction(() => {
        refuseLoss(name);
        artifacts.copies.forget(name);
        db.run('DELETE FROM tier WHERE project = ? AND name = ?', project, name);
      });
      connected.get(name)?.tier.close();
      connected.delete(name);
      failures.delete(name);
    },
    replicate: () => run(() => true),
    fetchFor: async (refusal) => {
      if (!(refusal instanceof StemmaError) || refusal.data.reason !== elsewhere) return false;
      const ref = refusal.data.id as ArtifactRef;
      const no = artifacts.find(ref);
      const [own, ...neighbors] = artifacts.copies.evictedFrom(no, neighborhood);
      // Somebody else has fetched it meanwhile.
      if (own?.no !== no) return true;
      const fetched = new Map([[no, await fetchOne(no, ref)]]);
      // The neighbors are a favor: what cannot be had is told when it is asked for.
      await inParallel(neighbors, atOnce, async ({ no: near, hash }) => {
        const bytes = await fetchOne(near, `blake3:${hash}` as ArtifactRef).catch(() => undefined);
        if (bytes) fetched.set(near, bytes);
      });
      artifacts.transaction(() => {
        for (const [object, bytes] of fetched) artifacts.restore(object, bytes);
      });
      return true;
    },
    wake: () => {
      if (timer || isClosed || settings().length === 0) return;
      artifacts.copies.trackUse();
      plan(soonMs);
    },
    close: () => {
      isClosed = true;
      clearTimeout(timer);
      for (const { tier } of connected.values()) tier.close();
    },
  };

  function refuseLoss(name: string): void {
    const only = artifacts.copies.countOnlyIn(name);
    if (only > 0)
      throw new StemmaError('CONFLICT', `${only} objects lie in ${name} only: read them first, or copy them to another backing store`, {
        tier: name,
        only,
      });
  }
}

/** Made when it is set, and never later: a folder that is not there any more is out of reach. */
function makeFolder(dir: string): void {
  try {
    makeFolders(dir);
  } catch (error) {
    throw badRequest('place', `no backing store can be made at ${dir}: ${(error as Error).message}`);
  }
}

function soundBytes(chain: Chain, no: ArtifactNo): Uint8Array | undefined {
  try {
    return chain.artifacts.read(no);
  } catch (error) {
    if (error instanceof StemmaError) return undefined;
    throw error;
  }
}

/** Does the work for all of them, a few at a time. Stops at the first failure, and throws it when those under way are done. */
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
