import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium as playwright } from '@playwright/test';

/** The headless shell first: it draws no window of its own, which takes half the time of a full browser. */
const commands = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

const installed = (): string | undefined =>
  commands.flatMap((command) => (process.env.PATH ?? '').split(delimiter).map((dir) => join(dir, command))).find((path) => existsSync(path));

const ofPlaywright = (): string | undefined => {
  const path = playwright.executablePath();
  return existsSync(path) ? path : undefined;
};

/**
 * The path of a real Chromium: the one that STEMMA_CHROMIUM names, else the installed one, else Playwright's. Undefined if this machine has none; the
 * tests of the window are then skipped. Nothing is installed: on Debian, `apt install chromium` does that.
 */
export const chromium = (): string | undefined => process.env.STEMMA_CHROMIUM ?? installed() ?? ofPlaywright();
