import { defineConfig } from 'vitest/config';
import { exportedPage } from '../../page.config.ts';
import { longTests } from '../support/long.ts';
import { filesWithoutPeers } from '../support/peers.ts';
import { findPeers, keepCompiledCode, separateFromPerson } from '../support/surroundings.ts';

separateFromPerson();
keepCompiledCode();
findPeers();

/** Kills, full disks, flipped bytes. `--mode=short` runs a few of each. */
export default defineConfig(({ mode }) => ({
  plugins: [exportedPage()],
  test: {
    include: ['test/faults/**/*.test.ts'],
    exclude: filesWithoutPeers(),
    globalSetup: ['test/faults/workers.ts'],
    environment: 'node',
    ...longTests,
    env: { STEMMA_FAULTS: mode === 'short' ? 'short' : 'long' },
    testTimeout: 1_800_000,
    hookTimeout: 120_000,
    pool: 'forks',
    // The files of a worker share loaded modules, as in the unit tests: loading them anew for each file took a fifth of the time.
    isolate: false,
    // A test mostly waits for the processes that it kills, so the short form runs two files at a time. The long form takes the whole machine.
    maxWorkers: mode === 'short' ? 2 : 1,
  },
}));
