import { test as base } from '@playwright/test';
import { type Machine, machine } from './machine.js';

/** Every end-to-end test has a machine of its own, gone when it ends. */
export const test = base.extend<{ machine: Machine }>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads from the pattern which fixtures are wanted.
  machine: async ({}, use) => {
    await using own = machine();
    await use(own);
  },
});
export { expect } from '@playwright/test';
