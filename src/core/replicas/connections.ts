import { type Clock, StemmaError } from '../base/index.js';
import type { Vault } from './credentials.js';
import { openStore } from './open.js';
import type { ReplicaSettings } from './settings.js';
import type { BackingStore } from './store.js';

export interface Connections {
  /** The backing store behind a replica, opened at its first use and again when its settings change. */
  reach(name: string, settings: ReplicaSettings): BackingStore;
  /** Notes that a replica did not answer, and returns the reason. @throws the error itself if it is a bug. */
  failed(name: string, error: unknown): string;
  succeeded(name: string): void;
  /** Why a replica did not answer when it was last tried. */
  problem(name: string): string | undefined;
  /** Whether to try a replica now. After a failure it is not tried for a while. */
  isDue(name: string): boolean;
  /** Milliseconds until the next replica that failed is due. Undefined if none failed. */
  msUntilRetry(): number | undefined;
  drop(name: string): void;
  close(): void;
}

/** Milliseconds before the first retry. Each failure doubles the wait, up to the maximum. */
const retryMs = { first: 30_000, max: 600_000 };

/** Opens no connection yet. `vault` unseals keys that the operating system sealed. */
export function openConnections(clock: Clock, vault: Vault | undefined): Connections {
  const opened = new Map<string, { readonly settings: string; readonly store: BackingStore }>();
  const failures = new Map<string, { readonly message: string; readonly until: number; readonly wait: number }>();
  return {
    reach: (name, settings) => {
      const text = JSON.stringify(settings);
      const known = opened.get(name);
      if (known?.settings === text) return known.store;
      known?.store.close();
      const store = openStore(name, settings.place, settings.credentials, vault);
      opened.set(name, { settings: text, store });
      return store;
    },
    failed: (name, error) => {
      if (!(error instanceof StemmaError)) throw error;
      const wait = Math.min((failures.get(name)?.wait ?? retryMs.first / 2) * 2, retryMs.max);
      failures.set(name, { message: error.message, until: clock() + wait, wait });
      return error.message;
    },
    succeeded: (name) => void failures.delete(name),
    problem: (name) => failures.get(name)?.message,
    isDue: (name) => (failures.get(name)?.until ?? 0) <= clock(),
    msUntilRetry: () => (failures.size === 0 ? undefined : Math.min(...[...failures.values()].map(({ until }) => until - clock()))),
    drop: (name) => {
      opened.get(name)?.store.close();
      opened.delete(name);
      failures.delete(name);
    },
    close: () => {
      for (const { store } of opened.values()) store.close();
    },
  };
}
