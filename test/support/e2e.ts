import { test as base } from '@playwright/test';
import { type Machine, machine } from './machine.js';

/** Every end-to-end test has its own temporary machine. */
export const test = base.extend<{ machine: Machine }>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the fixtures from the pattern.
  machine: async ({}, use) => {
    await using own = machine();
    await use(own);
  },
});
export { expect } from '@playwright/test';
