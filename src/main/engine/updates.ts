import { unavailable } from '../../core/base/index.js';
import type { UpdateCheck } from '../../core/contract/index.js';
import { makeFolders, replaceFile } from '../../core/files/index.js';
import { type EngineOptions, readUpdates, updatesFile } from '../launch/index.js';

/** The updates of this machine. `check` asks the desktop app; without it, nothing updates itself. */
export const openUpdates = (dataDir: string, check?: () => Promise<UpdateCheck>): NonNullable<EngineOptions['updates']> => ({
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
