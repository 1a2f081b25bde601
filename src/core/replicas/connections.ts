import { type Clock, StemmaError } from '../base/index.js';
import { openBucket } from './bucket.js';
import type { StoredCredentials, Vault } from './credentials.js';
import { openFolderStore } from './folder.js';
import type { ReplicaSettings } from './settings.js';
import type { BackingStore, ReplicaPlace } from './store.js';

/** Opens the backing store in a place. It connects when it is first used. `vault` unseals keys that the operating system sealed. */
export const openStore = (name: string, place: ReplicaPlace, credentials?: StoredCredentials, vault?: Vault): BackingStore =>
  place.kind === 'folder' ? openFolderStore(name, place) : openBucket(name, place, credentials, vault);

export type Connections = ReturnType<typeof openConnections>;

/** Milliseconds before the first retry. Each failure doubles the wait, up to the maximum. */
const retryMs = { first: 30_000, max: 600_000 };

/** Opens no connection yet. `vault` unseals keys that the operating system sealed. */
export function openConnections(clock: Clock, vault: Vault | undefined) {
  const opened = new Map<string, { readonly settings: string; readonly store: BackingStore }>();
  const failures = new Map<string, { readonly message: string; readonly until: number; readonly wait: number }>();
  return {
    /** The backing store behind a replica, opened at its first use and again when its settings change. */
    reach: (name: string, settings: ReplicaSettings): BackingStore => {
      const text = JSON.stringify(settings);
      const known = opened.get(name);
      if (known?.settings === text) return known.store;
      known?.store.close();
      const store = openStore(name, settings.place, settings.credentials, vault);
      opened.set(name, { settings: text, store });
      return store;
    },
    /** Notes that a replica did not answer, and returns the reason. @throws the error itself if it is a bug. */
    failed: (name: string, error: unknown): string => {
      if (!(error instanceof StemmaError)) throw error;
      const wait = Math.min((failures.get(name)?.wait ?? retryMs.first / 2) * 2, retryMs.max);
      failures.set(name, { message: error.message, until: clock() + wait, wait });
      return error.message;
    },
    succeeded: (name: string): void => void failures.delete(name),
    /** Why a replica did not answer when it was last tried. */
    problem: (name: string): string | undefined => failures.get(name)?.message,
    /** Whether to try a replica now. After a failure it is not tried for a while. */
    isDue: (name: string): boolean => (failures.get(name)?.until ?? 0) <= clock(),
    /** Milliseconds until the next replica that failed is due. Undefined if none failed. */
    msUntilRetry: (): number | undefined =>
      failures.size === 0 ? undefined : Math.min(...[...failures.values()].map(({ until }) => until - clock())),
    drop: (name: string): void => {
      opened.get(name)?.store.close();
      opened.delete(name);
      failures.delete(name);
    },
    close: (): void => {
      for (const { store } of opened.values()) store.close();
    },
  };
}
