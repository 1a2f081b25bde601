import { defineConfig } from 'vitest/config';

/** Unit and property tests. End-to-end tests are Playwright's (test/e2e), benches run by themselves (test/bench). */
export default defineConfig({
  test: {
    include: ['test/**/*.test.{ts,tsx}'],
    exclude: ['test/e2e/**', 'test/bench/**', 'test/faults/**'],
    environment: 'node',
    // Styles are left empty in tests, but for the one that an exported page carries.
    css: { include: /export\/html\/viewer\.css/ },
    // Bounds for what hangs, wide enough for a small machine that is busy with other things; nothing is measured by them.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    // Native addons are shared by threads of one process; forks keep a crash in one file from taking the others along.
    pool: 'forks',
    globalSetup: ['test/support/agent-runs.ts'],
  },
});
