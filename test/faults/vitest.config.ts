import { defineConfig } from 'vitest/config';
import { exportedPage } from '../../page.config.ts';
import { separateFromPerson } from '../support/surroundings.ts';

separateFromPerson();

/** Kills, full disks, flipped bytes. `--mode=short` runs a few of each. */
export default defineConfig(({ mode }) => ({
  plugins: [exportedPage()],
  test: {
    include: ['test/faults/**/*.test.ts'],
    globalSetup: ['test/faults/workers.ts'],
    environment: 'node',
    env: { STEMMA_FAULTS: mode === 'short' ? 'short' : 'long' },
    testTimeout: 1_800_000,
    hookTimeout: 120_000,
    pool: 'forks',
    fileParallelism: false,
  },
}));
