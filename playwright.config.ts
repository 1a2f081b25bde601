import { defineConfig } from '@playwright/test';
import { chromium } from './test/support/chromium.js';
import { isShort } from './test/support/long.js';
import { filesWithoutPeers } from './test/support/peers.js';
import { findPeers, keepTemporaryFilesInMemory, separateFromPerson } from './test/support/surroundings.js';

separateFromPerson();
keepTemporaryFilesInMemory();
findPeers();

const executablePath = chromium();
/** Without a Chromium, no test of the window runs; `npm test` says so. */
const testsOf = (folder: string): string | string[] => (executablePath === undefined ? [] : `**/${folder}/*.e2e.ts`);

/** The window in a real Chromium. */
const browser = {
  viewport: { width: 1440, height: 900 },
  launchOptions: {
    ...(executablePath !== undefined && { executablePath }),
    args: ['--no-sandbox', '--disable-quic', '--disable-background-networking', '--disable-component-update', '--no-first-run'],
  },
  // A trace of every action takes a third of the time. `STEMMA_TRACE=1 npm run test:e2e -- -g NAME` writes one.
  trace: process.env.STEMMA_TRACE ? 'on' : 'off',
  screenshot: 'only-on-failure',
} as const;

/**
 * End-to-end tests. `doors` needs no browser (command line, web host), `browser` is the window in a real Chromium,
 * `electron` the real desktop app. `out/` must be built. A test that fails runs once more: on a small and busy machine one in a thousand
 * loses an input. `npm test` names each that needed it.
 */
export default defineConfig({
  testDir: 'test/e2e',
  globalSetup: './test/support/run-folder.config.ts',
  ...(isShort && { grepInvert: /@long/ }),
  testIgnore: filesWithoutPeers().map((path) => `**/${path}`),
  outputDir: 'test-results',
  // Limits for what hangs, wide enough for a small and busy machine. They measure nothing. An action has a limit of its own, so that a
  // test whose button never appears says which, and costs one minute instead of five.
  timeout: 300_000,
  expect: { timeout: 60_000 },
  use: { actionTimeout: 60_000, navigationTimeout: 60_000 },
  // A test waits for about half of its time: two or three of them leave two cores partly idle.
  workers: 4,
  retries: 1,
  fullyParallel: true,
  reporter: 'list',
  projects: [
    { name: 'doors', testMatch: '**/doors/*.e2e.ts' },
    { name: 'browser', testMatch: testsOf('browser'), use: browser },
    // `npm run docs:shots` and `npm run bench:window`.
    { name: 'pictures', testMatch: testsOf('pictures'), use: browser, retries: 0 },
    { name: 'speed', testMatch: testsOf('speed'), use: browser, retries: 0 },
    { name: 'electron', testMatch: '**/electron/*.e2e.ts' },
  ],
});
