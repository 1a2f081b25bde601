import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { privateFolder } from '../../core/files/index.js';
import type { Git } from '../../core/project/index.js';
import { programOutput } from '../system/index.js';
import { environmentFor, type Machine } from './machine.js';

/** The most bytes that git may print: a file of a repository. */
const mostOutput = 64 * 1024 * 1024;

/** Makes git fetch nothing. To fetch a missing object, it would run programs that the repository's settings name. */
const offline = { GIT_ALLOW_PROTOCOL: 'none', GIT_NO_LAZY_FETCH: '1' } as const;

/** Runs git without hooks, and without the keys of this process: a repository may come from anywhere. */
export const openGit =
  (machine: Pick<Machine, 'env'>, dataDir: string, { isOffline = false } = {}): Git =>
  async (folder, args, input) => {
    const hooks = join(dataDir, 'no-hooks');
    await mkdir(hooks, { recursive: true, mode: privateFolder });
    const words = ['-C', folder, '-c', `core.hooksPath=${hooks}`, '-c', 'core.fsmonitor=false', ...args];
    const env = { ...environmentFor(machine, 'none'), ...(isOffline && offline) };
    return programOutput('git', words, { env, maxBuffer: mostOutput, input });
  };
