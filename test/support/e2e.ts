import { test as base } from '@playwright/test';
import { type Machine, machine } from './machine.js';
import { type SharedHost, sharedHost } from './shared-host.js';

/**
 * Every end-to-end test has its own temporary machine, or the shared host with a copy of a prepared project: what a test needs, it names.
 */
export const test = base.extend<{ machine: Machine }, { shared: SharedHost }>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the fixtures from the pattern.
  machine: async ({}, use) => {
    await using own = machine();
    await use(own);
  },
  shared: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the fixtures from the pattern.
    async ({}, use) => {
      await using shared = await sharedHost();
      await use(shared);
    },
    { scope: 'worker' },
  ],
});
export { expect } from '@playwright/test';
