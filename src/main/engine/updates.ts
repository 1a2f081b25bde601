import { unavailable } from '../../core/base/index.js';
import type { UpdateCheck, UpdateSettings } from '../../core/contract/index.js';
import { makeFolders, replaceFile } from '../../core/files/index.js';
import { readUpdates, updatesFile } from '../launch/index.js';

export interface Updates {
  settings(): UpdateSettings;
  set(change: { readonly on?: boolean | undefined; readonly feed?: string | null | undefined }): UpdateSettings;
  /** @throws UNAVAILABLE outside of the desktop app. */
  check(): Promise<UpdateCheck>;
}

/** The updates of this machine. `check` asks the desktop app; without it, nothing updates itself. */
export const openUpdates = (dataDir: string, check?: () => Promise<UpdateCheck>): Updates => ({
  settings: () => readUpdates(dataDir),
  set: ({ on, feed }) => {
    const before = readUpdates(dataDir);
    const after = { on: on ?? before.on, feed: feed === undefined ? before.feed : feed };
    makeFolders(dataDir);
    replaceFile(updatesFile(dataDir), `${JSON.stringify(after)}\n`);
    return after;
  },
  check:
    check ??
    (() => {
      throw unavailable('Only the desktop app updates itself. Update this installation as you installed it, for example with npm.');
    }),
});
