import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { exportedPage } from './page.config.ts';
import { longTests } from './test/support/long.ts';
import { filesWithoutPeers } from './test/support/peers.ts';
import { findPeers, keepCompiledCode, keepTemporaryFilesInMemory, separateFromPerson } from './test/support/surroundings.ts';

separateFromPerson();
keepTemporaryFilesInMemory();
keepCompiledCode();
findPeers();

/**
 * The seed of the property tests. `npm run test:random` (mode "random") draws a new one and prints it;
 * `STEMMA_PROPERTY_SEED=N npm test` repeats a run.
 */
function propertySeed(mode: string): string {
  const given = process.env.STEMMA_PROPERTY_SEED;
  if (given !== undefined) return given;
  if (mode !== 'random') return '20260101';
  const seed = String(Math.floor(Math.random() * 2 ** 31));
  console.log(`property tests: STEMMA_PROPERTY_SEED=${seed}`);
  return seed;
}

/** Unit and property tests. Playwright runs the end-to-end tests (test/e2e); `npm run bench` runs test/bench. */
export default defineConfig(({ mode }) => ({
  plugins: [exportedPage()],
  test: {
    include: ['test/**/*.test.{ts,tsx}'],
    exclude: ['test/peers/**', 'test/e2e/**', 'test/bench/**', 'test/faults/**', ...filesWithoutPeers()],
    environment: 'node',
    ...longTests,
    // Limits for tests that hang, wide enough for a small and busy machine. They measure nothing.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    // Threads of one process share native addons. Forks keep a crash in one file from ending the others.
    pool: 'forks',
    // The files of a worker share loaded modules: loading them anew for each file took a third of the time. So no test changes a module.
    isolate: false,
    // By default Vitest leaves one core idle, which is half of a small machine. There, a third worker fills the time in which a test waits.
    maxWorkers: Number(process.env.VITEST_MAX_WORKERS) || Math.max(3, availableParallelism() - 1),
    globalSetup: ['test/support/agent-runs.ts'],
    setupFiles: ['test/support/properties.ts'],
    env: { STEMMA_PROPERTY_SEED: propertySeed(mode), STEMMA_PROPERTY_RUNS: mode === 'random' ? 'all' : 'some' },
  },
}));
