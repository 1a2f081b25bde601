import { defineConfig } from 'vitest/config';

/** Processes are killed, disks are filled, bytes are flipped. `--mode=short` runs a few of each. */
export default defineConfig(({ mode }) => ({
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
